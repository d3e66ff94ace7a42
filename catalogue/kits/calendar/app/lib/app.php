<?php
// What every request begins with: its helpers, what happens to errors, and a header that all answers have.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

foreach (['config', 'problem', 'database', 'login', 'answer'] as $part) {
    require __DIR__ . "/$part.php";
}

header('X-Content-Type-Options: nosniff');

set_exception_handler(tell(...));

/** Refuses whatever is none of these methods. */
function expect_method(string ...$methods): void
{
    if (!in_array($_SERVER['REQUEST_METHOD'] ?? 'GET', $methods, true)) {
        $allowed = implode(', ', $methods);
        throw new Refusal(405, 'Another method is needed', "This address takes $allowed.", ["Allow: $allowed"]);
    }
}

/** From here on classes of sabre/dav and sabre/vobject are found where Debian has them: its own loader finds neither. */
function load_sabre(): void
{
    // What the library, which is older than PHP 7, does without harm: nobody here could change it.
    error_reporting(error_reporting() & ~E_DEPRECATED & ~E_NOTICE);
    spl_autoload_register(function (string $class): void {
        $file = '/usr/share/php/' . str_replace('\\', '/', $class) . '.php';
        if (str_starts_with($class, 'Sabre\\') && is_file($file)) {
            require $file;
        }
    });
}
