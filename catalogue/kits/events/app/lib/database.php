<?php
// The database: one connection a page, statements prepared once by the server, transactions that try again.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const DEADLOCK = 1213;
const LOCK_TIMEOUT = 1205;
const DUPLICATE = 1062;

function database(): PDO
{
    static $database = null;
    return $database ??= new PDO(DATABASE, ACCOUNT, '', [
        PDO::ATTR_PERSISTENT => PERSISTENT,
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        PDO::ATTR_EMULATE_PREPARES => false,
    ]);
}

function run(string $sql, array $values = []): PDOStatement
{
    static $prepared = [];
    $statement = $prepared[$sql] ??= database()->prepare($sql);
    foreach (array_values($values) as $index => $value) {
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

/** The first column of the first row. */
function value(string $sql, array $values = []): int|float|string|null
{
    $row = row($sql, $values);
    return $row === null ? null : reset($row);
}

function last_id(): int
{
    return (int) database()->lastInsertId();
}

/** Does all of the work or nothing of it; where two visitors are in each other's way it tries twice more. */
function transaction(callable $work): mixed
{
    for ($try = 1;; $try++) {
        database()->beginTransaction();
        try {
            $result = $work();
            database()->commit();
            return $result;
        } catch (Throwable $error) {
            if (database()->inTransaction()) {
                database()->rollBack();
            }
            if ($try === 3 || !in_array(error_number($error), [DEADLOCK, LOCK_TIMEOUT], true)) {
                throw $error;
            }
            // Not both again at the same moment: 1 to 20 ms.
            usleep(random_int(1_000, 20_000));
        }
    }
}

function error_number(Throwable $error): ?int
{
    return $error instanceof PDOException ? ($error->errorInfo[1] ?? null) : null;
}
