<?php
// Pieces of HTML. Everything that came from people or the database goes through `text`.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

function text(string|int|float|null $value): string
{
    return htmlspecialchars((string) $value, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
}

/** An address with its arguments, ready for an attribute. */
function address(string $path, array $arguments = []): string
{
    return text($path . ($arguments === [] ? '' : '?' . http_build_query($arguments)));
}

function person_link(string $name): string
{
    return '<a href="' . address('users.php', ['username' => $name]) . '">' . text($name) . '</a>';
}

function event_link(array $event): string
{
    return '<a href="' . address('events.php', ['socialEventID' => $event['socialeventid']]) . '">' . text($event['title']) . '</a>';
}

function tag_link(string $tag, int $count): string
{
    return '<a href="' . address('taggedEvents.php', ['tag' => $tag, 'count' => $count]) . '">' . text($tag) . '</a>';
}

/** A picture of the file store; what has none yet shows nothing. */
function picture(string $file, string $what): string
{
    $source = $file === '' ? '/images/left.png' : address('/fileService.php', ['cache' => 'false', 'file' => $file]);
    return '<img src="' . $source . '" alt="' . text($what) . '" width="120" height="120" />';
}

function hidden(string $name, string|int $value): string
{
    return '<input type="hidden" name="' . text($name) . '" value="' . text($value) . '" />';
}

function token_field(): string
{
    return hidden('csrf_token', form_token());
}

/** A form of one button, with what it sends beside the token. */
function button(string $action, string $label, array $fields, string $into = ''): string
{
    $html = '<form action="' . $action . '" method="post"' . ($into === '' ? '' : ' data-into="' . text($into) . '"') . '>' . token_field();
    foreach ($fields as $name => $value) {
        $html .= hidden($name, $value);
    }
    return $html . '<input type="submit" value="' . text($label) . '" /></form>';
}

function input(string $name, string $label, int $most, string $type = 'text', bool $required = true): string
{
    $more = ($type === 'file' ? '' : " maxlength=\"$most\"") . ($required ? ' required="required"' : '');
    return "<label>$label <input type=\"$type\" name=\"$name\" data-label=\"$label\"$more /></label>\n";
}

function text_area(string $name, string $label, int $most, bool $required = true): string
{
    $more = $required ? ' required="required"' : '';
    return "<label>$label <textarea name=\"$name\" data-label=\"$label\" rows=\"5\" cols=\"40\" maxlength=\"$most\"$more></textarea></label>\n";
}

function choice(string $name, array $values, string|int $chosen): string
{
    $html = "<select name=\"$name\" id=\"$name\">";
    foreach ($values as $value) {
        $html .= '<option value="' . text($value) . '"' . ($value === $chosen ? ' selected="selected"' : '') . '>' . text($value) . '</option>';
    }
    return "$html</select>";
}

function address_inputs(): string
{
    return input('street1', 'Street', 55) . input('street2', 'Second line', 55, 'text', false) . input('city', 'City', 55)
        . input('state', 'State', 25) . input('zip', 'Zip', 12) . input('country', 'Country', 55);
}

function address_text(array $row): string
{
    return text(implode(', ', array_filter([$row['street1'], $row['street2'], $row['city'], $row['state'] . ' ' . $row['zip'], $row['country']])));
}

/** Links to the pages of a list of ten rows each. */
function pager(string $path, array $arguments, int $page, int $count): string
{
    $pages = intdiv($count + 9, 10);
    if ($pages < 2) {
        return '';
    }
    $link = fn (int $number, string $label): string => '<a href="' . address($path, $arguments + ['page' => $number]) . "\">$label</a> ";
    $html = $page > 1 ? $link($page - 1, '&laquo; earlier') : '';
    $html .= "Page $page of $pages ";
    return '<p class="small">' . $html . ($page < $pages ? $link($page + 1, 'later &raquo;') : '') . '</p>';
}
