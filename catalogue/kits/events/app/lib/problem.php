<?php
// What can go wrong, and the page that says so. Pages are written when they are complete: never half a page.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

/** Something that the visitor is told, with a status of its own. */
class Refusal extends RuntimeException
{
    public function __construct(public readonly int $status, public readonly string $title, string $message)
    {
        parent::__construct($message);
    }
}

/** A server or the disk let us down; the visitor is told that much, the log the reason. */
class Trouble extends Refusal
{
    public function __construct(int $status, string $title, string $message, public readonly string $reason)
    {
        parent::__construct($status, $title, $message);
    }
}

function tell(Throwable $error): void
{
    if (!$error instanceof Refusal) {
        $lost = 'The calendar could not do that. Nothing was changed; please try again.';
        $error = new Trouble(500, 'Something went wrong', $lost, (string) $error);
    }
    if ($error instanceof Trouble) {
        error_log("events: {$error->title}: {$error->reason}");
    }
    header_remove('Location');
    header('Cache-Control: no-store');
    http_response_code($error->status);
    echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Events: ', text($error->title), '</title>',
        '<link rel="stylesheet" href="/css/frame.css"><link rel="stylesheet" href="/css/site.css"></head><body>',
        '<div class="page"><div class="main"><h2>', text($error->title), '</h2><p class="message error">',
        text($error->getMessage()), '</p><p><a href="/index.php">To the calendar</a></p></div></div></body></html>', "\n";
}
