<?php
// memcached, on one server or several. A page never needs it: whatever it can't give is made from the database, and a
// server that is gone costs a refused connection, not seconds.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const CACHE_TIMEOUT_MS = 200;

function cache(): Memcached
{
    static $cache = null;
    if ($cache !== null) {
        return $cache;
    }
    $cache = PERSISTENT ? new Memcached('events') : new Memcached();
    if ($cache->getServerList() === []) {
        $cache->setOptions([
            Memcached::OPT_DISTRIBUTION => Memcached::DISTRIBUTION_CONSISTENT,
            Memcached::OPT_TCP_NODELAY => true,
            // Before the timeouts: it decides which of them count.
            Memcached::OPT_NO_BLOCK => false,
            Memcached::OPT_CONNECT_TIMEOUT => CACHE_TIMEOUT_MS,
            Memcached::OPT_POLL_TIMEOUT => CACHE_TIMEOUT_MS,
            Memcached::OPT_SEND_TIMEOUT => CACHE_TIMEOUT_MS * 1000,
            Memcached::OPT_RECV_TIMEOUT => CACHE_TIMEOUT_MS * 1000,
            // A server that failed is asked again after a second.
            Memcached::OPT_SERVER_FAILURE_LIMIT => 1,
            Memcached::OPT_RETRY_TIMEOUT => 1,
        ]);
        $cache->addServers(CACHE_SERVERS);
    }
    return $cache;
}

/** What is kept under a key; null when it is not there, or nobody answers. */
function cached(string $key): mixed
{
    $value = cache()->get($key);
    return cache()->getResultCode() === Memcached::RES_SUCCESS ? $value : null;
}

/** A lock that nobody else has, or null. It ends by itself after so many seconds; `answers` says whether memcached did. */
function take_lock(string $key, int $seconds, ?bool &$answers): ?string
{
    $mark = bin2hex(random_bytes(8));
    $taken = cache()->add($key, $mark, $seconds);
    $answers = $taken || cache()->getResultCode() === Memcached::RES_NOTSTORED;
    return $taken ? $mark : null;
}

/** Gives back a lock that is still ours. The exchange fails when somebody else took it after ours had ended. */
function release_lock(string $key, string $mark): void
{
    $found = cache()->get($key, null, Memcached::GET_EXTENDED);
    if (is_array($found) && $found['value'] === $mark) {
        // A time before now: it is gone at once.
        cache()->cas($found['cas'], $key, '', -1);
    }
}
