<?php
// Somebody registers. Everything is checked and the files lie in the store before the database is touched.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
expect_post();
$name = field('user_name', 'User name', 25, 3);
if (!preg_match('/\A[A-Za-z][A-Za-z0-9_]*\z/', $name)) {
    throw new Refusal(400, 'The form is not right', 'A user name has letters, digits and _, a letter first.');
}
$password = is_string($_POST['password'] ?? null) ? $_POST['password'] : '';
if ($password === '' || strlen($password) > 72 || $password !== ($_POST['passwordx'] ?? null)) {
    throw new Refusal(400, 'The form is not right', 'The password needs 1 to 72 characters, twice the same.');
}
$email = field('email', 'E-mail', 90);
if (!preg_match('/\A[^\s@]+@[^\s@]+\z/', $email)) {
    throw new Refusal(400, 'The form is not right', 'That is not an e-mail address.');
}
[$first, $last] = [field('first_name', 'First name', 25), field('last_name', 'Last name', 25)];
[$telephone, $summary, $zone, $address] = [field('telephone', 'Telephone', 25), field('summary', 'About you', 2500), zone_field(), address_fields()];
$taken = new Refusal(409, 'That name is taken', 'Somebody else has this user name; please choose another.');
value('SELECT COUNT(*) FROM PERSON WHERE username = ?', [$name]) === 0 || throw $taken;

$files = new Staged();
stage_picture($files, 'user_image', 'The picture');
$place = located($address);
$hash = password_hash($password, PASSWORD_BCRYPT, ['cost' => PASSWORD_COST]);
add_person([$name, $hash, $first, $last, $email, $telephone, $summary, $zone], $place, $files) || throw $taken;
go('/users.php?' . http_build_query(['username' => $name]));
