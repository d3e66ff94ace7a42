<?php
// Coming events, or those of a tag, as RSS.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

$tag = strtolower(given($_GET, 'tag'));
$events = $tag === '' ? future_events(1) : tagged_events($tag, 1);
$host = preg_match('/\A[A-Za-z0-9.:\[\]-]{1,255}\z/', $_SERVER['HTTP_HOST'] ?? '') ? $_SERVER['HTTP_HOST'] : 'localhost';
$root = (empty($_SERVER['HTTPS']) ? 'http' : 'https') . "://$host";

header('Content-Type: application/rss+xml; charset=utf-8');
$items = '';
foreach ($events as $event) {
    $link = xml("$root/events.php?socialEventID={$event['socialeventid']}");
    $items .= '<item><title>' . xml($event['title']) . "</title><link>$link</link><guid>$link</guid><description>"
        . xml("{$event['eventdate']}: {$event['summary']}") . '</description><pubDate>' . gmdate(DATE_RSS, strtotime("{$event['createdtimestamp']} UTC")) . "</pubDate></item>\n";
}
echo "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel><title>", xml($tag === '' ? 'Coming events' : "Events tagged $tag"),
    '</title><link>', xml("$root/index.php"), "</link><description>From the events calendar</description>\n$items</channel></rss>\n";

/** XML takes no control characters, not even escaped. */
function xml(string $value): string
{
    return htmlspecialchars((string) preg_replace('/[\x00-\x08\x0B\x0C\x0E-\x1F]/', '', $value), ENT_QUOTES | ENT_SUBSTITUTE | ENT_XML1, 'UTF-8');
}
