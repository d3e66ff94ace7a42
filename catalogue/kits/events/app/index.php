<?php
// The home page: the ten nearest events and the cloud of tags.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';
require __DIR__ . '/lib/home.php';

begin();
$page = page_number();
$page === 1 ? show_home() : show("Coming events, page $page", home_content($page));
