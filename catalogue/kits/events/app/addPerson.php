<?php
// The form with which somebody registers; addPersonResult.php takes it.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
$zone = '<label>Time zone ' . choice('timezone', ['PST', ...zones()], 'PST') . '</label>';
show('Register', '<form class="long" action="/addPersonResult.php" method="post" enctype="multipart/form-data">' . token_field()
    . input('user_name', 'User name', 25) . input('password', 'Password', 72, 'password') . input('passwordx', 'Password again', 72, 'password')
    . input('first_name', 'First name', 25) . input('last_name', 'Last name', 25) . input('email', 'E-mail', 90)
    . address_inputs() . input('telephone', 'Telephone', 25) . $zone . input('user_image', 'Picture (JPEG, 2 MB at most)', 0, 'file', false)
    . text_area('summary', 'About you', 2500) . '<p class="missing"></p><input type="submit" name="addpersonsubmit" value="Create" /></form>', ['validateform']);
