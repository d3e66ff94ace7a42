<?php
// A file of the store. It never changes once it is there, so that browsers may keep it for a year.
declare(strict_types=1);

require __DIR__ . '/lib/config.php';
require __DIR__ . '/lib/html.php';
require __DIR__ . '/lib/problem.php';
require __DIR__ . '/lib/store.php';

const YEAR_S = 365 * 86400;

set_exception_handler(tell(...));
header('X-Content-Type-Options: nosniff');
$name = is_string($_GET['file'] ?? null) ? $_GET['file'] : '';
$file = place_of($name);
$facts = $file === null ? false : @stat($file);
if ($facts === false) {
    throw new Refusal(404, 'No such file', 'There is no picture or leaflet of this name.');
}
$tag = sprintf('"%x-%x"', $facts['mtime'], $facts['size']);
header("ETag: $tag");
header('Last-Modified: ' . gmdate('D, d M Y H:i:s', $facts['mtime']) . ' GMT');
header('Expires: ' . gmdate('D, d M Y H:i:s', time() + YEAR_S) . ' GMT');
header('Cache-Control: public, max-age=' . YEAR_S . ', immutable');
if (is_known($tag, $facts['mtime'])) {
    http_response_code(304);
    exit;
}
header('Content-Type: ' . (str_ends_with($name, '.pdf') ? 'application/pdf' : 'image/jpeg'));
header("Content-Disposition: inline; filename=\"$name\"");
header("Content-Length: {$facts['size']}");
if (($_SERVER['REQUEST_METHOD'] ?? 'GET') !== 'HEAD') {
    readfile($file);
}

/** Whether the browser has it already. A tag counts more than a time. */
function is_known(string $tag, int $changed): bool
{
    if (isset($_SERVER['HTTP_IF_NONE_MATCH'])) {
        return in_array($tag, array_map('trim', explode(',', $_SERVER['HTTP_IF_NONE_MATCH'])), true) || $_SERVER['HTTP_IF_NONE_MATCH'] === '*';
    }
    $since = strtotime($_SERVER['HTTP_IF_MODIFIED_SINCE'] ?? '');
    return $since !== false && $changed <= $since;
}
