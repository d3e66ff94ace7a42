<?php
// People and their friends.
declare(strict_types=1);

debug_backtrace() || require __DIR__ . '/no_page.php';

function person(string $name): ?array
{
    return row('SELECT p.userid, p.username, p.firstname, p.lastname, p.email, p.telephone, p.imageurl, p.imagethumburl,
        p.summary, p.timezone, a.street1, a.street2, a.city, a.state, a.zip, a.country, a.latitude, a.longitude
        FROM PERSON p JOIN ADDRESS a ON a.addressid = p.ADDRESS_addressid WHERE p.username = ?', [$name]);
}

/** The name as the database has it, when the password is right. */
function person_with(string $name, string $password): ?string
{
    $person = row('SELECT * FROM PERSON WHERE username = ?', [$name]);
    return $person !== null && password_fits($password, $person['password']) ? $person['username'] : null;
}

/** Two kinds: sha256$SALT$HEX of the data set's own accounts, and what password_hash makes. */
function password_fits(string $password, string $kept): bool
{
    if (str_starts_with($kept, 'sha256$')) {
        [, $salt, $hash] = explode('$', $kept);
        return hash_equals($hash, hash('sha256', $salt . $password));
    }
    return password_verify($password, $kept);
}

function pending_requests(string $name): int
{
    return (int) value('SELECT COUNT(*) FROM PERSON_PERSON WHERE friends_username = ? AND is_accepted = 0', [$name]);
}

/** @return array{friends: array, incoming: array, outgoing: array} */
function circle_of(string $name): array
{
    $some = 'SELECT p.username, p.imagethumburl FROM PERSON_PERSON f JOIN PERSON p ON p.username = f.';
    return [
        'friends' => rows("{$some}friends_username WHERE f.Person_username = ? AND f.is_accepted = 1 ORDER BY p.username LIMIT 6", [$name]),
        'incoming' => rows("{$some}Person_username WHERE f.friends_username = ? AND f.is_accepted = 0 ORDER BY p.username", [$name]),
        'outgoing' => rows('SELECT friends_username AS username FROM PERSON_PERSON WHERE Person_username = ? AND is_accepted = 0
            ORDER BY friends_username', [$name]),
    ];
}

/** Asks somebody; asking twice, or a friend, changes nothing. */
function invite(string $from, string $to): void
{
    if ($from === $to || person($to) === null) {
        throw new Refusal(400, 'No such person', 'Nobody of that name can be invited.');
    }
    run('INSERT IGNORE INTO PERSON_PERSON (Person_username, friends_username, is_accepted) VALUES (?, ?, 0)', [$from, $to]);
}

/** From then on both have each other as a friend. */
function accept(string $who, string $asked): void
{
    transaction(function () use ($who, $asked): void {
        $open = run('UPDATE PERSON_PERSON SET is_accepted = 1 WHERE Person_username = ? AND friends_username = ? AND is_accepted = 0', [$asked, $who]);
        if ($open->rowCount() === 0) {
            throw new Refusal(409, 'No such request', 'That person did not ask, or no longer does.');
        }
        run('INSERT INTO PERSON_PERSON (Person_username, friends_username, is_accepted) VALUES (?, ?, 1)
            ON DUPLICATE KEY UPDATE is_accepted = 1', [$who, $asked]);
    });
}

/** Takes back a request, refuses one, or ends a friendship: nothing is left between the two. */
function revoke(string $who, string $other): void
{
    transaction(fn () => run('DELETE FROM PERSON_PERSON WHERE (Person_username = ? AND friends_username = ?) OR (Person_username = ? AND friends_username = ?)',
        [$who, $other, $other, $who]));
}

/** A new person in a new place; false when the name is taken. Their picture's names follow from the number. */
function add_person(array $person, array $place, Staged $files): bool
{
    try {
        transaction(function () use ($person, $place, $files): void {
            run('INSERT INTO PERSON (username, password, firstname, lastname, email, telephone, imageurl, imagethumburl, summary,
                timezone, ADDRESS_addressid) VALUES (?, ?, ?, ?, ?, ?, \'\', \'\', ?, ?, ?)', [...$person, add_address($place)]);
            $id = last_id();
            $names = $files->keep(['picture' => "p$id.jpg", 'thumbnail' => "p{$id}t.jpg"]);
            run('UPDATE PERSON SET imageurl = ?, imagethumburl = ? WHERE userid = ?',
                [$names['picture'] ?? '', $names['thumbnail'] ?? '', $id]);
        });
        $files->done();
        return true;
    } catch (PDOException $error) {
        return error_number($error) === DUPLICATE ? false : throw $error;
    }
}

/** Street to country, latitude, longitude; gives the new row's number. */
function add_address(array $place): int
{
    run('INSERT INTO ADDRESS (street1, street2, city, state, zip, country, latitude, longitude) VALUES (?, ?, ?, ?, ?, ?, ?, ?)', $place);
    return last_id();
}
