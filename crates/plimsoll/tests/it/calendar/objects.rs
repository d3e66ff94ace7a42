//! Objects by CalDAV: put under conditions, read, listed, asked for by their time, deleted; and calendars.

use super::{Calendar, OWNER, calendar_path, object};
use crate::dav::{self, LISTED, NEW, Row, between, component, event, matching, multiget, rows, tag};

/// A week in which nothing of the data set takes place but what comes again for ever.
const WEEK: [&str; 2] = ["20120305T000000Z", "20120312T000000Z"];

pub(super) fn one_is_written_under_conditions_and_read_as_it_was(calendar: &Calendar) {
    let (mut owner, path) = (calendar.user(OWNER), object("breakfast"));
    let text = event("breakfast", "20061012T070000Z", "20061012T080000Z", "Breakfast\\, early");
    let etag = tag(&owner.put(&path, NEW, &text).must(201, ""));
    owner.put(&path, NEW, &text).must(412, "If-None-Match");
    let kept = owner.get(&path).must(200, "");
    assert_eq!((kept.text(), tag(&kept)), (text.clone(), etag.clone()), "as it was put, with its tag");
    assert!(
        kept.header("content-type").is_some_and(|kind| kind.starts_with("text/calendar")),
        "{}",
        kept.head
    );
    let known = owner.ask("GET", &path, &format!("If-None-Match: {etag}\r\n"), "");
    assert_eq!((known.status, known.body.len()), (304, 0));

    let later = text.replace("SEQUENCE:0", "SEQUENCE:1").replace("T080000Z", "T083000Z");
    let changed = tag(&owner.put(&path, &matching(&etag), &later).must(204, ""));
    assert_ne!(changed, etag);
    owner.put(&path, &matching(&etag), &text).must(412, "If-Match");
    owner.put(&object("never"), &matching(&etag), &text).must(412, "If-Match");
    owner.put(&path, &matching(&changed), "This is no calendar.").must(415, "");
    let kept = owner.get(&path).must(200, "");
    assert_eq!((kept.text(), tag(&kept)), (later, changed.clone()), "what was refused changed nothing");

    owner.delete(&path, &matching(&etag)).must(412, "If-Match");
    owner.delete(&path, &matching(&changed)).must(204, "");
    owner.get(&path).must(404, "");
    owner.delete(&path, "").must(404, "");
}

pub(super) fn a_week_has_its_events_and_those_that_come_again(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    // Both are Wednesdays.
    let lunch = event("lunch", "20120307T120000Z", "20120307T130000Z", "Lunch\\; outside");
    let tea = ["DTSTART:20061004T150000Z", "DTEND:20061004T153000Z", "RRULE:FREQ=WEEKLY", "SUMMARY:Tea"];
    let tea = component("VEVENT", "tea", &tea);
    let task = component("VTODO", "tidy", &["DUE:20120307T120000Z", "SUMMARY:Tidy up"]);
    let etag = tag(&owner.put(&object("lunch"), NEW, &lunch).must(201, ""));
    owner.put(&object("tea"), NEW, &tea).must(201, "");
    owner.put(&object("tidy"), NEW, &task).must(201, "");

    let week = rows(&owner.report(&calendar_path(OWNER), &between(WEEK[0], WEEK[1])));
    let found = |uid: &str| week.iter().find(|row| row.href == object(uid));
    assert_eq!(found("lunch").and_then(|row| row.etag.clone()), Some(etag.clone()), "{week:#?}");
    assert!(found("tea").is_some() && found("tidy").is_none(), "{week:#?}");
    for Row { href, data, .. } in &week {
        let data = data.as_deref().expect("each comes whole");
        let only = dav::only(data);
        assert!(only.kind == "VEVENT" && *href == object(&only.uid), "{href}: {data}");
        assert!(data.contains("RRULE:") || only.uid == "lunch", "of 2012 there is nothing else: {data}");
    }
    let before = rows(&owner.report(&calendar_path(OWNER), &between("20060901T000000Z", "20061001T000000Z")));
    assert!(before.iter().all(|row| ![object("lunch"), object("tea")].contains(&row.href)), "{before:#?}");

    let both = rows(&owner.report(&calendar_path(OWNER), &multiget(&[&object("lunch"), &object("tidy")])));
    let texts = both.iter().map(|row| row.data.clone().unwrap_or_default());
    let texts: Vec<String> = texts.map(|text| text.replace('\n', "\r\n") + "\r\n").collect();
    assert_eq!(
        (&texts, both[0].etag.as_deref()),
        (&vec![lunch, task], Some(etag.as_str())),
        "in XML without CR"
    );
    // What this version of sabre/dav does not have it refuses, as the README says.
    owner.report(&calendar_path(OWNER), &dav::changes("")).must(403, "supported-report");
}

pub(super) fn a_calendar_is_made_and_goes_with_all_that_is_in_it(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    let home = format!("/dav/calendars/{}/", dav::name(OWNER));
    let made = format!("{home}made/");
    owner.make_calendar(&made, "Made &lt;here&gt;").must(201, "");
    owner.make_calendar(&made, "Again").must(405, "");
    let task = component("VTODO", "wash", &["DUE:20120307T120000Z", "SUMMARY:Wash up"]);
    let path = format!("{made}wash.ics");
    owner.put(&path, NEW, &task).must(201, "");

    let listed =
        |owner: &mut dav::Dav| rows(&owner.properties(&home, 1, "<D:displayname/><D:resourcetype/>"));
    let there = listed(&mut owner);
    let row = there.iter().find(|row| row.href == made).expect("it is listed");
    assert_eq!(dav::element(&row.xml, "displayname").map(dav::plain).as_deref(), Some("Made <here>"));
    assert!(dav::element(&row.xml, "calendar").is_some(), "it is a calendar: {}", row.xml);
    let inside = rows(&owner.properties(&made, 1, LISTED));
    let length =
        inside.iter().find(|row| row.href == path).and_then(|row| dav::element(&row.xml, "getcontentlength"));
    assert_eq!((inside.len(), length), (2, Some(task.len().to_string().as_str())), "{inside:#?}");

    owner.delete(&made, "").must(204, "");
    owner.get(&path).must(404, "");
    assert!(listed(&mut owner).iter().all(|row| row.href != made), "it is gone");
}
