<?php
// The frame of a page: head, navigation, and the side bar with who is here, what is coming and the month.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const SCRIPTS = ['base', 'effects', 'dragdrop', 'controls'];

/** The token that goes into forms: the visitor's, or a mark that is exchanged for it while a page is made for keeping. */
function form_token(?string $mark = null): string
{
    static $instead = null;
    $instead = $mark ?? $instead;
    return $instead ?? token();
}

/** Sends a page. */
function show(string $title, string $content, array $scripts = []): void
{
    echo page($title, $content, $scripts);
}

function page(string $title, string $content, array $scripts = []): string
{
    $loaded = implode('', array_map(fn (string $name): string => "<script src=\"/js/$name.js\"></script>\n", [...SCRIPTS, ...$scripts]));
    $shown = text($title);
    $navigation = navigation();
    $side = side_bar();
    $moment = text(gmdate('j F Y, H:i', now()));
    return <<<HTML
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Events: $shown</title>
    <link rel="stylesheet" href="/css/frame.css" />
    <link rel="stylesheet" href="/css/site.css" />
    <link rel="alternate" type="application/rss+xml" title="Coming events" href="/feed.php" />
    $loaded</head>
    <body>
    <div class="header"><h1>Events</h1></div>
    <div class="nav">$navigation</div>
    <div class="page">
    <div class="main">
    <h2>$shown</h2>
    $content
    </div>
    <div class="side">
    $side
    </div>
    </div>
    <p class="page small">The calendar's clock: $moment</p>
    </body>
    </html>

    HTML;
}

function navigation(): string
{
    $links = ['index.php' => 'Home'];
    $links += visitor() === null
        ? ['login.php' => 'Log in', 'addPerson.php' => 'Register', 'addEvent.php' => 'Post an event']
        : ['addEvent.php' => 'Post an event', 'users.php?' . http_build_query(['username' => visitor()]) => 'My page', 'logout.php' => 'Log out'];
    $html = '';
    foreach ($links as $where => $label) {
        $html .= '<li><a href="/' . text($where) . "\">$label</a></li>";
    }
    return "<ul>$html</ul>";
}

function side_bar(): string
{
    $search = '<form action="/taggedEvents.php" method="post">' . token_field()
        . '<input type="text" name="tag" id="tag" maxlength="30" size="14" /> <input type="submit" name="search" value="Find" /></form>';
    $feed = '<p><a href="/feed.php"><img src="/images/feed.png" alt="feed" width="16" height="16" /> Coming events</a></p>';
    return box('Events by tag', $search . $feed) . (visitor() === null ? login_box() : visitor_box(visitor())) . box(gmdate('F Y', now()), month());
}

function box(string $title, string $content): string
{
    return '<div class="box"><h3>' . text($title) . "</h3>\n$content\n</div>\n";
}

function login_form(): string
{
    return '<form action="/login.php" method="post">' . token_field()
        . '<label>Username<br /><input type="text" name="user_name" maxlength="25" size="16" /></label><br />'
        . '<label>Password<br /><input type="password" name="password" maxlength="72" size="16" /></label><br />'
        . '<input type="submit" name="submit" value="Login" /></form>';
}

function login_box(): string
{
    return box('Log in', login_form() . '<p class="small"><a href="/addPerson.php">Register</a></p>');
}

function visitor_box(string $name): string
{
    $requests = requests_known();
    $content = '<p>Logged in as ' . person_link($name) . "</p><p>Friend requests: $requests</p>";
    $coming = coming_events_of($name);
    $items = implode('', array_map(
        fn (array $event): string => '<li>' . event_link($event) . ' <span class="small">' . text($event['eventdate']) . '</span></li>',
        $coming
    ));
    return box('You', $content) . box('Your next events', $coming === [] ? '<p>None yet.</p>' : "<ul>$items</ul>");
}

/** The days of this month, weeks from Monday on. */
function month(): string
{
    $today = (int) gmdate('j', now());
    $first = gmmktime(0, 0, 0, (int) gmdate('n', now()), 1, (int) gmdate('Y', now()));
    $cells = array_fill(0, (int) gmdate('N', $first) - 1, '<td></td>');
    for ($day = 1; $day <= (int) gmdate('t', $first); $day++) {
        $cells[] = '<td' . ($day === $today ? ' class="today"' : '') . ">$day</td>";
    }
    $weeks = implode("\n", array_map(fn (array $week): string => '<tr>' . implode('', $week) . '</tr>', array_chunk($cells, 7)));
    $head = '<th>' . implode('</th><th>', ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']) . '</th>';
    return "<table class=\"calendar\"><tr>$head</tr>\n$weeks</table>";
}
