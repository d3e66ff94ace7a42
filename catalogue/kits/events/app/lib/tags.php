<?php
// Tags, and how many events have them.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const MAX_TAGS = 10;

/** The cloud of the home page: the fifty most used tags, larger the more they are used. */
function tag_cloud(): string
{
    $tags = array_column(rows('SELECT tag, refcount FROM SOCIALEVENTTAG ORDER BY refcount DESC LIMIT 50'), 'refcount', 'tag');
    ksort($tags, SORT_STRING);
    [$low, $high] = $tags === [] ? [0, 0] : [min($tags), max($tags)];
    $html = '';
    foreach ($tags as $tag => $count) {
        $percent = 100 + (int) (150 * ($count - $low) / max(1, $high - $low));
        $html .= "<span style=\"font-size: $percent%\">" . tag_link((string) $tag, $count) . "</span>\n";
    }
    return "<div class=\"tags\">$html</div>";
}

function times_used(string $tag): int
{
    return (int) value('SELECT refcount FROM SOCIALEVENTTAG WHERE tag = ?', [$tag]);
}

/** The words of a field, each once and in order: two visitors who take them in the same order can't wait for each other. */
function tags_field(string $name): array
{
    $words = preg_split('/[\s,]+/u', field($name, 'Tags', 320), -1, PREG_SPLIT_NO_EMPTY);
    $tags = array_map('strval', array_keys(array_flip(array_map('strtolower', $words))));
    sort($tags, SORT_STRING);
    if ($tags === [] || count($tags) > MAX_TAGS) {
        throw new Refusal(400, 'The form is not right', 'An event needs 1 to ' . MAX_TAGS . ' tags.');
    }
    foreach ($tags as $tag) {
        if (preg_match_all('/./us', $tag) > 30) {
            throw new Refusal(400, 'The form is not right', 'A tag has at most 30 characters.');
        }
    }
    return $tags;
}

/** Counts an event's sorted tags and links them to it. */
function link_tags(int $event, array $tags): void
{
    foreach ($tags as $tag) {
        if (run('UPDATE SOCIALEVENTTAG SET refcount = refcount + 1 WHERE tag = ?', [$tag])->rowCount() === 0) {
            run('INSERT INTO SOCIALEVENTTAG (tag, refcount) VALUES (?, 1) ON DUPLICATE KEY UPDATE refcount = refcount + 1', [$tag]);
        }
        $id = (int) value('SELECT socialeventtagid FROM SOCIALEVENTTAG WHERE tag = ?', [$tag]);
        run('INSERT INTO SOCIALEVENTTAG_SOCIALEVENT (socialeventtagid, socialeventid) VALUES (?, ?)', [$id, $event]);
    }
}
