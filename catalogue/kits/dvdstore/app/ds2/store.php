<?php
// What all pages share: the database, the frame of a page, and how arguments are read.
declare(strict_types=1);

require __DIR__ . '/config.php';

const TAX_PERCENT = 8.25;
const CARD_TYPES = [1 => 'MasterCard', 2 => 'Visa', 3 => 'Discover', 4 => 'Amex', 5 => 'Dell Preferred'];
const CATEGORIES = [
    1 => 'Action', 'Animation', 'Children', 'Classics', 'Comedy', 'Documentary', 'Drama', 'Family', 'Foreign', 'Games',
    'Horror', 'Music', 'New', 'Sci-Fi', 'Sports', 'Travel',
];

// A page is written when it is complete: whatever fails before that is an error, and never half a page.
set_exception_handler(function (Throwable $error): void {
    error_log('DVD Store: ' . $error->getMessage());
    http_response_code($error instanceof BadRequest ? 400 : 500);
    page_head();
    echo '<H2>', $error instanceof BadRequest ? text($error->getMessage()) : 'The store is closed for a moment', "</H2>\n";
    page_foot();
});

/** The visitor's request can't be understood. */
class BadRequest extends RuntimeException
{
}

function database(): PDO
{
    static $database = null;
    return $database ??= new PDO(DATABASE, ACCOUNT, '', [
        PDO::ATTR_PERSISTENT => true,
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_NUM,
        PDO::ATTR_EMULATE_PREPARES => STATEMENTS === 'text',
    ]);
}

/** Runs a statement, prepared once per page. */
function run(string $sql, array $values = []): PDOStatement
{
    static $prepared = [];
    $statement = $prepared[$sql] ??= database()->prepare($sql);
    foreach ($values as $index => $value) {
        $statement->bindValue($index + 1, $value, is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
    }
    $statement->execute();
    return $statement;
}

function rows(string $sql, array $values = []): array
{
    return run($sql, $values)->fetchAll();
}

function row(string $sql, array $values = []): ?array
{
    return rows($sql, $values)[0] ?? null;
}

/** `(?, ?), (?, ?)` */
function placeholders(int $rows, int $columns): string
{
    $one = '(' . implode(', ', array_fill(0, $columns, '?')) . ')';
    return implode(', ', array_fill(0, $rows, $one));
}

/** Text as HTML shows it. */
function text(string|int|float|null $value): string
{
    return htmlspecialchars((string) $value, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
}

/** An amount without a sign, as 2.1's search results have their prices: its driver reads them as numbers. */
function decimal(float|string $amount): string
{
    return number_format((float) $amount, 2, '.', '');
}

/** An amount as 2.1's cart and receipt have it. */
function money(float|string $amount): string
{
    return '$' . decimal($amount);
}

/** An argument as text; a list or nothing is the empty text. */
function argument(string $name): string
{
    $value = $_GET[$name] ?? '';
    return is_string($value) ? trim($value) : '';
}

/** A whole number within bounds, or null. */
function whole(string $value, int $low = 1, int $high = 2147483647): ?int
{
    $number = filter_var($value, FILTER_VALIDATE_INT, ['options' => ['min_range' => $low, 'max_range' => $high]]);
    return $number === false ? null : $number;
}

/** The numbers of an argument such as item[]=1&item[]=2. */
function numbers(string $name): array
{
    $values = (array) ($_GET[$name] ?? []);
    return array_map(
        fn ($value) => (is_string($value) ? whole($value) : null) ?? throw new BadRequest("$name must be a number"),
        array_values($values)
    );
}

function page_head(): void
{
    echo "<HTML>\n<HEAD><TITLE>DVD Store</TITLE></HEAD>\n<BODY>\n<FONT FACE=\"Arial\" COLOR=\"#0000FF\">\n",
        "<H1 ALIGN=CENTER>DVD Store</H1>\n";
}

function page_foot(): void
{
    echo "<HR>\n<P ALIGN=CENTER>Thank you for visiting the DVD Store!</P>\n</FONT>\n</BODY>\n</HTML>\n";
}

function hidden(string $name, string|int $value): string
{
    return "<INPUT TYPE=HIDDEN NAME=$name VALUE=" . text($value) . ">\n";
}

/** The button that leads a known customer to the shelves. */
function shopping_button(int $customer): void
{
    echo "<FORM ACTION=\"dsbrowse.php\" METHOD=GET>\n", hidden('customerid', $customer),
        "<INPUT TYPE=SUBMIT VALUE=\"Start Shopping\">\n</FORM>\n";
}
