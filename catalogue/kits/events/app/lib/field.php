<?php
// What forms and addresses bring, read and checked.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

/** A field as text, or the empty text. */
function given(array $from, string $name): string
{
    $value = $from[$name] ?? '';
    return is_string($value) ? trim($value) : '';
}

/** A field of a form with at most so many characters; `least` 0 lets it be empty. */
function field(string $name, string $label, int $most, int $least = 1): string
{
    $value = str_replace("\r\n", "\n", given($_POST, $name));
    $length = preg_match_all('/./us', $value);
    if ($length === false || preg_match('/[\x00-\x08\x0B-\x1F\x7F]/', $value)) {
        throw new Refusal(400, 'The form is not right', "$label has characters that are not text.");
    }
    if ($length < $least || $length > $most) {
        throw new Refusal(400, 'The form is not right', "$label needs $least to $most characters.");
    }
    return $value;
}

/** A whole number within bounds, or null. */
function whole(string $value, int $low = 1, int $high = 2147483647): ?int
{
    $number = filter_var($value, FILTER_VALIDATE_INT, ['options' => ['min_range' => $low, 'max_range' => $high]]);
    return $number === false ? null : $number;
}

function whole_field(string $name, string $label, int $low, int $high): int
{
    return whole(given($_POST, $name), $low, $high)
        ?? throw new Refusal(400, 'The form is not right', "$label needs a whole number from $low to $high.");
}

/** The number of a page of results, from 1. */
function page_number(): int
{
    return whole(given($_GET, 'page'), 1, 100000) ?? 1;
}

/** The names of time zones that forms offer. */
function zones(): array
{
    return DateTimeZone::listIdentifiers();
}

function zone_field(): string
{
    $zone = given($_POST, 'timezone');
    $known = $zone === 'PST' || in_array($zone, DateTimeZone::listIdentifiers(DateTimeZone::ALL_WITH_BC), true);
    return $known ? $zone : throw new Refusal(400, 'The form is not right', 'The time zone is not one that we know.');
}

/** Day and time of an event: 2008-09-01 and 2008-09-01 19:30:00. */
function moment_fields(): array
{
    $year = whole_field('year', 'Year', 1970, 9999);
    $month = whole_field('month', 'Month', 1, 12);
    $day = whole_field('day', 'Day', 1, 31);
    if (!checkdate($month, $day, $year)) {
        throw new Refusal(400, 'The form is not right', 'There is no such day.');
    }
    $date = sprintf('%04d-%02d-%02d', $year, $month, $day);
    $time = sprintf('%02d:%02d:00', whole_field('hour', 'Hour', 0, 23), whole_field('minute', 'Minute', 0, 59));
    return [$date, "$date $time"];
}

/** Street to country, as the table has them. */
function address_fields(): array
{
    return [
        field('street1', 'Street', 55), field('street2', 'Second line', 55, 0) ?: null, field('city', 'City', 55),
        field('state', 'State', 25), field('zip', 'Zip', 12), field('country', 'Country', 55),
    ];
}
