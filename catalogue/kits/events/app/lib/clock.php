<?php
// The calendar's own time. It begins at midnight of day zero when the servers start (this application's configuration is
// written then) and runs as fast as everybody's: a data set that was made long ago has as many future events as ever.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

// calendar.lua has the same.
const DAY_ZERO = '2008-09-01';

/** Seconds since 1970, in the calendar's time. */
function now(): int
{
    static $now = null;
    return $now ??= strtotime(DAY_ZERO . ' UTC') + max(0, time() - filemtime(__DIR__ . '/config.php'));
}

/** As the database has times: 2008-09-01 00:00:00. */
function timestamp(): string
{
    return gmdate('Y-m-d H:i:s', now());
}

function today(): string
{
    return gmdate('Y-m-d', now());
}
