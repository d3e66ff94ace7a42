<?php
// Makes the pictures of the bookstore, with the sizes of the specification. Run it in this folder, with php-gd:
// `php make.php`. The random numbers are always the same.
declare(strict_types=1);

mt_srand(2008);
write('thumb.gif', cover(5120));
foreach ([5, 10, 50, 100, 250] as $kb) {
    write("image_{$kb}k.gif", cover($kb * 1024));
}
foreach ([
    'tpclogo' => ['The Bookstore', 8721],
    'whats_new' => ["What's New", 1172],
    'best_sellers' => ['Best Sellers', 1164],
    'home' => ['Home', 1333],
    'search' => ['Search', 1347],
    'shopping_cart' => ['Shopping Cart', 1438],
    'order_status' => ['Order Status', 1411],
    'add' => ['Add to Cart', 1697],
    'update' => ['Update', 1559],
    'checkout' => ['Checkout', 1667],
    'refresh' => ['Refresh', 1520],
    'submit' => ['Submit', 1353],
    'display_last_order' => ['Display Last Order', 1501],
] as $name => [$label, $bytes]) {
    write("$name.gif", filled_up(sign($label), $bytes));
}

function write(string $name, string $bytes): void
{
    file_put_contents(__DIR__ . "/$name", $bytes);
    printf("%-24s %7d\n", $name, strlen($bytes));
}

/** A book's cover, grainy, so that it really needs its bytes: the largest one that fits, three wide to four high. */
function cover(int $bytes): string
{
    for ($pixels = $bytes; $pixels > 100; $pixels = (int) ($pixels * 0.97)) {
        $gif = drawn_cover((int) sqrt($pixels * 3 / 4), (int) sqrt($pixels * 4 / 3));
        if (strlen($gif) === $bytes || $bytes - strlen($gif) >= 5) {
            return filled_up($gif, $bytes);
        }
    }
    throw new RuntimeException("no cover of $bytes bytes");
}

function drawn_cover(int $width, int $height): string
{
    $image = imagecreate($width, $height);
    for ($shade = 0; $shade < 64; $shade++) {
        imagecolorallocate($image, 40 + 3 * $shade, 30 + 2 * $shade, 20 + $shade);
    }
    for ($y = 0; $y < $height; $y++) {
        $light = (int) (20 * $y / $height) + ($y > $height / 5 && $y < $height / 3 ? 15 : 0);
        for ($x = 0; $x < $width; $x++) {
            imagesetpixel($image, $x, $y, $light + mt_rand(0, 28));
        }
    }
    return gif($image);
}

/** A button or a heading. */
function sign(string $label): GdImage
{
    $image = imagecreate(9 * strlen($label) + 16, 24);
    imagecolorallocate($image, 52, 73, 110);
    imagestring($image, 5, 8, 4, $label, imagecolorallocate($image, 255, 255, 255));
    return $image;
}

function gif(GdImage $image): string
{
    ob_start();
    imagegif($image);
    return ob_get_clean();
}

/** The picture with a comment before its last byte, so that it has just so many bytes. */
function filled_up(GdImage|string $picture, int $bytes): string
{
    $gif = is_string($picture) ? $picture : gif($picture);
    $made = substr($gif, 0, -1) . comment($bytes - strlen($gif)) . "\x3B";
    if (strlen($made) !== $bytes) {
        throw new RuntimeException("a picture of " . strlen($gif) . " bytes can't be made one of $bytes");
    }
    return $made;
}

/** A GIF comment of so many bytes in all: two that say what it is, blocks with a length byte each, and an empty block. */
function comment(int $bytes): string
{
    if ($bytes === 0) {
        return '';
    }
    $made = "\x21\xFE";
    for ($left = $bytes - 3; $left > 0; $left -= $take) {
        // What is left must be nothing, or enough for a length byte and one more.
        $take = min($left, 256) - ($left === 257 ? 1 : 0);
        $made .= chr($take - 1) . str_repeat('.', $take - 1);
    }
    return "$made\0";
}
