<?php
// dsbrowse.php?browsetype=title|actor|category&browse_title=&browse_actor=&browse_category=&limit_num=&customerid=
// and, when a person fills the cart, selected_item[] and item[].
declare(strict_types=1);

require __DIR__ . '/store.php';

$customer = whole(argument('customerid'));
$type = argument('browsetype');
$limit = whole(argument('limit_num'), 1, 1000) ?? 8;
$found = $customer === null ? null : search($type, $limit);
$cart = array_merge(numbers('item'), numbers('selected_item'));
$titles = array_map(fn ($item) => row('SELECT TITLE FROM PRODUCTS WHERE PROD_ID = ?', [$item])[0] ?? '', $cart);

/** What the shelves hold of it, by relevance; null when nothing was asked for. */
function search(string $type, int $limit): ?array
{
    $columns = 'SELECT PROD_ID, TITLE, ACTOR, PRICE FROM PRODUCTS WHERE ';
    return match ($type) {
        'title' => rows($columns . 'MATCH (TITLE) AGAINST (?) LIMIT ?', [argument('browse_title'), $limit]),
        'actor' => rows($columns . 'MATCH (ACTOR) AGAINST (?) LIMIT ?', [argument('browse_actor'), $limit]),
        'category' => rows(
            $columns . 'CATEGORY = ? AND SPECIAL = 1 LIMIT ?',
            [whole(argument('browse_category'), 1, 127) ?? 0, $limit]
        ),
        '' => null,
        default => throw new BadRequest('browsetype must be title, actor or category'),
    };
}

function search_form(int $customer, string $type, int $limit, array $cart): void
{
    echo "<FORM ACTION=\"dsbrowse.php\" METHOD=GET>\n";
    foreach (['title' => 'Title', 'actor' => 'Actor'] as $name => $title) {
        echo "<INPUT TYPE=RADIO NAME=browsetype VALUE=$name", $type === $name ? ' CHECKED' : '', ">$title ",
            "<INPUT TYPE=TEXT NAME=browse_$name VALUE=\"", text(argument("browse_$name")), "\" SIZE=15><BR>\n";
    }
    echo '<INPUT TYPE=RADIO NAME=browsetype VALUE=category', $type === 'category' ? ' CHECKED' : '', ">Category\n",
        "<SELECT NAME=browse_category>\n";
    foreach (CATEGORIES as $number => $name) {
        $selected = argument('browse_category') === (string) $number ? ' SELECTED' : '';
        echo "<OPTION VALUE=$number$selected>$name</OPTION>\n";
    }
    echo "</SELECT><BR>\nNumber of search results to return\n<SELECT NAME=limit_num>\n";
    for ($number = 1; $number <= 10; $number++) {
        echo "<OPTION VALUE=$number", $number === $limit ? ' SELECTED' : '', ">$number</OPTION>\n";
    }
    echo "</SELECT><BR>\n", hidden('customerid', $customer);
    foreach ($cart as $item) {
        echo hidden('item[]', $item);
    }
    echo "<INPUT TYPE=SUBMIT VALUE=\"Search\">\n</FORM>\n";
}

function result_table(int $customer, array $found, array $cart): void
{
    echo "<H2>Search Results</H2>\n<FORM ACTION=\"dsbrowse.php\" METHOD=GET>\n<TABLE BORDER=2>\n",
        "<TR><TH>Add to Shopping Cart</TH><TH>Title</TH><TH>Actor</TH><TH>Price</TH></TR>\n";
    foreach ($found as [$product, $title, $actor, $price]) {
        echo '<TR><TD><INPUT NAME=selected_item[] TYPE=CHECKBOX VALUE=', (int) $product, '></TD><TD>', text($title),
            '</TD><TD>', text($actor), '</TD><TD>', decimal($price), "</TD></TR>\n";
    }
    echo "</TABLE>\n", hidden('customerid', $customer);
    foreach ($cart as $item) {
        echo hidden('item[]', $item);
    }
    echo "<INPUT TYPE=SUBMIT VALUE=\"Update Shopping Cart\">\n</FORM>\n";
}

function cart_table(int $customer, array $cart, array $titles): void
{
    echo "<H2>Shopping Cart</H2>\n<FORM ACTION=\"dspurchase.php\" METHOD=GET>\n<TABLE BORDER=2>\n",
        "<TR><TH>Item</TH><TH>Title</TH></TR>\n";
    foreach ($titles as $index => $title) {
        echo '<TR><TD>', $index + 1, '</TD><TD>', text($title), "</TD></TR>\n";
    }
    echo "</TABLE>\n", hidden('customerid', $customer);
    foreach ($cart as $item) {
        echo hidden('item[]', $item);
    }
    echo "<INPUT TYPE=SUBMIT VALUE=\"Checkout\">\n</FORM>\n";
}

page_head();
if ($customer === null) {
    echo "<H2>You have not logged in - Please click below to log in</H2>\n<FORM ACTION=\"dslogin.php\" METHOD=GET>\n",
        "<INPUT TYPE=SUBMIT VALUE=\"Login\">\n</FORM>\n";
} else {
    echo "<H2>Select Type of Search</H2>\n";
    search_form($customer, $type, $limit, $cart);
    if ($found === []) {
        echo "<H2>No DVDs Found</H2>\n";
    } elseif ($found !== null) {
        result_table($customer, $found, $cart);
    }
    if ($cart !== []) {
        cart_table($customer, $cart, $titles);
    }
}
page_foot();
