<?php
// dspurchase.php?confirmpurchase=yes&customerid=…&item[]=…&quan[]=…; without confirmpurchase, the cart with totals.
declare(strict_types=1);

require __DIR__ . '/store.php';

const TRIES = 3;

$customer = whole(argument('customerid'));
$cart = cart(numbers('item'), numbers('quan'));
$net = array_sum(array_map(fn ($line) => $line['quantity'] * $line['price'], $cart));
$tax = round($net * TAX_PERCENT / 100, 2);
$confirmed = argument('confirmpurchase') !== '' && $customer !== null && $cart !== [];
$order = $confirmed ? purchase($customer, $cart, $net, $tax) : null;
$card = $order !== null && $order['failed'] === [] ? card($customer) : null;

/** The cart's lines with what the shelves say about each. */
function cart(array $items, array $quantities): array
{
    $lines = [];
    foreach ($items as $index => $item) {
        $found = row('SELECT PROD_ID, TITLE, ACTOR, PRICE FROM PRODUCTS WHERE PROD_ID = ?', [$item])
            ?? throw new BadRequest("There is no product $item");
        $lines[] = [
            'product' => (int) $found[0], 'title' => $found[1], 'actor' => $found[2], 'price' => (float) $found[3],
            'quantity' => $quantities[$index] ?? 1,
        ];
    }
    return $lines;
}

/** Two purchases that wait for each other: the database has undone this one, and it can be tried again. */
function is_deadlock(PDOException $error): bool
{
    return in_array($error->errorInfo[1] ?? 0, [1205, 1213], true);
}

/** The order's number, and the lines that failed for want of stock: then nothing was ordered. */
function purchase(int $customer, array $cart, float $net, float $tax): array
{
    if (CART_ORDER === 'sorted') {
        usort($cart, fn ($a, $b) => $a['product'] <=> $b['product']);
    }
    for ($try = 1; ; $try++) {
        try {
            $order = attempt($customer, $cart, $net, $tax);
            break;
        } catch (PDOException $error) {
            if (database()->inTransaction()) {
                database()->rollBack();
            }
            if (($error->errorInfo[1] ?? 0) === 1452) {
                throw new BadRequest("There is no customer $customer");
            }
            // 2.1 does not try again.
            if (!is_deadlock($error) || CART_ORDER !== 'sorted' || $try === TRIES) {
                throw $error;
            }
        }
    }
    if (HISTORY === 'always') {
        write_history($customer, $order['number'], $cart);
    }
    return $order;
}

function attempt(int $customer, array $cart, float $net, float $tax): array
{
    $today = date('Y-m-d');
    database()->beginTransaction();
    run(
        'INSERT INTO ORDERS (ORDERDATE, CUSTOMERID, NETAMOUNT, TAX, TOTALAMOUNT) VALUES (?, ?, ?, ?, ?)',
        [$today, $customer, decimal($net), decimal($tax), decimal($net + $tax)]
    );
    $number = (int) database()->lastInsertId();
    $failed = array_filter($cart, fn ($line) => !take_from_stock($line['product'], $line['quantity']));
    if ($failed === []) {
        write_lines($number, $cart, $today);
    }
    if (HISTORY === 'in_transaction' && $failed === []) {
        write_history($customer, $number, $cart);
    }
    $failed === [] ? database()->commit() : database()->rollBack();
    return ['number' => $number, 'failed' => $failed];
}

/** Whether there was enough. */
function take_from_stock(int $product, int $quantity): bool
{
    if (INVENTORY_UPDATE === 'guarded') {
        return run(
            'UPDATE INVENTORY SET QUAN_IN_STOCK = QUAN_IN_STOCK - ?, SALES = SALES + ?'
            . ' WHERE PROD_ID = ? AND QUAN_IN_STOCK >= ?',
            [$quantity, $quantity, $product, $quantity]
        )->rowCount() === 1;
    }
    [$stock, $sales] = row('SELECT QUAN_IN_STOCK, SALES FROM INVENTORY WHERE PROD_ID = ?', [$product]) ?? [0, 0];
    if ($stock < $quantity) {
        return false;
    }
    run(
        'UPDATE INVENTORY SET QUAN_IN_STOCK = ?, SALES = ? WHERE PROD_ID = ?',
        [$stock - $quantity, $sales + $quantity, $product]
    );
    return true;
}

function write_lines(int $number, array $cart, string $today): void
{
    $values = [];
    foreach ($cart as $index => $line) {
        array_push($values, $index + 1, $number, $line['product'], $line['quantity'], $today);
    }
    run(
        'INSERT INTO ORDERLINES (ORDERLINEID, ORDERID, PROD_ID, QUANTITY, ORDERDATE) VALUES '
        . placeholders(count($cart), 5),
        $values
    );
}

function write_history(int $customer, int $number, array $cart): void
{
    $values = [];
    foreach ($cart as $line) {
        array_push($values, $customer, $number, $line['product']);
    }
    run('INSERT INTO CUST_HIST (CUSTOMERID, ORDERID, PROD_ID) VALUES ' . placeholders(count($cart), 3), $values);
}

/** The customer's card. The order stands: a failure here is no reason to tell the customer otherwise. */
function card(int $customer): array
{
    try {
        return row(
            'SELECT CREDITCARDTYPE, CREDITCARD, CREDITCARDEXPIRATION FROM CUSTOMERS WHERE CUSTOMERID = ?',
            [$customer]
        ) ?? [0, '', ''];
    } catch (PDOException $error) {
        error_log('DVD Store: ' . $error->getMessage());
        return [0, '', ''];
    }
}

function cart_table(array $cart, float $net, float $tax, bool $editable): void
{
    echo "<TABLE BORDER=2>\n<TR><TH>Item</TH><TH>Quantity</TH><TH>Title</TH><TH>Actor</TH><TH>Price</TH></TR>\n";
    foreach ($cart as $index => $line) {
        $quantity = $editable
            ? hidden('item[]', $line['product']) . "<INPUT TYPE=TEXT NAME=quan[] VALUE={$line['quantity']} SIZE=3>"
            : (string) $line['quantity'];
        echo '<TR><TD>', $index + 1, "</TD><TD>$quantity</TD><TD>", text($line['title']), '</TD><TD>',
            text($line['actor']), '</TD><TD>', money($line['price']), "</TD></TR>\n";
    }
    echo '<TR><TD COLSPAN=4>Subtotal</TD><TD>', money($net), "</TD></TR>\n",
        '<TR><TD COLSPAN=4>Tax (', TAX_PERCENT, '%)</TD><TD>', money($tax), "</TD></TR>\n",
        '<TR><TD COLSPAN=4>Total</TD><TD>', money($net + $tax), "</TD></TR>\n</TABLE>\n";
}

page_head();
if ($customer === null) {
    echo "<H2>You have not logged in - Please click below to log in</H2>\n<FORM ACTION=\"dslogin.php\" METHOD=GET>\n",
        "<INPUT TYPE=SUBMIT VALUE=\"Login\">\n</FORM>\n";
} elseif ($cart === []) {
    echo "<H2>Your shopping cart is empty</H2>\n";
    shopping_button($customer);
} elseif ($order === null) {
    echo "<H2>Selected Items: specify quantity desired; click Purchase when finished</H2>\n",
        "<FORM ACTION=\"dspurchase.php\" METHOD=GET>\n", hidden('confirmpurchase', 'yes'),
        hidden('customerid', $customer);
    cart_table($cart, $net, $tax, true);
    echo "<INPUT TYPE=SUBMIT VALUE=\"Purchase\">\n</FORM>\n";
} else {
    cart_table($cart, $net, $tax, false);
    foreach ($order['failed'] as $line) {
        echo '<H3>Insufficient quantity for product ', $line['product'], "</H3>\n";
    }
    if ($card === null) {
        echo "<H2>Insufficient stock - order not processed</H2>\n";
    } else {
        [$type, $number, $expiration] = $card;
        echo '<H2>', money($net + $tax), ' charged to credit card ', text($number), ' (',
            text(CARD_TYPES[(int) $type] ?? 'other'), '), expiration ', text($expiration), "</H2>\n",
            // Two spaces, as in 2.1: its driver reads the number from 15 characters after the O.
            "<H2>Order Completed Successfully --- ORDER NUMBER:  {$order['number']}</H2>\n";
    }
}
page_foot();
