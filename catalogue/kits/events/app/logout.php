<?php
declare(strict_types=1);

require __DIR__ . '/lib/app.php';

begin();
log_out();
go('/index.php');
