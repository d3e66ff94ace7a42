<?php
// Calls of the web client: a POST of {"id", "method", "params"}, answered with {"id", "result", "error"}.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

require __DIR__ . '/calendars.php';
require __DIR__ . '/icalendar.php';
require __DIR__ . '/occurrences.php';
require __DIR__ . '/one_writer.php';

const MAX_BYTES = 1 << 20;

function rpc(): void
{
    expect_method('POST');
    // A form of somebody else's page can't send this type.
    if (!preg_match('#\Aapplication/json\s*(;|\z)#i', $_SERVER['CONTENT_TYPE'] ?? '')) {
        throw new Refusal(415, 'JSON is needed', 'A call is JSON, and its Content-Type says so.');
    }
    [$id, $method, $params] = asked((string) file_get_contents('php://input', length: MAX_BYTES + 1));
    call_id($id);
    $user = user();
    $result = match ($method) {
        'getCalendars' => array_map(told_calendar(...), calendars_of($user)),
        'getTicket' => ['ticket' => ticket_of(asked_calendar($user, $params))],
        'getEvents' => get_events(asked_calendar($user, $params), $params),
        'saveEvent' => save_event($user, asked_calendar($user, $params), $params),
        default => throw new Refusal(400, 'No such method', 'There are getCalendars, getTicket, getEvents and saveEvent.'),
    };
    header('Cache-Control: no-store');
    send('application/json', json(['id' => $id, 'result' => $result, 'error' => null]) . "\n");
}

/** @return array{int|string|null, string, array} */
function asked(string $body): array
{
    if (strlen($body) > MAX_BYTES) {
        throw new Refusal(413, 'That was too large', 'A call has at most ' . MAX_BYTES . ' bytes.');
    }
    $call = json_decode($body, true, 16);
    $id = is_array($call) ? ($call['id'] ?? null) : null;
    $params = is_array($call) ? ($call['params'] ?? []) : null;
    if (!is_array($params) || !is_string($call['method'] ?? null) || !(is_int($id) || is_string($id) || $id === null)) {
        throw new Refusal(400, 'That is no call', 'A call is {"id": 1, "method": "getEvents", "params": {}}.');
    }
    return [$id, $call['method'], $params];
}

function asked_calendar(string $user, array $params): array
{
    return calendar_of($user, given_text($params, 'calendar', 200));
}

/** A text with at most so many bytes; nothing but a line end and a tab may be a control character. */
function given_text(array $from, string $name, int $most_bytes): string
{
    $text = $from[$name] ?? null;
    $is_text = is_string($text) && preg_match('//u', $text) && !preg_match('/[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]/', $text);
    if (!$is_text || strlen($text) > $most_bytes) {
        throw new Refusal(400, 'A value is not right', "`$name` needs a text of at most $most_bytes bytes.");
    }
    return $text;
}

/** @return array<string, mixed> */
function told_calendar(array $calendar): array
{
    return [
        'calendar' => $calendar['uri'],
        'name' => $calendar['displayname'] ?? $calendar['uri'],
        'description' => $calendar['description'],
        'color' => $calendar['calendarcolor'],
        'ctag' => $calendar['ctag'],
    ];
}

/** @return array[] Occurrences between `start` and `end`, each with the `uri` and `etag` of its object. */
function get_events(array $calendar, array $params): array
{
    $span = span($params['start'] ?? null, $params['end'] ?? null);
    load_sabre();
    $events = [];
    foreach (objects_between($calendar, ...$span) as $object) {
        foreach (occurrences($object['calendardata'], ...$span) as $occurrence) {
            $events[] = ['uri' => $object['uri'], 'etag' => "\"{$object['etag']}\"", ...$occurrence];
        }
    }
    return $events;
}

/** Saves `event`: with a `uri` the one that is there, as long as it still has the `etag`, without a new one. */
function save_event(string $user, array $calendar, array $params): array
{
    $event = $params['event'] ?? null;
    if (!is_array($event)) {
        throw new Refusal(400, 'A value is not right', '`event` needs an event.');
    }
    $lines = event_lines($event);
    if (!in_array('VEVENT', explode(',', (string) $calendar['components']), true)) {
        throw new Refusal(403, 'No events here', 'This calendar takes no events.');
    }
    load_sabre();
    // By sabre's own hand, so that columns, ETag and the calendar's tag are as CalDAV makes them.
    $calendars = new Sabre\CalDAV\Backend\PDO(database());
    return transaction(function () use ($calendars, $user, $calendar, $event, $lines): array {
        keep_calendar($user, $calendar['uri']) === $calendar['id']
            || throw new Refusal(404, 'No such calendar', 'It was deleted meanwhile.');
        return isset($event['uri'])
            ? change_event($calendars, $calendar, $event, $lines)
            : add_event($calendars, $calendar, $lines);
    });
}

/** @return array{uri: string, etag: string} */
function add_event(Sabre\CalDAV\Backend\PDO $calendars, array $calendar, array $lines): array
{
    $uid = bin2hex(random_bytes(16));
    $etag = $calendars->createCalendarObject($calendar['id'], "$uid.ics", new_event($uid, $lines));
    return ['uri' => "$uid.ics", 'etag' => $etag];
}

/** @return array{uri: string, etag: string} */
function change_event(Sabre\CalDAV\Backend\PDO $calendars, array $calendar, array $event, array $lines): array
{
    $uri = given_text($event, 'uri', 200);
    $old = row(
        'SELECT etag, calendardata FROM calendarobjects WHERE calendarid = ? AND uri = ?',
        [$calendar['id'], $uri],
    ) ?? throw new Refusal(404, 'No such event', 'There is no event of this name in the calendar.');
    if (isset($event['etag']) && $event['etag'] !== "\"{$old['etag']}\"") {
        throw new Refusal(412, 'Somebody was faster', 'The event was changed meanwhile: ask for it again.');
    }
    $data = changed_event($old['calendardata'], $lines);
    return ['uri' => $uri, 'etag' => $calendars->updateCalendarObject($calendar['id'], $uri, $data)];
}

/** @return string[] What an event of a call says, as lines of iCalendar. */
function event_lines(array $event): array
{
    $all_day = ($event['allDay'] ?? false) === true;
    [$start, $end] = span($event['start'] ?? null, $event['end'] ?? null);
    if ($all_day && $start->format('Ymd') === $end->format('Ymd')) {
        throw new Refusal(400, 'A time is not right', 'Whole days end with the day after the last of them.');
    }
    $form = $all_day ? ';\V\A\L\U\E=\D\A\T\E:Ymd' : ':Ymd\THis\Z';
    $lines = [
        'DTSTAMP:' . gmdate('Ymd\THis\Z'),
        'DTSTART' . $start->format($form),
        'DTEND' . $end->format($form),
        'SUMMARY:' . escaped(given_text($event, 'summary', 1000)),
    ];
    if (isset($event['description'])) {
        $lines[] = 'DESCRIPTION:' . escaped(given_text($event, 'description', 20_000));
    }
    return $lines;
}
