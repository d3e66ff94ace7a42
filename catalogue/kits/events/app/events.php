<?php
// One event: what, where, when, its tags, who comes, and what people say.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
$id = whole(given($_GET, 'socialEventID')) ?? throw new Refusal(400, 'Which event?', 'An event has a number.');
$event = event($id) ?? throw new Refusal(404, 'No such event', 'There is no event of this number.');

$tags = implode(' ', array_map(fn (array $tag): string => tag_link($tag['tag'], $tag['refcount']), tags_of($id)));
$leaflet = $event['literatureurl'] === '' ? ''
    : '<p><a href="' . address('/fileService.php', ['file' => $event['literatureurl']]) . '">Leaflet (PDF)</a></p>';
$full = $event['imageurl'] === '' ? '' : address('/fileService.php', ['file' => $event['imageurl']]);
$picture = picture($event['imagethumburl'], 'picture of the event');
$who = person_link($event['submitterUserName']);
$attend = visitor() === null ? '<p class="small">Log in to attend or to comment.</p>'
    : button('/addAttendee.php', 'Attend', ['id' => $id], 'attendees');
$comments = comments_on($id);
$votes = (int) $event['numberofvotes'];
$score = $votes === 0 ? '' : sprintf(', %.1f stars', $event['totalscore'] / $votes);

$content = '<div class="event">' . ($full === '' ? $picture : "<a href=\"$full\">$picture</a>")
    . '<div><p>' . nl2br(text($event['description'])) . '</p><p><strong>When:</strong> ' . text(substr($event['eventtimestamp'], 0, 16)) . ' ('
    . text($event['timezone']) . ')</p><p><strong>Where:</strong> ' . address_text($event) . ' <span class="small">('
    . text(sprintf('%.4f, %.4f', $event['latitude'], $event['longitude'])) . ')</span></p><p><strong>Contact:</strong> ' . text($event['telephone'])
    . "</p>$leaflet<p class=\"small\">Posted by $who on " . text(substr($event['createdtimestamp'], 0, 10)) . "</p></div></div>\n"
    . "<p class=\"tags\">Tags: $tags</p>\n<div id=\"attendees\">" . attendees($id) . "</div>\n$attend\n"
    . '<h3>' . count($comments) . " comments$score</h3>\n" . comment_list($comments) . (visitor() === null ? '' : comment_form($id));
show($event['title'], $content, ['starrating']);
