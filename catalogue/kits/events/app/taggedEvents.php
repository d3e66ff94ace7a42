<?php
// The events of a tag: a form sends the tag, links also say how many events it has, which saves counting them.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
$posted = ($_SERVER['REQUEST_METHOD'] ?? 'GET') === 'POST';
$tag = strtolower(given($posted ? $_POST : $_GET, 'tag'));
if (!preg_match('/\A.{1,30}\z/us', $tag)) {
    throw new Refusal(400, 'Which tag?', 'A tag has 1 to 30 characters.');
}
$count = $posted ? null : whole(given($_GET, 'count'), 0);
$count ??= times_used($tag);
$page = page_number();
$events = tagged_events($tag, $page);
$content = $events === [] ? '<p class="message">No events have this tag.</p>' : event_list($events);
show("Tagged $tag", $content . pager('taggedEvents.php', ['tag' => $tag, 'count' => $count], $page, $count));
