//! Objects of every kind that people have, through each of the server's doors: what comes again, takes a day, rings, is a
//! task; long lines and letters of more than one byte. None of their bytes is changed on the way.

use super::{Calendar, OWNER, calendar_path, feed, object, whole};
use crate::dav::{self, NEW, between, component, matching, rows, tag};
use crate::events::well_formed;

/// Nothing of the data set takes place in it, but what comes again for ever.
const WEEK: [&str; 2] = ["20120604T000000Z", "20120611T000000Z"];
/// Letters of two and of three bytes, and what must be escaped (RFC 5545, 3.3.11).
const LONG: &str = "DESCRIPTION:Straße\\, naïve Fußgänger\\; 日本語の長い説明は一行に収まりません。\\nZweite Zeile: \
                    größer als fünfundsiebzig Bytes";

/// A line of at most 75 bytes, which goes on in the next one; no letter is cut in two.
fn folded(line: &str) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for letter in line.chars() {
        if length + letter.len_utf8() > 75 {
            text += "\r\n ";
            length = 1;
        }
        text.push(letter);
        length += letter.len_utf8();
    }
    text
}

/// One of each kind by its UID.
fn kinds() -> Vec<(&'static str, String)> {
    let event = |uid: &'static str, lines: &[&str]| (uid, component("VEVENT", uid, lines));
    let at = ["DTSTART:20120606T090000Z", "DTEND:20120606T093000Z"];
    let alarm =
        ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Glocke – läutet", "TRIGGER:-PT15M", "END:VALARM"];
    let long = folded(LONG);
    let ringing = [&at[..], &["SUMMARY:Läutet"], &alarm].concat();
    vec![
        event("kind-weekly", &[at[0], at[1], "RRULE:FREQ=WEEKLY", "SUMMARY:Jede Woche"]),
        event("kind-day", &["DTSTART;VALUE=DATE:20120607", "DTEND;VALUE=DATE:20120608", "SUMMARY:Fête"]),
        event("kind-alarm", &ringing),
        event("kind-long", &[at[0], at[1], "SUMMARY:Zürich & Übergabe\\; <am See>", long.as_str()]),
        ("kind-task", component("VTODO", "kind-task", &["DUE:20120606T120000Z", "SUMMARY:Aufräumen"])),
    ]
}

pub(super) fn objects_of_every_kind_come_back_byte_by_byte(calendar: &Calendar) {
    let (mut owner, kinds) = (calendar.user(OWNER), kinds());
    let mut tags = Vec::new();
    for (uid, text) in &kinds {
        assert_eq!(dav::only(text).uid, *uid, "what is put is right");
        let etag = tag(&owner.put(&object(uid), NEW, text).must(201, ""));
        let kept = owner.get(&object(uid)).must(200, "");
        assert_eq!((kept.text(), tag(&kept)), (text.clone(), etag.clone()), "{uid}");
        tags.push(etag);
    }

    let week = rows(&owner.report(&calendar_path(OWNER), &between(WEEK[0], WEEK[1])));
    for (uid, text) in &kinds {
        let found = week.iter().find(|row| row.href == object(uid));
        // In XML without carriage returns.
        let data = found.and_then(|row| row.data.clone()).map(|data| data.replace('\n', "\r\n") + "\r\n");
        let expected = text.contains("BEGIN:VEVENT").then(|| text.clone());
        assert_eq!(data, expected, "{uid} in its week");
    }

    let file = owner.get(&whole(OWNER)).must(200, "END:VCALENDAR");
    let inside = dav::objects(&file.text());
    let atom = owner.get(&feed(OWNER)).must(200, "<title>Zürich &amp; Übergabe; &lt;am See&gt;</title>");
    assert!(well_formed(&atom.text()), "{}", atom.text());
    for (uid, text) in &kinds {
        assert!(inside.iter().any(|object| object.uid == *uid), "{uid} is in the file");
        let own = text.split("PRODID:-//Plimsoll//Tests//EN\r\n").nth(1).expect("behind its head");
        let own = own.strip_suffix("END:VCALENDAR\r\n").expect("before its end");
        assert!(file.has(own), "{uid} in the file: {}", file.text());
        assert!(atom.has(&object(uid)), "{uid} is in the feed");
    }
    for ((uid, _), etag) in kinds.iter().zip(&tags) {
        owner.delete(&object(uid), &matching(etag)).must(204, "");
    }
}
