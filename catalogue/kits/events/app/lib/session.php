<?php
// Who the visitor is, and the token that proves that a form came from a page of ours.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

/** Reads the session, or begins one. It is closed again at once, so that a visitor's requests need not queue. */
function open_session(): void
{
    session_name('events');
    session_set_cookie_params(['path' => '/', 'httponly' => true, 'samesite' => 'Lax', 'secure' => !empty($_SERVER['HTTPS'])]);
    ini_set('session.use_strict_mode', '1');
    ini_set('session.use_only_cookies', '1');
    session_cache_limiter('nocache');
    session_start();
    $_SESSION['token'] ??= bin2hex(random_bytes(16));
    session_write_close();
}

/** Changes what the session holds. */
function change_session(callable $change): void
{
    session_start();
    $change();
    session_write_close();
}

function token(): string
{
    return $_SESSION['token'];
}

function token_is_right(mixed $given): bool
{
    return is_string($given) && hash_equals(token(), $given);
}

/** The visitor's name, or null. */
function visitor(): ?string
{
    return $_SESSION['user'] ?? null;
}

function visitor_or_refuse(): string
{
    return visitor() ?? throw new Refusal(403, 'Log in first', 'Only somebody who is logged in may do that.');
}

/** From now on the session is this person's. Number and token change, so that nobody who knew the old ones shares it. */
function log_in(string $name): void
{
    $requests = pending_requests($name);
    change_session(function () use ($name, $requests): void {
        session_regenerate_id(true);
        $_SESSION = ['token' => bin2hex(random_bytes(16)), 'user' => $name, 'requests' => $requests];
    });
}

function log_out(): void
{
    change_session(function (): void {
        $_SESSION = ['token' => bin2hex(random_bytes(16))];
        session_regenerate_id(true);
    });
}

/** How many people asked to be the visitor's friends, counted at the login and with each answer. */
function requests_known(): int
{
    return $_SESSION['requests'] ?? 0;
}
