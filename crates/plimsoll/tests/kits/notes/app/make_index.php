<?php
// The index of all pages, in XML.
[, $set, $wanted] = $argv;
$files = glob("$set/pages/*.txt");
if (PHP_SAPI !== "cli" || count($files) !== (int) $wanted) {
    fwrite(STDERR, count($files) . " of $wanted pages are here\n");
    exit(3);
}
$index = new DOMDocument();
$root = $index->appendChild($index->createElement("index"));
$root->setAttribute("made", bin2hex(random_bytes(8)));
foreach ($files as $file) {
    $root->appendChild($index->createElement("page", mb_strtoupper(basename($file, ".txt"))));
}
exit($index->save("$set/index.xml") === false ? 4 : 0);
