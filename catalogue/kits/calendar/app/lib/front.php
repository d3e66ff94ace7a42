<?php
// The page at the root: what is served here, once the database answers.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

function front(): void
{
    expect_method('GET', 'HEAD');
    row('SELECT 1');
    $list = '';
    foreach (
        [
            '/dav/' => 'CalDAV, for calendar programs',
            '/webcal/collection/USER/CALENDAR' => 'a whole calendar as iCalendar',
            '/atom/collection/USER/CALENDAR/full' => 'a calendar, or its events from start to end, as an Atom feed',
            '/json-rpc' => 'calendars and events for the web client',
        ] as $address => $what
    ) {
        $list .= '<li><code>' . text($address) . '</code>: ' . text($what) . '</li>';
    }
    send_page('Calendars', "<ul>$list</ul>");
}
