<?php
// A new event. Everything is checked and the files lie in the store before the database is touched.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
expect_post();
$name = visitor_or_refuse();
[$title, $description] = [field('title', 'Title', 100), field('description', 'Description', 500)];
$summary = field('summary', 'Summary', 100, 0);
if ($summary === '') {
    preg_match('/\A.{0,90}/us', $description, $beginning);
    $summary = $beginning[0];
}
[$telephone, $zone, $address] = [field('telephone', 'Telephone', 20), zone_field(), address_fields()];
[$date, $moment] = moment_fields();
$tags = tags_field('tags');

$files = new Staged();
stage_picture($files, 'upload_event_image', 'The picture');
stage_leaflet($files, 'upload_event_literature', 'The leaflet');
$place = located($address);
$id = add_event([$title, $summary, $description, $telephone, $zone, $date, $moment], $place, $tags, $name, $files);
go("/events.php?socialEventID=$id");
