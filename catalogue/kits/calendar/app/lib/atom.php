<?php
// A calendar as an Atom feed (RFC 4287): /atom/collection/USER/CALENDAR/full, by its owner or with ?ticket=; with ?start=
// and ?end= only the events between them.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

require __DIR__ . '/calendars.php';
require __DIR__ . '/icalendar.php';
require __DIR__ . '/occurrences.php';

use Sabre\VObject\Reader;

/** @param string[] $parts */
function atom(array $parts): void
{
    expect_method('GET', 'HEAD');
    if (count($parts) !== 5 || $parts[1] !== 'collection' || $parts[4] !== 'full') {
        throw new Refusal(404, 'No such feed', 'Its address is /atom/collection/USER/CALENDAR/full.');
    }
    $span = isset($_GET['start']) || isset($_GET['end']) ? span($_GET['start'] ?? null, $_GET['end'] ?? null) : null;
    // Its tag before its objects, as in webcal.php.
    $calendar = readable_calendar($parts[2], $parts[3]);
    $when = $span === null ? 'all' : "{$span[0]->getTimestamp()}-{$span[1]->getTimestamp()}";
    if (is_known("atom-{$calendar['id']}-{$calendar['ctag']}-$when")) {
        return;
    }
    load_sabre();
    $objects = $span === null ? objects_of($calendar) : objects_between($calendar, ...$span);
    $place = root() . '/dav/calendars/' . rawurlencode($parts[2]) . '/' . rawurlencode($parts[3]) . '/';
    $entries = '';
    foreach ($objects as $object) {
        $entries .= $span === null ? entry_of($object, $place) : entry_within($object, $place, $span);
    }
    send('application/atom+xml; charset=utf-8', feed($calendar, $parts[2], $objects, $entries));
}

/** @param array<string, ?string>[] $objects */
function feed(array $calendar, string $user, array $objects, string $entries): string
{
    $self = xml(root() . ($_SERVER['REQUEST_URI'] ?? ''));
    $id = xml(root() . '/atom/collection/' . rawurlencode($user) . '/' . rawurlencode($calendar['uri']) . '/full');
    $changed = max([0, ...array_map(fn (array $object): int => (int) $object['lastmodified'], $objects)]);
    $title = xml($calendar['displayname'] ?? $calendar['uri']);
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">"
        . "<id>$id</id><title>$title</title><updated>" . timestamp($changed) . '</updated><author><name>' . xml($user)
        . "</name></author><link rel=\"self\" href=\"$self\"/>\n$entries</feed>\n";
}

/** Any object: what it is called and when it begins, or is due. */
function entry_of(array $object, string $place): string
{
    $calendar = Reader::read($object['calendardata']);
    $component = $calendar->getBaseComponents()[0] ?? $calendar->getComponents()[0];
    $begin = $component->DTSTART ?? $component->DUE;
    return entry($object, $place, plain((string) $component->SUMMARY), (string) $begin);
}

/** An object with an event in a span of time, told by the first occurrence in it; nothing of one without. */
function entry_within(array $object, string $place, array $span): string
{
    $first = occurrences($object['calendardata'], ...$span)[0] ?? null;
    return $first === null ? '' : entry($object, $place, $first['summary'], "{$first['start']} to {$first['end']}");
}

function entry(array $object, string $place, string $title, string $when): string
{
    $address = xml($place . rawurlencode($object['uri']));
    return "<entry><id>$address</id><title>" . xml($title) . '</title><updated>' . timestamp((int) $object['lastmodified'])
        . "</updated><link rel=\"alternate\" type=\"text/calendar\" href=\"$address\"/><summary>" . xml($when)
        . '</summary><content type="text/calendar">' . xml($object['calendardata']) . "</content></entry>\n";
}

function timestamp(int $time_s): string
{
    return gmdate('Y-m-d\TH:i:s\Z', $time_s);
}
