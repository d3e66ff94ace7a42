<?php
// The file store. A name is made of a kind and a number, and never comes from a visitor; files appear whole, by a rename.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

const FOLDERS = ['p' => 'persons', 'pt' => 'personThumbs', 'e' => 'events', 'et' => 'eventThumbs', 'el' => 'eventLits'];

/** Where a file such as e12t.jpg lies, or null when no file has such a name. */
function place_of(string $name): ?string
{
    if (!preg_match('/\A([pe])([1-9][0-9]{0,9})(?:(t?)\.jpg|(l)\.pdf)\z/', $name, $part)) {
        return null;
    }
    $folder = FOLDERS[$part[1] . $part[3] . ($part[4] ?? '')] ?? null;
    $id = (int) $part[2];
    return $folder === null ? null : sprintf('%s/%s/%03d/%03d/%s', FILE_STORE, $folder, $id % 1000, intdiv($id, 1000000) % 1000, $name);
}

/** Files that lie in the store already, but under names that nobody asks for, until it is known whose they are. */
final class Staged
{
    /** @var array<string, string> By kind: picture, thumbnail, leaflet. */
    private array $waiting = [];
    /** @var string[] */
    private array $kept = [];

    public function __construct()
    {
        // Whatever ends this page, what nobody owns goes away.
        register_shutdown_function($this->discard(...));
    }

    public function add_upload(string $kind, string $upload): void
    {
        $this->waiting[$kind] = $this->place($kind);
        @move_uploaded_file($upload, $this->waiting[$kind]) || $this->fail('store an upload');
        @chmod($this->waiting[$kind], 0644);
    }

    public function add_bytes(string $kind, string $bytes): void
    {
        $this->waiting[$kind] = $this->place($kind);
        @file_put_contents($this->waiting[$kind], $bytes) === strlen($bytes) || $this->fail('store a file');
    }

    /** Gives those of the files that there are the names they are found by; a second try begins where the first did. */
    public function keep(array $names): array
    {
        $this->take_back();
        $names = array_intersect_key($names, $this->waiting);
        foreach ($names as $kind => $name) {
            $to = place_of($name);
            is_dir(dirname($to)) || @mkdir(dirname($to), 0755, true) || is_dir(dirname($to)) || $this->fail('make a folder');
            @rename($this->waiting[$kind], $to) || $this->fail('name a file');
            $this->kept[$kind] = $to;
        }
        return $names;
    }

    /** The database has them now. */
    public function done(): void
    {
        $this->waiting = $this->kept = [];
    }

    private function discard(): void
    {
        foreach ([...array_values($this->waiting), ...array_values($this->kept)] as $file) {
            is_file($file) && @unlink($file);
        }
        $this->done();
    }

    private function take_back(): void
    {
        foreach ($this->kept as $kind => $file) {
            @rename($file, $this->waiting[$kind]) || $this->fail('take back a file');
        }
        $this->kept = [];
    }

    private function place(string $kind): string
    {
        $folder = FILE_STORE . '/incoming';
        is_dir($folder) || @mkdir($folder, 0755, true) || is_dir($folder) || $this->fail('make a folder');
        return "$folder/" . bin2hex(random_bytes(12)) . ".$kind";
    }

    private function fail(string $what): never
    {
        $reason = error_get_last()['message'] ?? 'no reason given';
        throw new Trouble(507, 'Your files could not be stored', 'The calendar has no place for files at the moment. Nothing was saved; please try again later.', "could not $what: $reason; " . $this->state());
    }

    /** For the log: PHP's own words name the file, not whether the store is read-only or full. */
    private function state(): string
    {
        $closed = array_filter([FILE_STORE, FILE_STORE . '/incoming'], fn (string $folder): bool => is_dir($folder) && !is_writable($folder));
        return $closed === []
            ? sprintf('%d MB of the disk are free', intdiv((int) @disk_free_space(FILE_STORE), 1_000_000))
            : implode(' and ', $closed) . " can't be written to";
    }
}
