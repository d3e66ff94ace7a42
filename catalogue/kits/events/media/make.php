<?php
// Makes the master files of the file store, and the application's static files, with the sizes that the original's have.
// Run it in this folder, with php-gd: `php make.php`. The random numbers are always the same.
declare(strict_types=1);

require __DIR__ . '/make_pictures.php';
require __DIR__ . '/make_statics.php';

mt_srand(2008);
write('person.jpg', padded_jpeg(landscape(1280, 960, [205, 170, 140]), 671520));
write('person_thumb.jpg', padded_jpeg(thumbnail('person.jpg'), 5758));
write('event.jpg', padded_jpeg(landscape(1280, 960, [90, 130, 190]), 669128));
write('event_thumb.jpg', padded_jpeg(thumbnail('event.jpg'), 5895));
write('event.pdf', leaflet(129617));
make_statics(__DIR__ . '/../app');

function write(string $name, string $bytes): void
{
    file_put_contents(__DIR__ . "/$name", $bytes);
    printf("%-20s %7d\n", $name, strlen($bytes));
}
