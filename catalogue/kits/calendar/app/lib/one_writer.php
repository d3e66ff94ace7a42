<?php
// One writer at a time: whoever changes what is in a calendar keeps everybody else from it until that is done, so that a
// condition under which something is asked for still holds when it is written.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

use Sabre\DAV;

/** So long somebody waits for the calendar and is then told to come again: less than clients wait for an answer. */
const MAX_WAIT_S = 10;

/** Waits until nobody else changes a calendar, and keeps it so until the transaction ends. Gives its number, or null. */
function keep_calendar(string $user, string $uri): ?string
{
    // The first statement of its transaction: a locking read sees what is committed by now, and whatever is read after it
    // is no older.
    $found = row(
        'SELECT id FROM calendars WHERE principaluri = ? AND uri = ? FOR UPDATE WAIT ' . MAX_WAIT_S,
        ["principals/$user", $uri],
    );
    return $found['id'] ?? null;
}

/** sabre/dav looks, writes and counts in statements that stand alone: with this, each PUT and DELETE is one transaction. */
function one_writer(): DAV\ServerPlugin
{
    return new class extends DAV\ServerPlugin {
        public function initialize(DAV\Server $server): void
        {
            // After the password (10), and before anything of the calendar is read and remembered (20).
            $server->subscribeEvent('beforeMethod', $this->begin(...), 15);
            // After all others, and before a status is set: what can't be committed is not confirmed.
            foreach (['afterWriteContent', 'afterCreateFile', 'afterUnbind'] as $done) {
                $server->subscribeEvent($done, $this->commit(...), 1000);
            }
        }

        public function begin(string $method, string $uri): void
        {
            $parts = explode('/', $uri);
            if (!in_array($method, ['PUT', 'DELETE'], true) || $parts[0] !== 'calendars' || count($parts) < 3) {
                return;
            }
            if ($method === 'PUT') {
                // All of it first: while a body comes slowly nobody is to wait for it. PHP keeps it for sabre/dav.
                file_get_contents('php://input');
            }
            database()->beginTransaction();
            if (keep_calendar($parts[1], $parts[2]) === null) {
                // There is nothing to keep, and sabre/dav will say so.
                database()->rollBack();
            }
        }

        public function commit(): void
        {
            if (database()->inTransaction()) {
                database()->commit();
            }
        }
    };
}
