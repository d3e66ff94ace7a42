//! The catalogue's kit `calendar`, loaded: every object is one that another parser reads, the columns are as sabre/dav
//! makes them, the distributions are the load set's; and the check finds what was lost.

use std::collections::BTreeMap;

use kit::{CheckInputs, Kit, Setup};
use model::record::ConsistencyResult;
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::ical::Object;
use crate::private_server::{PrivateServer, figure};
use crate::shop::{catalogue, check_data, load_into, setup};

/// Name, text, kind, first and last occurrence.
type Row = (String, String, String, Option<u32>, Option<u32>);

struct Loaded {
    kit: Kit,
    setup: Setup,
    server: PrivateServer,
}

/// `None` where MariaDB is missing.
fn loaded() -> Option<Loaded> {
    let server = PrivateServer::start(&[])?;
    let kit = Kit::open(&catalogue(), "calendar").expect("the kit is right");
    let setup = setup(&kit, "quick", &[]);
    let loaded = load_into(&kit, &setup, &server.address("calendar"));
    let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}"));
    for table in ["users", "principals", "calendars", "tickets"] {
        assert_eq!(loaded.rows[table], 25, "{table}");
    }
    Some(Loaded { kit, setup, server })
}

impl Loaded {
    fn conn(&self) -> Conn {
        self.server.connect("calendar")
    }

    fn one(&self, sql: &str) -> f64 {
        figure(&mut self.conn(), sql)
    }

    fn check(&self, inputs: &CheckInputs) -> Vec<ConsistencyResult> {
        check_data(&self.kit, &self.setup, inputs, &self.server.address("calendar"))
            .unwrap_or_else(|problems| panic!("{problems}"))
    }
}

#[test]
fn every_object_of_the_load_set_is_valid_and_its_columns_say_what_it_holds() {
    let Some(loaded) = loaded() else { return };
    let rows: Vec<Row> = loaded
        .conn()
        .query("SELECT uri, calendardata, componenttype, firstoccurence, lastoccurence FROM calendarobjects")
        .expect("the objects");
    let all = rows.len() as f64;
    let (mut events, mut weekly, mut days, mut alarms, mut descriptions) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let one_if = |holds: bool| f64::from(u8::from(holds));
    for (uri, text, kind, first, last) in &rows {
        let object = Object::read(text);
        assert_eq!((&object.kind, object.value("UID")), (kind, uri.strip_suffix(".ics")), "{text}");
        descriptions += one_if(object.value("DESCRIPTION").is_some());
        if kind == "VTODO" {
            assert!((first, last) == (&None, &None) && object.value("DUE").is_some(), "{text}");
            continue;
        }
        events += 1.0;
        let start = object.value("DTSTART").expect("an event begins");
        let day = start.len() == 8;
        days += one_if(day);
        weekly += one_if(object.value("RRULE") == Some("FREQ=WEEKLY"));
        alarms += object.alarms as f64;
        let told = if day { format!("{start}000000") } else { start.replace(['T', 'Z'], "") };
        let seconds =
            format!("SELECT TIMESTAMPDIFF(SECOND, '1970-01-01', '{told}') = {}", first.expect("a first"));
        if events <= 200.0 {
            assert_eq!(loaded.one(&seconds), 1.0, "{seconds} {text}");
        }
        let length = i64::from(last.expect("a last")) - i64::from(first.expect("a first"));
        match object.value("RRULE") {
            Some(_) => assert_eq!(*last, Some(2_145_916_800), "for ever is until 2038"),
            None if day => assert_eq!(length, 86_400, "{text}"),
            None => assert!([1_800, 3_600, 5_400].contains(&length), "{text}"),
        }
    }
    // Shares to within four standard errors.
    let near = |what: &str, count: f64, of: f64, share: f64| {
        let error = (share * (1.0 - share) / of).sqrt();
        assert!((count / of - share).abs() < 4.0 * error, "{what}: {count} of {of}, not {share}");
    };
    near("tasks", all - events, all, 0.1);
    near("weekly", weekly, events, 0.05);
    near("days", days, events, 0.02);
    near("alarms", alarms, events, 0.03);
    near("descriptions", descriptions, all, 0.5);
    let at_work = "SELECT COUNT(*) FROM calendarobjects WHERE componenttype = 'VEVENT' AND lastoccurence - firstoccurence <> 86400 \
         AND (firstoccurence DIV 86400 + 3) % 7 < 5 AND firstoccurence % 86400 BETWEEN 28800 AND 64799";
    near("at work", loaded.one(at_work), events - days, 0.7);
    assert!((250.0..320.0).contains(&(all / 25.0)), "{all} objects in 25 calendars");
}

#[test]
fn what_the_database_adds_is_as_the_application_makes_it() {
    let Some(loaded) = loaded() else { return };
    let nothing = [
        "SELECT COUNT(*) FROM calendarobjects WHERE etag <> MD5(calendardata) OR size <> LENGTH(calendardata)",
        "SELECT COUNT(*) FROM users WHERE password <> CONCAT('sha256$', SUBSTR(password, 8, 16), '$',
           SHA2(CONCAT(SUBSTR(password, 8, 16), username), 256))",
        "SELECT COUNT(*) FROM calendars C WHERE ctag <> 1 + (SELECT COUNT(*) FROM calendarobjects WHERE calendarid = C.id)",
        "SELECT COUNT(*) FROM calendars C JOIN users U USING (id) WHERE principaluri <> CONCAT('principals/', username)",
        "SELECT COUNT(*) FROM tickets WHERE ticket NOT RLIKE '^[0-9a-f]{32}$'",
        "SELECT COUNT(*) FROM calendarobjects WHERE ABS(CAST(firstoccurence AS SIGNED) - 1160524800) > 366 * 86400",
    ];
    for sql in nothing {
        assert_eq!(loaded.one(sql), 0.0, "{sql}");
    }
}

fn inputs(entries: &[(&str, Option<&str>)]) -> CheckInputs {
    let told = entries.iter().map(|(path, state)| ((*path).to_string(), state.map(str::to_string)));
    CheckInputs { told: told.collect(), ..CheckInputs::default() }
}

fn broken(results: &[ConsistencyResult]) -> Vec<&str> {
    results.iter().filter(|result| !result.ok).map(|result| result.sentence.as_str()).collect()
}

#[test]
fn the_check_holds_what_users_were_told_against_the_objects_one_by_one() {
    let Some(loaded) = loaded() else { return };
    let uri = |k: u32| format!("/dav/calendars/user00007/calendar/00000007-0000-4000-8000-{k:012x}.ics");
    let (one, two, three) = (uri(1), uri(2), uri(3));
    let etag: String = loaded
        .conn()
        .query_first(
            "SELECT etag FROM calendarobjects WHERE uri = '00000007-0000-4000-8000-000000000001.ics'",
        )
        .expect("a query")
        .expect("the object is there");
    let never = "/dav/calendars/user00007/calendar/never.ics";
    let results = loaded.check(&inputs(&[(one.as_str(), Some(etag.as_str())), (never, None)]));
    assert!(broken(&results).is_empty() && results.len() >= 7, "{results:#?}");

    let results = loaded.check(&inputs(&[
        (one.as_str(), Some(etag.as_str())),
        (two.as_str(), Some("0123456789abcdef0123456789abcdef")),
    ]));
    let said = broken(&results);
    assert!(said.len() == 1 && said[0].contains(&two["/dav/calendars/".len()..]), "{said:?}");
    assert!(said[0].contains("found 1, expected 2"), "{said:?}");

    let results = loaded.check(&inputs(&[(three.as_str(), None)]));
    let said = broken(&results);
    assert!(said.len() == 1 && said[0].starts_with("deleted objects that are still there"), "{said:?}");

    let calendars =
        [("/dav/calendars/user00007/calendar/", None), ("/dav/calendars/user00007/made/", Some("calendar"))];
    let results = loaded.check(&inputs(&calendars));
    assert_eq!(broken(&results).len(), 2, "{results:#?}");

    // Whatever stands in a name or a tag, the check asks for that and does nothing else.
    let hostile = ("/dav/calendars/user00007/calendar/a'b\\.ics", Some("'); DROP TABLE users; --"));
    let results = loaded.check(&inputs(&[hostile]));
    assert_eq!(broken(&results).len(), 1, "{results:#?}");
    assert_eq!(loaded.one("SELECT COUNT(*) FROM users"), 25.0);

    let counted = |added: u64| CheckInputs {
        counters: BTreeMap::from([("objects added".to_string(), added), ("changes".to_string(), added)]),
        ..CheckInputs::default()
    };
    assert_eq!(broken(&loaded.check(&counted(1))).len(), 2, "an object and a change of the tag are missing");
    a_save_that_was_not_answered_may_have_been_done(&loaded);
    loaded
        .conn()
        .query_drop("UPDATE calendarobjects SET calendardata = CONCAT(calendardata, 'x'), lastmodified = 2000000000 LIMIT 1")
        .expect("an update");
    let said = loaded.check(&CheckInputs::default());
    assert!(broken(&said).iter().any(|text| text.starts_with("changed objects whose tag")), "{said:#?}");
}

/// The server makes up the name of what the web page saves: nobody can tell what it would have been.
fn a_save_that_was_not_answered_may_have_been_done(loaded: &Loaded) {
    let mut conn = loaded.conn();
    let columns = "calendardata, calendarid, lastmodified, etag, size, componenttype, firstoccurence, \
                   lastoccurence";
    let saved = format!(
        "INSERT INTO calendarobjects (uri, {columns}) SELECT 'saved.ics', {columns} FROM calendarobjects LIMIT 1"
    );
    for sql in [saved.as_str(), "UPDATE calendars SET ctag = ctag + 1 LIMIT 1"] {
        conn.query_drop(sql).expect("it is written");
    }
    assert_eq!(broken(&loaded.check(&CheckInputs::default())).len(), 2, "nobody has saved anything");
    let unanswered = BTreeMap::from([("JsonSave".to_string(), 1)]);
    let results = loaded.check(&CheckInputs { unanswered, ..CheckInputs::default() });
    assert!(broken(&results).is_empty(), "{results:#?}");
}

#[test]
fn both_calendar_kits_have_no_fault() {
    let catalogue = catalogue();
    for name in ["calendar", "caldav"] {
        kit::lint(&catalogue, name).unwrap_or_else(|problems| panic!("{name}: {problems}"));
    }
}
