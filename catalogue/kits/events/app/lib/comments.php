<?php
// What people say about an event, with one to five stars.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

function add_comment(int $event, string $name, string $comment, int $rating): void
{
    transaction(function () use ($event, $name, $comment, $rating): void {
        // The event first: a comment's foreign key takes a shared lock on it, and two visitors who both hold that one wait for each other.
        run('UPDATE SOCIALEVENT SET totalscore = totalscore + ?, numberofvotes = numberofvotes + 1 WHERE socialeventid = ?', [$rating, $event]);
        run('INSERT INTO COMMENTS_RATING (username, socialeventid, comments, ratings, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
            [$name, $event, $comment, $rating, timestamp(), timestamp()]);
    });
}

function comment_list(array $comments): string
{
    $html = '';
    foreach ($comments as $comment) {
        $rating = max(0, min(5, (int) $comment['ratings']));
        $stars = str_repeat('<img src="/images/star_on.png" alt="*" width="12" height="12" />', $rating)
            . str_repeat('<img src="/images/star_off.png" alt="" width="12" height="12" />', 5 - $rating);
        $html .= '<div class="comment"><p class="small">' . person_link($comment['username']) . ', ' . text(substr($comment['created_at'], 0, 10))
            . " $stars</p><p>" . nl2br(text($comment['comments'])) . "</p></div>\n";
    }
    return $html;
}

function comment_form(int $event): string
{
    return '<form class="long" action="/addComment.php" method="post">' . token_field() . hidden('id', $event)
        . text_area('comments', 'Your comment', 2500) . '<label>Stars ' . choice('rating', [1, 2, 3, 4, 5], 4)
        . '</label><p class="missing"></p><input type="submit" name="commentsubmit" value="Comment" /></form>';
}
