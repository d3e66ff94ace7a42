<?php
// Who asks: a name and a password with every request (HTTP Basic), as calendar programs send them.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const REALM = 'Calendar';

/** The name of whoever asks; who does not say it, or wrongly, is asked to. */
function user(): string
{
    $name = $_SERVER['PHP_AUTH_USER'] ?? '';
    if ($name !== '' && password_is_right($name, $_SERVER['PHP_AUTH_PW'] ?? '')) {
        return $name;
    }
    $ask = 'WWW-Authenticate: Basic realm="' . REALM . '", charset="UTF-8"';
    throw new Refusal(401, 'Log in first', 'The calendar needs a name and its password.', [$ask]);
}

function password_is_right(string $name, #[SensitiveParameter] string $password): bool
{
    // bcrypt takes none of these, and nobody's password has one.
    if (str_contains($password, "\0")) {
        return false;
    }
    $kept = row('SELECT password FROM users WHERE username = ?', [$name])['password'] ?? null;
    if ($kept === null) {
        // Somebody unknown takes as long as somebody known: the time does not tell who has an account.
        PASSWORD_COST > 0 && slow_hash($password);
        return false;
    }
    return str_starts_with($kept, 'sha256$') ? quick_hash_fits($name, $password, $kept) : slow_hash_fits($password, $kept);
}

/** sha256$SALT$HEX, which the data set's accounts begin with. Where passwords are to have a slow hash, it is made now. */
function quick_hash_fits(string $name, #[SensitiveParameter] string $password, string $kept): bool
{
    [, $salt, $hash] = explode('$', $kept) + ['', '', ''];
    $fits = hash_equals($hash, hash('sha256', $salt . $password));
    if (PASSWORD_COST > 0) {
        // Of a wrong password too: the time does not tell who has never logged in.
        $slow = slow_hash($password);
        $fits && run('UPDATE users SET password = ? WHERE username = ? AND password = ?', [$slow, $name, $kept]);
    }
    return $fits;
}

/** A password that fitted is remembered in PHP's shared memory, by what is kept: once that changes, it counts no more. */
function slow_hash_fits(#[SensitiveParameter] string $password, string $kept): bool
{
    $cached = LOGIN_CACHE_S > 0 && function_exists('apcu_fetch');
    $key = 'login:' . hash_hmac('sha256', $password, $kept);
    if ($cached && apcu_fetch($key) === true) {
        return true;
    }
    $fits = password_verify($password, $kept);
    if ($fits && $cached) {
        apcu_store($key, true, LOGIN_CACHE_S);
    }
    return $fits;
}

function slow_hash(#[SensitiveParameter] string $password): string
{
    // bcrypt knows no lower cost than 4.
    return password_hash($password, PASSWORD_BCRYPT, ['cost' => max(4, PASSWORD_COST)]);
}
