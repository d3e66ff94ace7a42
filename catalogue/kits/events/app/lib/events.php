<?php
// Events: lists of them, one of them, and a new one.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const LISTED = 'SELECT socialeventid, title, summary, imagethumburl, createdtimestamp, eventdate, submitterUserName FROM SOCIALEVENT';

function count_future_events(): int
{
    return (int) value('SELECT COUNT(*) FROM SOCIALEVENT WHERE eventtimestamp >= ?', [timestamp()]);
}

function future_events(int $page, int $count = 10): array
{
    return rows(LISTED . ' WHERE eventtimestamp >= ? ORDER BY eventdate LIMIT ?, ?', [timestamp(), ($page - 1) * 10, $count]);
}

/** The next three that somebody attends. */
function coming_events_of(string $name): array
{
    return rows('SELECT s.socialeventid, s.title, s.eventdate FROM PERSON_SOCIALEVENT ps JOIN SOCIALEVENT s
        ON s.socialeventid = ps.socialeventid WHERE ps.username = ? AND s.eventtimestamp >= ? ORDER BY s.eventdate LIMIT 3', [$name, timestamp()]);
}

function future_events_by(string $name): array
{
    return rows(LISTED . ' WHERE submitterUserName = ? AND eventtimestamp >= ? ORDER BY eventdate LIMIT 10', [$name, timestamp()]);
}

/** Ten events of a tag: their numbers first, then each by itself, as the original asks for them. */
function tagged_events(string $tag, int $page, int $count = 10): array
{
    $found = rows('SELECT l.socialeventid FROM SOCIALEVENTTAG t JOIN SOCIALEVENTTAG_SOCIALEVENT l
        ON l.socialeventtagid = t.socialeventtagid WHERE t.tag = ? LIMIT ?, ?', [$tag, ($page - 1) * 10, $count]);
    $events = array_map(fn (array $link): ?array => row(LISTED . ' WHERE socialeventid = ?', [$link['socialeventid']]), $found);
    return array_values(array_filter($events));
}

function event_list(array $events): string
{
    $html = '';
    foreach ($events as $event) {
        $html .= '<div class="event"><a href="' . address('events.php', ['socialEventID' => $event['socialeventid']]) . '">'
            . picture($event['imagethumburl'], 'picture of the event') . '</a><div><h3>' . event_link($event) . '</h3><p>'
            . text($event['summary']) . '</p><p class="small">' . text($event['eventdate']) . ', posted by '
            . person_link($event['submitterUserName']) . ' on ' . text(substr($event['createdtimestamp'], 0, 10)) . "</p></div></div>\n";
    }
    return $html;
}

function event_list_without_pictures(array $events): string
{
    $items = array_map(fn (array $event): string => '<li>' . event_link($event) . ' <span class="small">' . text($event['eventdate']) . '</span></li>', $events);
    return '<ul>' . implode('', $items) . '</ul>';
}

function event(int $id): ?array
{
    return row('SELECT s.*, a.street1, a.street2, a.city, a.state, a.zip, a.country, a.latitude, a.longitude
        FROM SOCIALEVENT s JOIN ADDRESS a ON a.addressid = s.ADDRESS_addressid WHERE s.socialeventid = ?', [$id]);
}

function tags_of(int $event): array
{
    return rows('SELECT t.tag, t.refcount FROM SOCIALEVENTTAG_SOCIALEVENT l JOIN SOCIALEVENTTAG t
        ON t.socialeventtagid = l.socialeventtagid WHERE l.socialeventid = ? ORDER BY t.tag', [$event]);
}

function comments_on(int $event): array
{
    return rows('SELECT username, comments, ratings, created_at FROM COMMENTS_RATING WHERE socialeventid = ? ORDER BY commentid', [$event]);
}

/** The heading with the number, then twenty names, the visitor's own among them. */
function attendees(int $event): string
{
    $count = (int) value('SELECT COUNT(*) FROM PERSON_SOCIALEVENT WHERE socialeventid = ?', [$event]);
    $names = 'SELECT username FROM PERSON_SOCIALEVENT WHERE socialeventid = ?';
    $found = visitor() === null
        ? rows("$names LIMIT 20", [$event])
        : rows("($names AND username = ?) UNION ($names LIMIT 20)", [$event, visitor(), $event]);
    $list = implode(' ', array_map(fn (array $row): string => person_link($row['username']), $found));
    return "<h3>$count Attendees:</h3><p class=\"tags\">$list</p>";
}

/** Whether this was new: who attends already is not counted twice. */
function attend(int $event, string $name): bool
{
    return transaction(function () use ($event, $name): bool {
        $known = value('SELECT COUNT(*) FROM PERSON_SOCIALEVENT WHERE socialeventid = ? AND username = ?', [$event, $name]);
        return (int) $known === 0
            && run('INSERT IGNORE INTO PERSON_SOCIALEVENT (username, socialeventid) VALUES (?, ?)', [$name, $event])->rowCount() === 1;
    });
}

/** A new event with its place, tags and files; gives its number. Whatever fails, nothing of it is left. */
function add_event(array $event, array $place, array $tags, string $submitter, Staged $files): int
{
    $id = transaction(function () use ($event, $place, $tags, $submitter, $files): int {
        run('INSERT INTO SOCIALEVENT (title, summary, description, telephone, timezone, eventdate, eventtimestamp, submitterUserName,
            createdtimestamp, ADDRESS_addressid, totalscore, numberofvotes, disabled, imageurl, imagethumburl, literatureurl)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, \'\', \'\', \'\')', [...$event, $submitter, timestamp(), add_address($place)]);
        $id = last_id();
        link_tags($id, $tags);
        run('INSERT INTO PERSON_SOCIALEVENT (username, socialeventid) VALUES (?, ?)', [$submitter, $id]);
        $names = $files->keep(['picture' => "e$id.jpg", 'thumbnail' => "e{$id}t.jpg", 'leaflet' => "e{$id}l.pdf"]);
        run('UPDATE SOCIALEVENT SET imageurl = ?, imagethumburl = ?, literatureurl = ? WHERE socialeventid = ?',
            [$names['picture'] ?? '', $names['thumbnail'] ?? '', $names['leaflet'] ?? '', $id]);
        return $id;
    });
    $files->done();
    return $id;
}
