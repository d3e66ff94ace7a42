<?php
// A person: who they are, their friends, requests, and the events that they posted.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
$name = given($_GET, 'username');
$person = person($name) ?? throw new Refusal(404, 'No such person', 'Nobody has this name.');
$circle = circle_of($name);
$own = visitor() === $name;

$figures = '';
foreach ($circle['friends'] as $friend) {
    $end = $own ? button('/friends.php', 'End', ['action' => 'revoke', 'username' => $friend['username'], 'back' => 'me']) : '';
    $figures .= '<figure>' . picture($friend['imagethumburl'], 'picture of a friend') . '<figcaption>' . person_link($friend['username']) . "$end</figcaption></figure>\n";
}
$requests = '';
foreach ($own ? $circle['incoming'] : [] as $asking) {
    $fields = ['username' => $asking['username'], 'back' => 'me'];
    $requests .= '<div class="event">' . person_link($asking['username']) . ' asks ' . button('/friends.php', 'Accept', $fields + ['action' => 'accept'])
        . button('/friends.php', 'Refuse', $fields + ['action' => 'revoke']) . "</div>\n";
}
foreach ($own ? $circle['outgoing'] : [] as $asked) {
    $requests .= '<div class="event">asked ' . person_link($asked['username'])
        . button('/friends.php', 'Take back', ['action' => 'revoke', 'username' => $asked['username'], 'back' => 'me']) . "</div>\n";
}
$invite = visitor() === null || $own ? '' : button('/friends.php', 'Invite as a friend', ['action' => 'invite', 'username' => $name]);
$waiting = array_column($circle['incoming'], 'username');
$invite = in_array(visitor(), $waiting, true) ? '<p>You asked to be friends.</p>' : $invite;
$posted = future_events_by($name);

$content = '<div class="event">' . picture($person['imagethumburl'], 'picture of the person') . '<div><p><strong>'
    . text("{$person['firstname']} {$person['lastname']}") . '</strong></p><p>' . text($person['email']) . '<br />' . text($person['telephone'])
    . '<br />' . address_text($person) . '<br />Time zone ' . text($person['timezone']) . "</p>$invite</div></div>\n"
    . '<p>' . nl2br(text($person['summary'])) . "</p>\n<h3>Friends</h3><div class=\"people\">$figures</div>\n"
    . ($requests === '' ? '' : "<h3>Requests</h3>$requests")
    . "<h3>Posted events</h3>\n" . ($posted === [] ? '<p>None to come.</p>' : event_list_without_pictures($posted));
show("Person $name", $content);
