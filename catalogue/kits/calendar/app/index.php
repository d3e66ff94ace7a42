<?php
// The front: every request whose path is no file comes here.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

// By the first part of the path; each is a function in a file of its name.
const ROUTES = [
    '' => 'front', 'index.php' => 'front', 'dav' => 'dav', '.well-known' => 'well_known', 'webcal' => 'webcal',
    'atom' => 'atom', 'json-rpc' => 'rpc',
];

$path = rawurldecode(explode('?', $_SERVER['REQUEST_URI'] ?? '/', 2)[0]);
$parts = explode('/', substr($path, 1));
$route = ROUTES[$parts[0]] ?? throw new Refusal(404, 'No such page', 'There is nothing at this address.');
require __DIR__ . "/lib/$route.php";
$route($parts);
