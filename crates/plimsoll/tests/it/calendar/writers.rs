//! Many who change something at the same moment, by whichever door: one of them is told that it did, and the others that
//! somebody was faster.

use std::sync::Barrier;
use std::thread;

use serde_json::json;

use super::{Calendar, OWNER, calendar_path, object, web_client};
use crate::browser::Page;
use crate::dav::{Dav, NEW, element, event, matching, tag};

const WRITERS: usize = 4;
const ROUNDS: usize = 12;

/// The status of an answer, and the tag that was told.
type Told = (u16, Option<String>);

fn outcome_of(page: &Page) -> Told {
    (page.status, page.header("etag").map(str::to_string))
}

/// What each of them is told; they begin together, and each knows its number.
fn at_once(calendar: &Calendar, write: impl Fn(&mut Dav, usize) -> Told + Sync) -> Vec<Told> {
    let ready = Barrier::new(WRITERS);
    let mut writers: Vec<Dav> = (0..WRITERS).map(|_| calendar.user(OWNER)).collect();
    thread::scope(|scope| {
        let (ready, write) = (&ready, &write);
        let begun = writers.iter_mut().enumerate().map(|(number, writer)| {
            scope.spawn(move || {
                ready.wait();
                write(writer, number)
            })
        });
        // All of them, before the first is waited for.
        let begun: Vec<_> = begun.collect();
        begun.into_iter().map(|one| one.join().expect("it is answered")).collect()
    })
}

/// The tag that the one who won was told: none where it deleted the object.
#[track_caller]
fn one_wins(answers: &[Told]) -> Option<String> {
    let won: Vec<&Told> = answers.iter().filter(|(status, _)| (200..300).contains(status)).collect();
    let refused = answers.iter().filter(|(status, _)| *status == 412).count();
    let [(_, etag)] = &won[..] else { panic!("{} were told that they did it: {answers:?}", won.len()) };
    assert_eq!(refused, WRITERS - 1, "{answers:?}");
    etag.clone()
}

/// How often the calendar was changed, as sabre/dav counts it.
#[track_caller]
fn changes(owner: &mut Dav) -> u64 {
    let page = owner.properties(&calendar_path(OWNER), 0, "<S:getctag/>");
    let count = element(&page.text(), "getctag").and_then(|count| count.parse().ok());
    count.unwrap_or_else(|| panic!("{}", page.text()))
}

pub(super) fn of_many_who_change_an_object_one_is_told_that_it_did(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    let (before, mut expected) = (changes(&mut owner), 0);
    for round in 0..ROUNDS {
        let uid = format!("race-{round}");
        let path = object(&uid);
        let text = |what: &str, number: usize| {
            event(&uid, "20061015T070000Z", "20061015T080000Z", &format!("{what} {number}"))
        };
        let made =
            at_once(calendar, |writer, number| outcome_of(&writer.put(&path, NEW, &text("Made", number))));
        let made = one_wins(&made).expect("a tag");
        assert_eq!(tag(&owner.get(&path).must(200, "SUMMARY:Made ")), made);

        let saved = json!({ "uri": format!("{uid}.ics"), "etag": made, "summary": "Saved",
            "start": "2006-10-15T09:00:00Z", "end": "2006-10-15T10:00:00Z" });
        let changed = at_once(calendar, |writer, number| match number % 2 {
            0 => outcome_of(&writer.put(&path, &matching(&made), &text("Put", number))),
            _ => web_client::saves(writer, &saved),
        });
        let changed = one_wins(&changed).expect("a tag");
        assert_eq!(tag(&owner.get(&path).must(200, "")), changed);

        let last = at_once(calendar, |writer, number| match number % 2 {
            0 => outcome_of(&writer.put(&path, &matching(&changed), &text("Kept", number))),
            _ => outcome_of(&writer.delete(&path, &matching(&changed))),
        });
        expected += 3;
        match one_wins(&last) {
            None => _ = owner.get(&path).must(404, ""),
            Some(kept) => {
                assert_eq!(tag(&owner.get(&path).must(200, "SUMMARY:Kept ")), kept);
                owner.delete(&path, &matching(&kept)).must(204, "");
                expected += 1;
            }
        }
    }
    assert_eq!(changes(&mut owner) - before, expected, "each is counted once");
}
