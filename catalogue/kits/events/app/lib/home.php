<?php
// The home page, kept in memcached: as a whole for strangers, its content for those who are logged in. What is kept is
// served whatever its age; who comes first after it became old makes it anew, behind a lock, after the answer.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const WHOLE = 'Home';
const CONTENT = 'HomeContent';
const FRESH = 'HomeUpdateSema';
const LOCK = 'HomeUpdateLock';
const FRESH_S = 300;
const LOCK_S = 5;
const POLL_MS = 20;
const MAX_POLLS = 25;

const HOME_TITLE = 'Coming events';

function home_content(int $page): string
{
    $count = count_future_events();
    $list = event_list(future_events($page));
    return $list . pager('index.php', [], $page, $count) . '<h3>Tags</h3>' . tag_cloud();
}

/** The page for a stranger, whoever asks, in pieces: between them belongs the visitor's token. */
function whole_pieces(string $content): array
{
    $session = $_SESSION;
    $mark = bin2hex(random_bytes(12));
    unset($_SESSION['user']);
    form_token($mark);
    $html = page(HOME_TITLE, $content);
    form_token(token());
    $_SESSION = $session;
    return explode($mark, $html);
}

function show_home(): void
{
    $stranger = visitor() === null;
    $kept = cached($stranger ? WHOLE : CONTENT);
    if ($kept !== null) {
        echo $stranger ? implode(token(), $kept) : page(HOME_TITLE, $kept);
        refresh_if_old();
        return;
    }
    show(HOME_TITLE, home_content_not_kept());
}

/** Somebody else may be making it: wait for that for half a second at most, else make it, and keep it when allowed. */
function home_content_not_kept(): string
{
    for ($poll = 0; $poll < MAX_POLLS; $poll++) {
        $mark = take_lock(LOCK, LOCK_S, $answers);
        if ($mark !== null) {
            return make_home($mark);
        }
        if (!$answers) {
            break;
        }
        usleep(POLL_MS * 1000);
        $content = cached(CONTENT);
        if ($content !== null) {
            return $content;
        }
    }
    return home_content(1);
}

/** Whoever comes first after the time is up makes it anew, when nobody else is at it. */
function refresh_if_old(): void
{
    if (cached(FRESH) !== null || cache()->getResultCode() !== Memcached::RES_NOTFOUND) {
        return;
    }
    $mark = take_lock(LOCK, LOCK_S, $answers);
    if ($mark !== null) {
        // The visitor has the page; where the server allows it, the connection is free as well.
        function_exists('fastcgi_finish_request') && fastcgi_finish_request();
        try {
            make_home($mark);
        } catch (Throwable $error) {
            // The page is out already, and the next visitor may have more luck.
            error_log("events: the home page could not be made anew: $error");
        }
    }
}

/** Makes both forms and keeps them; gives the content. */
function make_home(string $mark): string
{
    try {
        $content = home_content(1);
        keep_home($content);
        return $content;
    } finally {
        release_lock(LOCK, $mark);
    }
}

function keep_home(string $content): void
{
    if (cache()->set(CONTENT, $content) && cache()->set(WHOLE, whole_pieces($content))) {
        cache()->set(FRESH, 1, FRESH_S);
    }
}
