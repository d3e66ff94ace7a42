<?php
// CalDAV: sabre/dav as its own example sets it up, with our users and one writer at a time.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

require __DIR__ . '/one_writer.php';

use Sabre\CalDAV;
use Sabre\DAV;
use Sabre\DAVACL;

function dav(): void
{
    load_sabre();
    $principals = new DAVACL\PrincipalBackend\PDO(database());
    $calendars = new CalDAV\Backend\PDO(database());
    DAV\Server::$exposeVersion = false;
    $server = new DAV\Server([
        new CalDAV\Principal\Collection($principals),
        new CalDAV\CalendarRootNode($principals, $calendars),
    ]);
    $server->setBaseUri('/dav/');
    $server->addPlugin(new DAV\Auth\Plugin(login(), REALM));
    $server->addPlugin(one_writer());
    $server->addPlugin(new DAVACL\Plugin());
    $server->addPlugin(new CalDAV\Plugin());
    try {
        // What it refuses it answers itself; what else is thrown comes through.
        $server->exec();
        undo();
    } catch (Throwable $error) {
        undo($error);
        // So sabre/vobject calls dates and rules that it can't read.
        throw $error instanceof LogicException
            ? new Refusal(400, 'That can\'t be read', 'The calendar object is not valid: ' . $error->getMessage())
            : $error;
    }
}

/** In here, so that the class is only looked for once the library can be found. */
function login(): DAV\Auth\Backend\AbstractBasic
{
    return new class extends DAV\Auth\Backend\AbstractBasic {
        protected function validateUserPass($username, #[SensitiveParameter] $password)
        {
            return password_is_right((string) $username, (string) $password);
        }
    };
}
