<?php
// dslogin.php?username=…&password=…
declare(strict_types=1);

require __DIR__ . '/store.php';

$username = argument('username');
$password = argument('password');
$customer = null;
$previous = [];
if ($username !== '') {
    $found = row('SELECT CUSTOMERID FROM CUSTOMERS WHERE USERNAME = ? AND PASSWORD = ?', [$username, $password]);
    if ($found !== null) {
        $customer = (int) $found[0];
        $previous = previous_purchases($customer);
    }
}

/** The last ten titles bought, each with the title that others liked. */
function previous_purchases(int $customer): array
{
    $list = rows(
        'SELECT TITLE, ACTOR, COMMON_PROD_ID FROM CUST_HIST JOIN PRODUCTS ON PRODUCTS.PROD_ID = CUST_HIST.PROD_ID'
        . ' WHERE CUSTOMERID = ? ORDER BY ORDERID DESC, TITLE ASC LIMIT 10',
        [$customer]
    );
    foreach ($list as &$line) {
        $line[2] = row('SELECT TITLE FROM PRODUCTS WHERE PROD_ID = ?', [(int) $line[2]])[0] ?? '';
    }
    return $list;
}

page_head();
if ($customer !== null) {
    echo "<H2>Welcome to the DVD Store - Click below to begin shopping</H2>\n";
    if ($previous !== []) {
        echo "<H3>Your previous purchases:</H3>\n<TABLE BORDER=2>\n<TR><TH>Title</TH><TH>Actor</TH>",
            "<TH>People who liked this DVD also liked</TH></TR>\n";
        foreach ($previous as [$title, $actor, $also]) {
            echo '<TR><TD>', text($title), '</TD><TD>', text($actor), '</TD><TD>', text($also), "</TD></TR>\n";
        }
        echo "</TABLE>\n<BR>\n";
    }
    shopping_button($customer);
} else {
    if ($username !== '') {
        echo "<H2>Username or password incorrect. Please re-enter your username and password</H2>\n";
    } else {
        echo "<H2>Please enter your username and password</H2>\n";
    }
    echo "<FORM ACTION=\"dslogin.php\" METHOD=GET>\n",
        'Username <INPUT TYPE=TEXT NAME=username VALUE="', text($username), "\" SIZE=16 MAXLENGTH=50>\n",
        "Password <INPUT TYPE=PASSWORD NAME=password SIZE=16 MAXLENGTH=50>\n",
        "<INPUT TYPE=SUBMIT VALUE=\"Login\">\n</FORM>\n",
        "<H2>New customer? <A HREF=\"dsnewcustomer.php\">Create a login</A></H2>\n";
}
page_foot();
