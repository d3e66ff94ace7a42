<?php
// Tickets: 128 random bits as 32 hexadecimal digits, each good for reading one calendar.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

function calendar_by_ticket(string $ticket, string $user, string $uri): array
{
    $found = row(
        CALENDAR . ' JOIN tickets t ON t.calendarid = c.id
         WHERE t.ticket = ? AND c.principaluri = ? AND c.uri = ? AND (t.expires IS NULL OR t.expires > ?)',
        [$ticket, "principals/$user", $uri, time()],
    );
    // The same answer whether the calendar, the ticket or their being of one another is what is wrong.
    return $found ?? throw new Refusal(403, 'This ticket does not fit', 'It is not one for this calendar, or no longer.');
}

/** The ticket of a calendar; its first one is made here. */
function ticket_of(array $calendar): string
{
    $known = row(
        'SELECT ticket FROM tickets WHERE calendarid = ? AND (expires IS NULL OR expires > ?) LIMIT 1',
        [$calendar['id'], time()],
    );
    if ($known !== null) {
        return $known['ticket'];
    }
    $ticket = bin2hex(random_bytes(16));
    run('INSERT INTO tickets (ticket, calendarid, created) VALUES (?, ?, ?)', [$ticket, $calendar['id'], time()]);
    return $ticket;
}
