<?php
// The login form, and what it sends: a name and a password.
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
if (($_SERVER['REQUEST_METHOD'] ?? 'GET') === 'POST') {
    $password = $_POST['password'] ?? '';
    $name = person_with(given($_POST, 'user_name'), is_string($password) ? $password : '');
    if ($name !== null) {
        log_in($name);
        go('/index.php');
    }
    http_response_code(403);
    show('Log in', '<p class="message error">There is no such name with this password.</p>' . login_form());
    exit;
}
show('Log in', visitor() === null ? login_form() : '<p>You are logged in.</p>');
