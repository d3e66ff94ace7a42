<?php
// What every page begins with: its helpers, what happens to errors, and the checks that each request must pass.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

foreach (
    ['config', 'clock', 'problem', 'database', 'cache', 'session', 'html', 'frame', 'field', 'people', 'tags', 'events',
        'comments', 'store', 'upload', 'geocoder'] as $part
) {
    require __DIR__ . "/$part.php";
}

header('X-Content-Type-Options: nosniff');
header('Referrer-Policy: same-origin');
header('X-Frame-Options: SAMEORIGIN');
header("Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'self'");

set_exception_handler(tell(...));

/** A page for somebody: the session is read, and a POST must bring the token that a form of this session was given. */
function begin(): void
{
    open_session();
    if (($_SERVER['REQUEST_METHOD'] ?? 'GET') !== 'POST') {
        return;
    }
    // PHP drops all fields of a body that is larger than it takes.
    if ((int) ($_SERVER['CONTENT_LENGTH'] ?? 0) > ini_parse_quantity((string) ini_get('post_max_size'))) {
        throw new Refusal(413, 'That was too large', 'All files of a form together may have ' . ini_get('post_max_size') . '.');
    }
    if (!token_is_right($_POST['csrf_token'] ?? null)) {
        throw new Refusal(403, 'This form has expired', 'Go back, load the page again and send the form once more.');
    }
}

function expect_post(): void
{
    if (($_SERVER['REQUEST_METHOD'] ?? 'GET') !== 'POST') {
        header('Allow: POST');
        throw new Refusal(405, 'A form is needed', 'This address only takes what its form sends.');
    }
}

/** Sends the visitor on. */
function go(string $where): never
{
    header("Location: $where", true, 302);
    exit;
}
