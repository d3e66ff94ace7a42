<?php
// Calendars and their objects as the other doors than CalDAV read them: each by one statement.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

require __DIR__ . '/tickets.php';

const CALENDAR = 'SELECT c.id, c.uri, c.displayname, c.description, c.calendarcolor, c.ctag, c.components FROM calendars c';

/** @return array<string, ?string>[] */
function calendars_of(string $user): array
{
    return rows(CALENDAR . ' WHERE c.principaluri = ? ORDER BY c.calendarorder, c.id', ["principals/$user"]);
}

/** A calendar of somebody, or a refusal. */
function calendar_of(string $user, string $uri): array
{
    return row(CALENDAR . ' WHERE c.principaluri = ? AND c.uri = ?', ["principals/$user", $uri])
        ?? throw new Refusal(404, 'No such calendar', 'There is no calendar of this name.');
}

/** The calendar that a request may read: by the ticket in its address, or as its owner. */
function readable_calendar(string $user, string $uri): array
{
    if (isset($_GET['ticket'])) {
        return calendar_by_ticket(is_string($_GET['ticket']) ? $_GET['ticket'] : '', $user, $uri);
    }
    if (user() !== $user) {
        throw new Refusal(403, 'Not your calendar', 'Its owner, or a ticket of its owner, can read this calendar.');
    }
    return calendar_of($user, $uri);
}

/** @return array<string, ?string>[] All objects of a calendar. */
function objects_of(array $calendar): array
{
    return rows('SELECT uri, etag, lastmodified, calendardata FROM calendarobjects WHERE calendarid = ?', [$calendar['id']]);
}

/** @return array<string, ?string>[] Those that may have an event between two times; rules of repetition are not looked at. */
function objects_between(array $calendar, DateTime $start, DateTime $end): array
{
    return rows(
        'SELECT uri, etag, lastmodified, calendardata FROM calendarobjects
         WHERE calendarid = ? AND componenttype = \'VEVENT\' AND lastoccurence > ? AND firstoccurence < ?',
        [$calendar['id'], $start->getTimestamp(), $end->getTimestamp()],
    );
}
