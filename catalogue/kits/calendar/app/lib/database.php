<?php
// The database: one connection a request, placeholders for every value, transactions that try again.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const DEADLOCK = 1213;
const LOCK_TIMEOUT = 1205;
// Too many connections, shutting down, a connection that was ended; no server, no answer, gone, lost.
const LOST = [1040, 1053, 1927, 2002, 2003, 2006, 2013];

function database(): PDO
{
    static $database = null;
    // A kept connection whose server is gone is made anew here, after a warning that says nothing which the exception of a
    // second failure would not.
    return $database ??= @new PDO(DATABASE, ACCOUNT, SECRET, [
        PDO::ATTR_PERSISTENT => PERSISTENT,
        PDO::ATTR_TIMEOUT => 5,
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        // sabre/dav is of a time in which every column was a string.
        PDO::ATTR_STRINGIFY_FETCHES => true,
    ]);
}

function run(string $sql, array $values = []): PDOStatement
{
    $statement = database()->prepare($sql);
    foreach (array_values($values) as $index => $value) {
        $kind = match (true) {
            is_int($value) => PDO::PARAM_INT,
            $value === null => PDO::PARAM_NULL,
            default => PDO::PARAM_STR,
        };
        $statement->bindValue($index + 1, $value, $kind);
    }
    $statement->execute();
    return $statement;
}

/** @return array<string, ?string>[] */
function rows(string $sql, array $values = []): array
{
    return run($sql, $values)->fetchAll();
}

/** @return ?array<string, ?string> */
function row(string $sql, array $values = []): ?array
{
    return rows($sql, $values)[0] ?? null;
}

/** Does all of the work or nothing of it; where two wait for each other it tries twice more. */
function transaction(callable $work): mixed
{
    for ($try = 1;; $try++) {
        database()->beginTransaction();
        try {
            $result = $work();
            database()->commit();
            return $result;
        } catch (Throwable $error) {
            undo($error);
            // Who has waited for a lock in vain has waited long enough.
            if ($try === 3 || error_number($error) !== DEADLOCK) {
                throw $error;
            }
            // Not both again at the same moment: 1 to 20 ms.
            usleep(random_int(1_000, 20_000));
        }
    }
}

/** Takes back what was begun and is not committed. Where the connection was lost the database does so by itself. */
function undo(?Throwable $error = null): void
{
    if (($error === null || !is_lost($error)) && database()->inTransaction()) {
        database()->rollBack();
    }
}

/** Whether the database was not there, rather than that it refused something. */
function is_lost(Throwable $error): bool
{
    return in_array(error_number($error), LOST, true);
}

/** Whether others were in the way, and nothing is wrong: later it may be done. */
function is_busy(Throwable $error): bool
{
    return in_array(error_number($error), [DEADLOCK, LOCK_TIMEOUT], true);
}

function error_number(Throwable $error): ?int
{
    return $error instanceof PDOException ? (int) ($error->errorInfo[1] ?? $error->getCode()) : null;
}
