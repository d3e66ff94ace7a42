<?php
// dsnewcustomer.php?firstname=…&…: 19 arguments, or none for a blank form.
declare(strict_types=1);

require __DIR__ . '/store.php';

const FIELDS = [
    'firstname' => 'First Name', 'lastname' => 'Last Name', 'address1' => 'Address 1', 'address2' => 'Address 2',
    'city' => 'City', 'state' => 'State', 'zip' => 'Zipcode', 'country' => 'Country', 'email' => 'Email',
    'phone' => 'Phone', 'creditcardtype' => 'Credit Card Type', 'creditcard' => 'Credit Card Number',
    'ccexpmon' => 'Credit Card Expiration Month', 'ccexpyr' => 'Credit Card Expiration Year',
    'username' => 'Username', 'password' => 'Password', 'age' => 'Age', 'income' => 'Income', 'gender' => 'Gender',
];
const NEEDED = ['firstname', 'lastname', 'address1', 'city', 'country', 'username', 'password'];

$given = array_map(argument(...), array_combine(array_keys(FIELDS), array_keys(FIELDS)));
$customer = null;
$message = 'Please enter new customer information';
if (implode('', $given) !== '') {
    $wrong = wrong_fields($given);
    if ($wrong !== []) {
        $message = 'Please correct: ' . implode(', ', array_map(fn ($name) => FIELDS[$name], $wrong));
    } elseif (($customer = register($given)) === null) {
        $message = 'Username already in use! Please try another username';
    }
}

/** The fields that the table would not take. */
function wrong_fields(array $given): array
{
    $wrong = array_filter(NEEDED, fn ($name) => $given[$name] === '');
    foreach ($given as $name => $value) {
        $most = $name === 'gender' ? 1 : 50;
        if (preg_match("/^.{0,$most}$/Dsu", $value) !== 1) {
            $wrong[] = $name;
        }
    }
    $bounds = [
        'zip' => [0, 99999], 'creditcardtype' => [1, 5], 'ccexpmon' => [1, 12], 'ccexpyr' => [1, 9999],
        'age' => [0, 127], 'income' => [0, 2147483647],
    ];
    foreach ($bounds as $name => [$low, $high]) {
        if ($given[$name] !== '' && whole(ltrim($given[$name], '0') ?: '0', $low, $high) === null) {
            $wrong[] = $name;
        }
    }
    return array_unique($wrong);
}

/** The new customer's id; null when the name is taken. */
function register(array $given): ?int
{
    if ((int) row('SELECT COUNT(*) FROM CUSTOMERS WHERE USERNAME = ?', [$given['username']])[0] > 0) {
        return null;
    }
    $region = $given['country'] === 'US' ? 1 : 2;
    $expiration = sprintf('%d/%02d', (int) $given['ccexpyr'], (int) $given['ccexpmon']);
    run('CALL NEW_CUSTOMER(' . implode(', ', array_fill(0, 19, '?')) . ', @CUSTOMERID)', [
        $given['firstname'], $given['lastname'], $given['address1'], $given['address2'], $given['city'],
        $given['state'], (int) $given['zip'], $given['country'], $region, $given['email'], $given['phone'],
        (int) $given['creditcardtype'], $given['creditcard'], $expiration, $given['username'], $given['password'],
        (int) $given['age'], (int) $given['income'], $given['gender'],
    ])->closeCursor();
    $id = (int) row('SELECT @CUSTOMERID')[0];
    return $id > 0 ? $id : null;
}

page_head();
if ($customer !== null) {
    echo "<H2>New Customer Successfully Added. Click below to begin shopping</H2>\n";
    shopping_button($customer);
} else {
    echo '<H2>', text($message), "</H2>\n<FORM ACTION=\"dsnewcustomer.php\" METHOD=GET>\n";
    foreach (FIELDS as $name => $title) {
        $type = $name === 'password' ? 'PASSWORD' : 'TEXT';
        $needed = in_array($name, NEEDED, true) ? '*' : '';
        echo $title, $needed, " <INPUT TYPE=$type NAME=$name VALUE=\"", text($given[$name]),
            "\" SIZE=16 MAXLENGTH=50><BR>\n";
    }
    echo "<INPUT TYPE=SUBMIT VALUE=\"Submit New Customer Data\">\n</FORM>\n";
}
page_foot();
