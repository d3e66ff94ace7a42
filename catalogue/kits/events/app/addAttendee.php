<?php
// The visitor attends an event. Scripts get the new list of those who come, others the event's page.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
expect_post();
$name = visitor_or_refuse();
$id = whole_field('id', 'The event', 1, 2147483647);
event($id) ?? throw new Refusal(404, 'No such event', 'There is no event of this number.');
$new = attend($id, $name);
if (($_SERVER['HTTP_X_REQUESTED_WITH'] ?? '') !== 'XMLHttpRequest') {
    go("/events.php?socialEventID=$id");
}
header('X-Attendance: ' . ($new ? 'new' : 'known'));
echo attendees($id);
