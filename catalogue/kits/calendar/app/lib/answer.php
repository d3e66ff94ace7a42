<?php
// Pieces of answers. Everything that came from people or the database goes through `text` (HTML), `xml` or `json`.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

function text(string|int|null $value): string
{
    return htmlspecialchars((string) $value, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
}

/** XML takes no control characters, not even escaped. */
function xml(string $value): string
{
    $clean = (string) preg_replace('/[\x00-\x08\x0B\x0C\x0E-\x1F]/', '', $value);
    return htmlspecialchars($clean, ENT_QUOTES | ENT_SUBSTITUTE | ENT_XML1, 'UTF-8');
}

function json(mixed $value): string
{
    $how = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR;
    return json_encode($value, $how);
}

/** A page for people; `$body` is HTML already. */
function send_page(string $title, string $body): void
{
    header("Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'");
    send('text/html; charset=utf-8', '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Calendar: '
        . text($title) . '</title></head><body><h1>' . text($title) . "</h1>$body</body></html>\n");
}

/** The address that this server was asked by, without a path. */
function root(): string
{
    $host = $_SERVER['HTTP_HOST'] ?? '';
    $host = preg_match('/\A[A-Za-z0-9.:\[\]-]{1,255}\z/', $host) ? $host : 'localhost';
    return (empty($_SERVER['HTTPS']) ? 'http' : 'https') . "://$host";
}

/** Names an answer and says whether whoever asks has it already; then nothing more is to be sent. */
function is_known(string $tag): bool
{
    header("ETag: \"$tag\"");
    // May be kept by the user's own program, which asks each time whether it has changed.
    header('Cache-Control: private, no-cache');
    $known = array_map('trim', explode(',', $_SERVER['HTTP_IF_NONE_MATCH'] ?? ''));
    $is_known = in_array("\"$tag\"", $known, true) || in_array("W/\"$tag\"", $known, true) || $known === ['*'];
    if ($is_known) {
        http_response_code(304);
    }
    return $is_known;
}

/** The whole answer at once, so that a server that fails can't leave half of it. */
function send(string $type, string $body): void
{
    header("Content-Type: $type");
    header('Content-Length: ' . strlen($body));
    if (($_SERVER['REQUEST_METHOD'] ?? 'GET') !== 'HEAD') {
        echo $body;
    }
}
