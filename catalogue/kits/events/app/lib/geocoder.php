<?php
// Where an address lies, asked of the geocoder. Without an answer nothing is added: a calendar that silently left out
// the places would look faster than it is.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

/** Street to country, with latitude and longitude behind them. */
function located(array $address): array
{
    [$street, , $city, $state, $zip] = $address;
    $question = http_build_query(['street' => $street, 'city' => $city, 'state' => $state, 'zip' => $zip]);
    $patience = stream_context_create(['http' => ['timeout' => GEOCODER_TIMEOUT, 'ignore_errors' => true, 'protocol_version' => 1.1, 'header' => 'Connection: close']]);
    error_clear_last();
    $answer = @file_get_contents(GEOCODER . "?$question", false, $patience);
    $number = '\s*(-?[0-9]{1,3}\.[0-9]+)\s*';
    if ($answer === false || !preg_match("~<Latitude>$number</Latitude>\s*<Longitude>$number</Longitude>~", $answer, $part)) {
        $reason = $answer === false ? (error_get_last()['message'] ?? 'no answer') : 'no position in: ' . substr($answer, 0, 200);
        throw new Trouble(502, 'The address could not be found', 'The service that knows where addresses lie does not answer. Nothing was saved; please try again later.', $reason);
    }
    return [...$address, $part[1], $part[2]];
}
