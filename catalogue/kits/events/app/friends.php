<?php
// What one does about another person: invite, accept, revoke.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
expect_post();
$name = visitor_or_refuse();
$other = field('username', 'The person', 25);
match (given($_POST, 'action')) {
    'invite' => invite($name, $other),
    'accept' => accept($name, $other),
    'revoke' => revoke($name, $other),
    default => throw new Refusal(400, 'The form is not right', 'One can invite, accept or revoke.'),
};
$requests = pending_requests($name);
change_session(function () use ($requests): void { $_SESSION['requests'] = $requests; });
go('/users.php?' . http_build_query(['username' => given($_POST, 'back') === 'me' ? $name : $other]));
