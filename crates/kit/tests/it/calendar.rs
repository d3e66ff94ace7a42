//! The catalogue's events calendar, loaded: its rows are as the specification says.

use kit::Kit;

use crate::private_server::{PrivateServer, figure};
use crate::shop::{catalogue, load_into, setup};

const DAY_ZERO: &str = "2008-09-01";

#[test]
fn the_quick_calendar_holds_what_the_specification_says() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let kit = Kit::open(&catalogue(), "events").expect("the kit is right");
    let loaded = load_into(&kit, &setup(&kit, "quick", &[]), &server.address("events"))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let rows = |table: &str| loaded.rows[table] as f64;
    for (table, count) in
        [("PERSON", 2500.0), ("ADDRESS", 2500.0), ("SOCIALEVENTTAG", 622.0), ("SOCIALEVENT", 1866.0)]
    {
        assert_eq!(rows(table), count, "{table}");
    }
    // Means of uniform draws, to within four standard errors of as many draws.
    for (table, things, mean, error) in [
        ("PERSON_PERSON", 2500.0, 15.0, 0.16),
        ("SOCIALEVENTTAG_SOCIALEVENT", 1866.0, 4.0, 0.05),
        ("PERSON_SOCIALEVENT", 1866.0, 55.0, 0.61),
        ("COMMENTS_RATING", 1866.0, 10.0, 0.14),
    ] {
        let found = rows(table) / things;
        assert!((found - mean).abs() < 4.0 * error, "{table}: {found} a thing");
    }

    let mut conn = server.connect("events");
    let mut one = |sql: &str| figure(&mut conn, sql);
    // How many of a hundred names in a row have 6 to 11 characters.
    for (length, share) in [(6, 5.0), (7, 8.0), (8, 17.0), (9, 25.0), (10, 24.0), (11, 21.0)] {
        let sql = format!("SELECT COUNT(*) / 25 FROM PERSON WHERE CHAR_LENGTH(username) = {length}");
        assert_eq!(one(&sql), share, "names of {length} characters");
    }
    let nothing = [
        "SELECT COUNT(*) FROM PERSON WHERE username NOT RLIKE '^[a-z][a-z0-9_]+$'",
        "SELECT COUNT(*) FROM PERSON P JOIN SOCIALEVENTTAG T ON T.socialeventtagid = P.userid WHERE tag <> username",
        "SELECT COUNT(*) FROM PERSON WHERE CHAR_LENGTH(summary) NOT BETWEEN 250 AND 2500",
        "SELECT COUNT(*) FROM SOCIALEVENT WHERE CHAR_LENGTH(title) NOT BETWEEN 15 AND 20",
        "SELECT COUNT(*) FROM COMMENTS_RATING WHERE CHAR_LENGTH(comments) NOT BETWEEN 10 AND 1000",
        "SELECT COUNT(*) FROM COMMENTS_RATING WHERE ratings NOT BETWEEN 2 AND 5",
        "SELECT COUNT(*) FROM SOCIALEVENT WHERE LEFT(eventtimestamp, 10) <> eventdate",
        "SELECT COUNT(*) FROM SOCIALEVENT WHERE eventtimestamp NOT RLIKE ' (0[7-9]|1[0-9]|2[01]):(00|15|30|45):00$'",
        "SELECT COUNT(*) FROM SOCIALEVENTTAG T WHERE refcount <> (SELECT COUNT(*) FROM SOCIALEVENTTAG_SOCIALEVENT L
           WHERE L.socialeventtagid = T.socialeventtagid)",
        "SELECT COUNT(*) FROM PERSON_PERSON WHERE Person_username = friends_username",
        "SELECT COUNT(*) FROM PERSON WHERE password <> CONCAT('sha256$', SUBSTR(password, 8, 16), '$',
           SHA2(CONCAT(SUBSTR(password, 8, 16), userid), 256))",
    ];
    for sql in nothing {
        assert_eq!(one(sql), 0.0, "{sql}");
    }
    let days = "SELECT COUNT(*) FROM SOCIALEVENT WHERE DATEDIFF(eventdate, '2008-09-01') BETWEEN 0 AND 540";
    assert_eq!(one(days), 1866.0, "every event is to come on day zero, {DAY_ZERO}");
    let made =
        "SELECT COUNT(*) FROM SOCIALEVENT WHERE DATEDIFF('2008-09-01', createdtimestamp) BETWEEN 0 AND 540";
    assert_eq!(one(made), 1866.0);
    let accepted = one("SELECT AVG(is_accepted) FROM PERSON_PERSON");
    assert!((0.45..0.5).contains(&accepted), "half have accepted, and of an odd number one less: {accepted}");
    // An exponential draw with a mean of a tenth of all tags: the first tenth has 1 - 1/e of the links, less what tags
    // that an event has already cost them.
    let share = one("SELECT (SELECT SUM(refcount) FROM SOCIALEVENTTAG WHERE socialeventtagid <= 62) /
      (SELECT SUM(refcount) FROM SOCIALEVENTTAG)");
    assert!((0.58..0.66).contains(&share), "the first tenth of the tags has {share} of the links");
    let constraints =
        "SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'events'";
    assert_eq!(one(constraints), 5.0);
}

#[test]
fn the_application_and_the_rows_agree_about_day_zero() {
    let catalogue = catalogue();
    let clock = catalogue.text("kits/events/app/lib/clock.php").expect("the file is there");
    let calendar = catalogue.text("kits/events/calendar.lua").expect("the file is there");
    assert!(clock.contains(&format!("DAY_ZERO = '{DAY_ZERO}'")), "{clock}");
    assert!(calendar.contains("day_zero = { year = 2008, month = 9, day = 1 }"), "{calendar}");
}

#[test]
fn the_calendar_has_no_fault() {
    kit::lint(&catalogue(), "events").unwrap_or_else(|problems| panic!("{problems}"));
}
