<?php
// A whole calendar as one iCalendar file: /webcal/collection/USER/CALENDAR, by its owner or with ?ticket=.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

require __DIR__ . '/calendars.php';
require __DIR__ . '/icalendar.php';

/** @param string[] $parts */
function webcal(array $parts): void
{
    expect_method('GET', 'HEAD');
    if (count($parts) !== 4 || $parts[1] !== 'collection') {
        throw new Refusal(404, 'No such calendar', 'Its address is /webcal/collection/USER/CALENDAR.');
    }
    // Its tag before its objects: what is changed in between makes a newer answer under an older tag, which only costs
    // whoever has it one more download.
    $calendar = readable_calendar($parts[2], $parts[3]);
    if (is_known("ics-{$calendar['id']}-{$calendar['ctag']}")) {
        return;
    }
    $body = whole($calendar['displayname'] ?? $calendar['uri'], objects_of($calendar));
    header('Content-Disposition: inline; filename="calendar.ics"');
    send('text/calendar; charset=utf-8', $body);
}
