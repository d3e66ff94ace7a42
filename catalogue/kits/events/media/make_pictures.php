<?php
// Pictures that really need their bytes, and a leaflet.
declare(strict_types=1);

/** Hills under a sky, grainy as a photograph in bad light. */
function landscape(int $width, int $height, array $colour): GdImage
{
    $image = imagecreatetruecolor($width, $height);
    for ($x = 0; $x < $width; $x++) {
        $hill = $height * (0.55 + 0.12 * sin($x / 170) + 0.05 * sin($x / 41 + 1));
        for ($y = 0; $y < $height; $y++) {
            $light = $y < $hill ? 1.15 - 0.3 * $y / $height : 0.75 - 0.35 * ($y - $hill) / $height;
            $grain = mt_rand(-34, 34);
            [$red, $green, $blue] = array_map(
                fn (int $part): int => max(0, min(255, (int) ($part * $light + $grain))),
                $y < $hill ? $colour : [$colour[1], $colour[0], $colour[2] >> 1]
            );
            imagesetpixel($image, $x, $y, $red << 16 | $green << 8 | $blue);
        }
    }
    return $image;
}

/** The picture at 120 by 120, as the application makes it. */
function thumbnail(string $name): GdImage
{
    $picture = imagecreatefromjpeg(__DIR__ . "/$name");
    $small = imagecreatetruecolor(120, 120);
    imagecopyresampled($small, $picture, 0, 0, 0, 0, 120, 120, imagesx($picture), imagesy($picture));
    return $small;
}

/** The best JPEG that fits into so many bytes, filled up to exactly that with comments. */
function padded_jpeg(GdImage $image, int $bytes): string
{
    for ($quality = 100; $quality > 0; $quality--) {
        ob_start();
        imagejpeg($image, null, $quality);
        $jpeg = ob_get_clean();
        $missing = $bytes - strlen($jpeg);
        if ($missing === 0 || $missing >= 4) {
            return substr($jpeg, 0, 2) . comments($missing) . substr($jpeg, 2);
        }
    }
    throw new RuntimeException("no quality makes the picture small enough for $bytes bytes");
}

/** JPEG comment segments of so many bytes in all: two of marker, two of length, then text. */
function comments(int $bytes): string
{
    $made = '';
    while ($bytes > 0) {
        $take = min($bytes, 65537);
        // What is left must be nothing, or enough for a segment of its own.
        $take -= $bytes - $take > 0 && $bytes - $take < 4 ? 4 : 0;
        $made .= "\xFF\xFE" . pack('n', $take - 2) . str_repeat('.', $take - 4);
        $bytes -= $take;
    }
    return $made;
}

/** A page that says what it is, and an attachment of noise, so that the file can't be squeezed. */
function leaflet(int $bytes): string
{
    $filler = max(0, $bytes - 1500);
    for ($try = 0; $try < 10; $try++) {
        $pdf = pdf($filler);
        if (strlen($pdf) === $bytes) {
            return $pdf;
        }
        $filler += $bytes - strlen($pdf);
    }
    throw new RuntimeException("no leaflet of $bytes bytes");
}

function pdf(int $filler): string
{
    mt_srand(1);
    $noise = '';
    while (strlen($noise) < $filler) {
        $noise .= pack('V', mt_rand());
    }
    $text = 'BT /F1 24 Tf 72 720 Td (What to expect at the event) Tj ET';
    $objects = [
        '<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(noise.bin) 7 0 R] >> >> >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
        stream('', $text),
        '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
        stream('/Type /EmbeddedFile ', substr($noise, 0, $filler)),
        '<< /Type /Filespec /F (noise.bin) /EF << /F 6 0 R >> >>',
    ];
    $pdf = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
    $table = "0000000000 65535 f \n";
    foreach ($objects as $index => $object) {
        $table .= sprintf("%010d 00000 n \n", strlen($pdf));
        $pdf .= sprintf("%d 0 obj\n%s\nendobj\n", $index + 1, $object);
    }
    $count = count($objects) + 1;
    $start = strlen($pdf);
    return $pdf . "xref\n0 $count\n{$table}trailer\n<< /Size $count /Root 1 0 R >>\nstartxref\n$start\n%%EOF\n";
}

function stream(string $kind, string $bytes): string
{
    return sprintf("<< %s/Length %d >>\nstream\n%s\nendstream", $kind, strlen($bytes), $bytes);
}
