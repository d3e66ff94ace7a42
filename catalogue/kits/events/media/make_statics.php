<?php
// The scripts, style sheets and small images of the pages: what is in `sources/`, filled up to the sizes that the
// original's have with code that is never called.
declare(strict_types=1);

const SCRIPTS = [
    'base.js' => 71747, 'effects.js' => 38630, 'dragdrop.js' => 31004, 'controls.js' => 29423, 'starrating.js' => 3806,
    'validateform.js' => 9159,
];
const STYLES = ['frame.css' => 2065, 'site.css' => 10250];
// Bytes, width, height, colours of the upper and the lower end.
const IMAGES = [
    'background.png' => [1151, 8, 240, 0xF4F1EA, 0xFFFFFF],
    'feed.png' => [1005, 16, 16, 0xE8862E, 0xC25F12],
    'header.png' => [947, 8, 72, 0x23405C, 0x3A6B94],
    'nav.png' => [295, 4, 28, 0xD9E4EE, 0xBFD2E3],
    'nav_hover.png' => [501, 4, 28, 0xFFFFFF, 0xD9E4EE],
    'corner_tl.gif' => [156, 8, 8, 0xFFFFFF, 0xD9E4EE],
    'corner_tr.gif' => [156, 8, 8, 0xFFFFFF, 0xD9E4EE],
    'corner_bl.gif' => [157, 8, 8, 0xD9E4EE, 0xFFFFFF],
    'corner_br.gif' => [157, 8, 8, 0xD9E4EE, 0xFFFFFF],
    'tile.png' => [365, 4, 32, 0xFFFFFF, 0xEEF3F7],
    'right.png' => [1468, 24, 48, 0x23405C, 0x3A6B94],
    'left.png' => [1466, 24, 48, 0x3A6B94, 0x23405C],
    'star_on.png' => [407, 12, 12, 0xF2B632, 0xD98E04],
    'star_off.png' => [449, 12, 12, 0xDDDDDD, 0xBBBBBB],
];

function make_statics(string $app): void
{
    foreach (SCRIPTS as $name => $bytes) {
        file_put_contents("$app/js/$name", filled_up("js/$name", $bytes, 'curve'));
    }
    foreach (STYLES as $name => $bytes) {
        file_put_contents("$app/css/$name", filled_up("css/$name", $bytes, 'rule'));
    }
    foreach (IMAGES as $name => [$bytes, $width, $height, $upper, $lower]) {
        $image = shade($width, $height, $upper, $lower);
        $made = str_ends_with($name, '.gif') ? padded_gif($image, $bytes) : padded_png($image, $bytes);
        strlen($made) === $bytes || throw new RuntimeException("$name has " . strlen($made) . " bytes");
        file_put_contents("$app/images/$name", $made);
    }
}

function filled_up(string $source, int $bytes, callable $line): string
{
    $text = file_get_contents(__DIR__ . '/sources/' . basename($source));
    for ($number = 1; strlen($text) + strlen($line($number)) + 6 <= $bytes; $number++) {
        $text .= $line($number);
    }
    $missing = $bytes - strlen($text);
    $missing >= 6 || throw new RuntimeException("$source is larger than $bytes bytes");
    return $text . '/*' . str_repeat('.', $missing - 5) . "*/\n";
}

/** A curve for movements, one of many. */
function curve(int $number): string
{
    $bend = 1 + $number / 100;
    return "Events.curves[$number] = function (t) { return Math.pow(t, $bend) + 0.02 * Math.sin($number * Math.PI * t); };\n";
}

function rule(int $number): string
{
    return sprintf(".shade-%d { color: #%06x; background: #%06x; }\n", $number, $number * 7919 % 0x777777, 0xFFFFFF - $number * 4099 % 0x444444);
}

function shade(int $width, int $height, int $upper, int $lower): GdImage
{
    $image = imagecreate($width, $height);
    for ($y = 0; $y < $height; $y++) {
        $part = fn (int $shift): int => (int) ((($upper >> $shift & 255) * ($height - $y) + ($lower >> $shift & 255) * $y) / $height);
        $colour = imagecolorresolve($image, $part(16), $part(8), $part(0));
        imageline($image, 0, $y, $width - 1, $y, $colour);
    }
    return $image;
}

/** With a comment extension of as many bytes as are missing: 4 of them frame up to 255 of text. */
function padded_gif(GdImage $image, int $bytes): string
{
    ob_start();
    imagegif($image);
    $gif = ob_get_clean();
    $text = $bytes - strlen($gif) - 4;
    return substr($gif, 0, -1) . "\x21\xFE" . chr($text) . str_repeat('.', $text) . "\0;";
}

/** With a chunk of text of as many bytes as are missing, before the chunk that ends the file. */
function padded_png(GdImage $image, int $bytes): string
{
    ob_start();
    imagepng($image, null, 9);
    $png = ob_get_clean();
    $text = "tEXtComment\0" . str_repeat('.', $bytes - strlen($png) - 20);
    $chunk = pack('N', strlen($text) - 4) . $text . pack('N', crc32($text));
    return substr($png, 0, -12) . $chunk . substr($png, -12);
}
