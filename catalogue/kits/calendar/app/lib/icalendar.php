<?php
// iCalendar as text (RFC 5545): lines, their folding, and objects put together of others.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const PRODUCT = '-//Plimsoll//Calendar kit//EN';

/**
 * One calendar of many objects, with each time zone once. Their components are taken as they were put: sabre/dav has
 * checked them then, and sabre/vobject 2.1 would double the backslashes of commas when it writes what it has read.
 */
function whole(string $name, array $objects): string
{
    $zones = [];
    $components = '';
    foreach ($objects as $object) {
        $data = with_crlf((string) $object['calendardata']);
        $found = all_of('/^BEGIN:(VTIMEZONE|VEVENT|VTODO|VJOURNAL)\r\n.*?^END:\1\r\n/ims', $data, PREG_SET_ORDER);
        foreach ($found as [$text, $kind]) {
            if (strtoupper($kind) !== 'VTIMEZONE') {
                $components .= $text;
            } elseif (preg_match('/^TZID[^:\r]*:(.*?)\r\n/im', $text, $zone)) {
                $zones[$zone[1]] ??= $text;
            }
        }
    }
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" . folded('PRODID:' . PRODUCT) . "CALSCALE:GREGORIAN\r\n"
        . folded('X-WR-CALNAME:' . escaped($name)) . implode('', $zones) . $components . "END:VCALENDAR\r\n";
}

/** A new object of one event with these lines. */
function new_event(string $uid, array $lines): string
{
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" . folded('PRODID:' . PRODUCT) . "BEGIN:VEVENT\r\nUID:$uid\r\nSEQUENCE:0\r\n"
        . implode('', array_map(folded(...), $lines)) . "END:VEVENT\r\nEND:VCALENDAR\r\n";
}

/**
 * An object whose event has these lines instead of its own of the same names. All else stays as it is: alarms, rules,
 * single occurrences that differ, and what other programs wrote.
 */
function changed_event(string $data, array $lines): string
{
    $data = with_crlf($data);
    $events = all_of('/^BEGIN:VEVENT\r\n(.*?)^END:VEVENT\r\n/ims', $data, PREG_SET_ORDER | PREG_OFFSET_CAPTURE);
    foreach ($events as [, [$inner, $at]]) {
        if (!preg_match('/^RECURRENCE-ID[;:]/im', $inner)) {
            return substr_replace($data, changed_lines($inner, $lines), $at, strlen($inner));
        }
    }
    throw new Refusal(409, 'No such event', 'This object has no event of its own that could be changed.');
}

function changed_lines(string $inner, array $lines): string
{
    $sequence = preg_match('/^SEQUENCE:(\d{1,9})\r\n/im', $inner, $found) ? (int) $found[1] + 1 : 1;
    $lines[] = "SEQUENCE:$sequence";
    $names = array_map(name_of(...), $lines);
    // An event has an end or a duration, never both.
    $names[] = 'DURATION';
    $kept = '';
    $depth = 0;
    foreach (explode("\r\n", rtrim(preg_replace('/\r\n[ \t]/', '', $inner), "\r\n")) as $line) {
        $name = name_of($line);
        $depth += $name === 'BEGIN' ? 1 : 0;
        if ($depth > 0 || !in_array($name, $names, true)) {
            $kept .= folded($line);
        }
        $depth -= $name === 'END' ? 1 : 0;
    }
    return implode('', array_map(folded(...), $lines)) . $kept;
}

/** What a pattern finds: nothing found is an answer, a search that was given up is not. */
function all_of(string $pattern, string $data, int $how): array
{
    preg_match_all($pattern, $data, $found, $how) !== false || throw new RuntimeException(preg_last_error_msg());
    return $found;
}

/** DTSTART of `DTSTART;VALUE=DATE:20260105`. */
function name_of(string $line): string
{
    return strtoupper(substr($line, 0, strcspn($line, ';:')));
}

function with_crlf(string $data): string
{
    return preg_replace('/\r\n|\r|\n/', "\r\n", $data);
}

/** A text value: RFC 5545, 3.3.11. */
function escaped(string $text): string
{
    return strtr($text, ['\\' => '\\\\', ',' => '\\,', ';' => '\\;', "\r\n" => '\\n', "\n" => '\\n', "\r" => '\\n']);
}

/** The text of a value that sabre/vobject 2.1 has read: it undoes the escaping of line ends and backslashes only. */
function plain(string $value): string
{
    return strtr($value, ['\\,' => ',', '\\;' => ';']);
}

/** A line of at most 75 bytes, continued as often as it needs (3.1), never within a character. */
function folded(string $line): string
{
    $text = '';
    while (strlen($line) > 75) {
        $piece = mb_strcut($line, 0, 75, 'UTF-8');
        $text .= "$piece\r\n";
        $line = ' ' . substr($line, strlen($piece));
    }
    return "$text$line\r\n";
}
