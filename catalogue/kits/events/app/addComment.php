<?php
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
expect_post();
$name = visitor_or_refuse();
$id = whole_field('id', 'The event', 1, 2147483647);
event($id) ?? throw new Refusal(404, 'No such event', 'There is no event of this number.');
add_comment($id, $name, field('comments', 'Your comment', 2500), whole_field('rating', 'Stars', 1, 5));
go("/events.php?socialEventID=$id");
