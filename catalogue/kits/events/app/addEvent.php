<?php
// The form for a new event; addEventResult.php takes it. Strangers see it too, and are told to log in.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
$year = (int) gmdate('Y', now());
$date = 'Day ' . choice('day', range(1, 31), (int) gmdate('j', now())) . choice('month', range(1, 12), (int) gmdate('n', now()))
    . choice('year', range($year, $year + 3), $year) . ' at ' . choice('hour', range(0, 23), 19) . choice('minute', [0, 15, 30, 45], 0);
$first = visitor() === null ? '<p class="message">Log in before you post an event.</p>' : '';
show('Post an event', $first . '<form class="long" action="/addEventResult.php" method="post" enctype="multipart/form-data">' . token_field()
    . input('title', 'Title', 100) . input('summary', 'Summary', 100, 'text', false) . text_area('description', 'Description', 500)
    . address_inputs() . input('telephone', 'Telephone', 20) . '<label>Time zone ' . choice('timezone', zones(), 'America/Los_Angeles') . '</label>'
    . "<div class=\"date\">$date</div>" . input('tags', 'Tags, with blanks between them', 320)
    . input('upload_event_image', 'Picture (JPEG, 2 MB at most)', 0, 'file', false) . input('upload_event_literature', 'Leaflet (PDF, 2 MB at most)', 0, 'file', false)
    . '<p class="missing"></p><input type="submit" name="addeventsubmit" value="Create" /></form>', ['validateform']);
