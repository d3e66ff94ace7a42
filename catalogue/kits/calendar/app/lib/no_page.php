<?php
// The files of this folder are parts of the front. Nothing has included the one that a visitor asks for by its own
// address, which is how each of them knows, whatever the web server: the answer is that there is no such page.
declare(strict_types=1);

http_response_code(404);
header('Content-Type: text/plain; charset=utf-8');
exit("No such page.\n");
