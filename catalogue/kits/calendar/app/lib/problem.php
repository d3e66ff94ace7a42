<?php
// What can go wrong, and the answer that says so. Answers are written when they are complete: never half of one.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

/** Something that whoever asks is told, with a status of its own. */
class Refusal extends RuntimeException
{
    /** @param string[] $headers */
    public function __construct(
        public readonly int $status,
        public readonly string $title,
        string $message,
        public readonly array $headers = [],
    ) {
        parent::__construct($message);
    }
}

/** A server let us down; whoever asks is told that much, the log the reason. */
class Trouble extends Refusal
{
    public function __construct(
        int $status,
        string $title,
        string $message,
        public readonly string $reason,
        array $headers = [],
    ) {
        parent::__construct($status, $title, $message, $headers);
    }
}

function tell(Throwable $error): void
{
    $error = told($error);
    if ($error instanceof Trouble) {
        error_log("calendar: {$error->title}: {$error->reason}");
    }
    if (headers_sent()) {
        return;
    }
    while (ob_get_level() > 0) {
        ob_end_clean();
    }
    foreach (['Location', 'ETag', 'Content-Length', 'Content-Disposition'] as $header) {
        header_remove($header);
    }
    http_response_code($error->status);
    header('Cache-Control: no-store');
    array_map(header(...), $error->headers);
    if (str_starts_with($_SERVER['REQUEST_URI'] ?? '', '/json-rpc')) {
        $what = ['code' => $error->status, 'message' => $error->getMessage()];
        send('application/json', json(['id' => call_id(), 'result' => null, 'error' => $what]) . "\n");
        return;
    }
    send_page($error->title, '<p>' . text($error->getMessage()) . '</p>');
}

function told(Throwable $error): Refusal
{
    if ($error instanceof Refusal) {
        return $error;
    }
    if (is_lost($error)) {
        $what = 'The calendar does not reach its database at the moment. What was confirmed is kept; please try again.';
        return new Trouble(503, 'The calendar is not available', $what, $error->getMessage(), ['Retry-After: 1']);
    }
    if (is_busy($error)) {
        $what = 'Others are changing this calendar. Nothing was changed for you; please try again.';
        return new Trouble(503, 'The calendar is busy', $what, $error->getMessage(), ['Retry-After: 1']);
    }
    $what = 'The calendar could not do that. What was not confirmed may have to be done again.';
    return new Trouble(500, 'Something went wrong', $what, (string) $error);
}

/** The number that a call of the web client has, for its answer; null while it is not known. */
function call_id(int|string|null $new = null): int|string|null
{
    static $id = null;
    return $id = $new ?? $id;
}
