<?php
// When the events of an object take place, with rules of repetition worked out by sabre/vobject.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

use Sabre\VObject\Component\VEvent;
use Sabre\VObject\DateTimeParser;
use Sabre\VObject\Reader;
use Sabre\VObject\RecurrenceIterator;

/** Of one event, in one answer. */
const MAX_OCCURRENCES = 500;
const MAX_DAYS = 400;

/** A moment of a request: 2026-01-05T09:00:00Z, 20260105T090000Z, or 2026-01-05, its first second in UTC. */
function moment(mixed $given, string $what): DateTime
{
    $form = '/\A(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)Z)?\z/';
    $example = '2026-01-05T09:00:00Z, or a day such as 2026-01-05';
    $refusal = new Refusal(400, 'A time is not right', "`$what` needs a time such as $example.");
    if (!is_string($given) || !preg_match($form, $given, $part)) {
        throw $refusal;
    }
    [$year, $month, $day, $hour, $minute, $second] = array_map('intval', array_slice($part, 1) + [3 => 0, 0, 0]);
    if (!checkdate($month, $day, $year) || $hour > 23 || $minute > 59 || $second > 59) {
        throw $refusal;
    }
    return new DateTime('@' . gmmktime($hour, $minute, $second, $month, $day, $year));
}

/** @return array{DateTime, DateTime} */
function span(mixed $start, mixed $end): array
{
    $span = [moment($start, 'start'), moment($end, 'end')];
    $length_s = $span[1]->getTimestamp() - $span[0]->getTimestamp();
    if ($length_s <= 0 || $length_s > MAX_DAYS * 86400) {
        throw new Refusal(400, 'A time is not right', 'The end must come after the start, by ' . MAX_DAYS . ' days at most.');
    }
    return $span;
}

/** @return array[] The occurrences of an object's events between two times, each as `occurrence` tells it. */
function occurrences(string $data, DateTime $start, DateTime $end): array
{
    $found = [];
    $calendar = Reader::read($data);
    foreach ($calendar->getBaseComponents('VEVENT') as $event) {
        if (!isset($event->RRULE)) {
            if ($event->isInTimeRange($start, $end)) {
                $found[] = occurrence($event, false);
            }
            continue;
        }
        $iterator = new RecurrenceIterator($calendar, (string) $event->UID);
        $iterator->fastForward($start);
        for ($count = 0; $count < MAX_OCCURRENCES && $iterator->valid() && $iterator->getDtStart() < $end; $count++) {
            $found[] = occurrence($iterator->getEventObject(), true);
            $iterator->next();
        }
    }
    return $found;
}

/** @return array{uid: string, summary: string, start: string, end: string, allDay: bool, recurring: bool} */
function occurrence(VEvent $event, bool $recurring): array
{
    $has_time = $event->DTSTART->hasTime();
    $form = $has_time ? 'Y-m-d\TH:i:s\Z' : 'Y-m-d';
    $start = $event->DTSTART->getDateTime();
    return [
        'uid' => (string) $event->UID,
        'summary' => plain((string) $event->SUMMARY),
        'start' => gmdate($form, $start->getTimestamp()),
        'end' => gmdate($form, end_of($event, $start, $has_time)->getTimestamp()),
        'allDay' => !$has_time,
        'recurring' => $recurring,
    ];
}

function end_of(VEvent $event, DateTime $start, bool $has_time): DateTime
{
    if (isset($event->DTEND)) {
        return $event->DTEND->getDateTime();
    }
    $end = clone $start;
    if (isset($event->DURATION)) {
        return $end->add(DateTimeParser::parseDuration((string) $event->DURATION));
    }
    return $has_time ? $end : $end->modify('+1 day');
}
