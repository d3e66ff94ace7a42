<?php
// Uploads: what a file is, its bytes say, never the browser.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_PIXELS = 12_000_000;
const THUMBNAIL = 120;

/** Where an upload lies, or null when the field was left empty. */
function upload(string $field, string $label): ?string
{
    $file = $_FILES[$field] ?? null;
    if ($file === null || $file['error'] === UPLOAD_ERR_NO_FILE) {
        return null;
    }
    if (!is_int($file['error'])) {
        throw new Refusal(400, 'The form is not right', "$label takes one file.");
    }
    if ($file['error'] === UPLOAD_ERR_INI_SIZE || $file['error'] === UPLOAD_ERR_FORM_SIZE || $file['size'] > MAX_BYTES) {
        throw new Refusal(413, 'That file is too large', "$label may have 2 MB at most.");
    }
    if ($file['error'] !== UPLOAD_ERR_OK || !is_uploaded_file($file['tmp_name'])) {
        $reason = "upload error {$file['error']}";
        $in_vain = in_array($file['error'], [UPLOAD_ERR_NO_TMP_DIR, UPLOAD_ERR_CANT_WRITE, UPLOAD_ERR_EXTENSION], true);
        throw $in_vain
            ? new Trouble(507, 'Your files could not be stored', 'The calendar has no place for uploads at the moment.', $reason)
            : new Refusal(400, 'The upload was cut off', "$label did not arrive whole; please send it again.");
    }
    return $file['tmp_name'];
}

/** Stages a picture and its thumbnail, when there is one. */
function stage_picture(Staged $files, string $field, string $label): void
{
    $upload = upload($field, $label);
    if ($upload !== null) {
        $thumbnail = thumbnail_of($upload, $label);
        $files->add_upload('picture', $upload);
        $files->add_bytes('thumbnail', $thumbnail);
    }
}

function stage_leaflet(Staged $files, string $field, string $label): void
{
    $upload = upload($field, $label);
    if ($upload === null) {
        return;
    }
    $head = (string) file_get_contents($upload, length: 5);
    $tail = (string) file_get_contents($upload, offset: max(0, filesize($upload) - 1024));
    if ($head !== '%PDF-' || !str_contains($tail, '%%EOF')) {
        throw new Refusal(415, 'That is not a PDF', "$label must be a PDF document.");
    }
    $files->add_upload('leaflet', $upload);
}

/** A JPEG of 120 by 120 of a JPEG. */
function thumbnail_of(string $file, string $label): string
{
    $refusal = new Refusal(415, 'That is not a picture', "$label must be a JPEG picture that can be read.");
    $facts = @getimagesize($file);
    if ($facts === false || $facts[2] !== IMAGETYPE_JPEG) {
        throw $refusal;
    }
    if ($facts[0] * $facts[1] > MAX_PIXELS) {
        throw new Refusal(413, 'That picture is too large', "$label may have 12 million pixels at most.");
    }
    $picture = @imagecreatefromjpeg($file);
    if ($picture === false) {
        throw $refusal;
    }
    $small = imagecreatetruecolor(THUMBNAIL, THUMBNAIL);
    imagecopyresampled($small, $picture, 0, 0, 0, 0, THUMBNAIL, THUMBNAIL, imagesx($picture), imagesy($picture));
    ob_start();
    imagejpeg($small, null, 90);
    return (string) ob_get_clean();
}
