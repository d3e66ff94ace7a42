<?php
// Where calendar programs that only know the host's name begin (RFC 6764).
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

/** @param string[] $parts */
function well_known(array $parts): void
{
    if (array_slice($parts, 1) !== ['caldav']) {
        throw new Refusal(404, 'No such page', 'There is nothing at this address.');
    }
    header('Location: /dav/', true, 301);
}
