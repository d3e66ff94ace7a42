//! What users of both calendar kits send, read by a parser that is none of ours, and each value by its type: every kind of
//! object occurs, and keeps what RFC 5545 says of it. A grammar alone would take `DTSTART:20070230` too.

use std::collections::BTreeMap;

use icalendar::parser::{Component as Parsed, Property, read_components, unfold};
use icalendar::{Calendar, CalendarDateTime, Component, DatePerhapsTime, Event, Todo};

use crate::calendar_kit::{manifest, observe, scenario};
use crate::dav_server::{DavServer, Dialect};

const USERS: u32 = 6;
/// As many as [`scenario`] tells the session.
const ACCOUNTS: u32 = 18;
const OBJECTS: u32 = 20;
/// What a component must have once, and what it may have once: RFC 5545, 3.6.1 and 3.6.2. What may be there more than once
/// no user sends.
const MUST: [&str; 3] = ["UID", "DTSTAMP", "SUMMARY"];
const MAY: [&str; 6] = ["CREATED", "LAST-MODIFIED", "SEQUENCE", "CLASS", "DESCRIPTION", "STATUS"];
const EVENT: [&str; 4] = ["DTSTART", "DTEND", "RRULE", "TRANSP"];
const TASK: [&str; 1] = ["DUE"];

/// The files that a kit's session can ask for, its own and those that it borrows.
fn modules(kit: &model::KitManifest) -> Vec<String> {
    let folder = format!("{}/../../catalogue/kits/{}", env!("CARGO_MANIFEST_DIR"), kit.name);
    let files = std::fs::read_dir(folder).expect("the kit is there").flatten();
    let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".lua")?.to_string()));
    let own = names.filter(|name| !["session", "data", "check", "files"].contains(&name.as_str()));
    own.chain(kit.borrowed().map(|one| one.module.to_string())).collect()
}

/// What is put by users of a kit in that number of seconds.
fn bodies(kit: &str, mix: Option<&str>, dialect: Dialect, seconds: f64) -> Vec<String> {
    let kit = manifest(kit);
    let sessions = mix.map_or_else(|| kit.sessions(), |name| kit.mixes[name].sessions());
    let modules = modules(&kit);
    let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
    let scenario = scenario(&kit, &modules, sessions.resolve().expect("weights"), OBJECTS);
    let (seen, _) = observe(scenario, DavServer::new(dialect, ACCOUNTS, OBJECTS), USERS, seconds);
    assert!(seen.listener.evidence.is_empty(), "{:?}", &seen.listener.evidence[..1]);
    let log = seen.log.borrow();
    let puts = log.iter().filter(|(_, text)| text.starts_with("PUT "));
    puts.filter_map(|(_, text)| text.split_once("\r\n\r\n")).map(|(_, body)| body.to_string()).collect()
}

/// How many objects of each kind there are: an object may be of several.
#[derive(Default)]
struct Kinds(BTreeMap<&'static str, usize>);

impl Kinds {
    fn of(bodies: &[String]) -> Kinds {
        let mut kinds = Kinds::default();
        for text in bodies {
            lines_are_right(text, &mut kinds);
            parts_are_right(text, &mut kinds);
            values_are_right(text, &mut kinds);
        }
        kinds
    }

    fn count(&mut self, kind: &'static str, is_one: bool) {
        *self.0.entry(kind).or_default() += usize::from(is_one);
    }

    #[track_caller]
    fn expect(&self, least: usize, kinds: &[&str]) {
        for kind in kinds {
            let found = self.0.get(kind).copied().unwrap_or(0);
            assert!(found >= least, "{found} of kind {kind}: {:?}", self.0);
        }
    }
}

/// RFC 5545, 3.1.
fn lines_are_right(text: &str, kinds: &mut Kinds) {
    let lines = text.strip_suffix("\r\n").unwrap_or_else(|| panic!("its last line has no end: {text:?}"));
    for line in lines.split("\r\n") {
        let whole = !line.trim().is_empty() && !line.contains(|c: char| c.is_control());
        assert!(whole && line.len() <= 75, "{line:?} in {text}");
    }
    kinds.count("folded", lines.contains("\r\n "));
}

#[track_caller]
fn one_at_most(properties: &[Property<'_>], known: &[&[&str]], text: &str) {
    for property in properties {
        let name = property.name.as_str();
        assert!(known.iter().any(|names| names.contains(&name)), "{name} has no place here: {text}");
        let count = properties.iter().filter(|other| other.name == name).count();
        assert_eq!(count, 1, "{name} is there {count} times: {text}");
    }
}

#[track_caller]
fn value<'a>(component: &'a Parsed<'_>, name: &str, text: &str) -> &'a str {
    let found = component.find_prop(name).map(|property| property.val.as_str());
    found.filter(|value| !value.is_empty()).unwrap_or_else(|| panic!("{name} is missing: {text}"))
}

/// One calendar of one event or task, each part with what it must have and nothing else.
fn parts_are_right(text: &str, kinds: &mut Kinds) {
    let unfolded = unfold(text);
    let roots = read_components(&unfolded).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [calendar] = &roots[..] else { panic!("{} roots: {text}", roots.len()) };
    // RFC 4791, 4.1: an object of a calendar has no method.
    one_at_most(&calendar.properties, &[&["VERSION", "PRODID", "CALSCALE"]], text);
    assert!(calendar.name == "VCALENDAR" && value(calendar, "VERSION", text) == "2.0", "{text}");
    value(calendar, "PRODID", text);
    let [component] = &calendar.components[..] else { panic!("one component: {text}") };
    let own: &[&str] = match component.name.as_str() {
        "VEVENT" => &EVENT,
        "VTODO" => &TASK,
        other => panic!("{other} is no kind of object that users have: {text}"),
    };
    one_at_most(&component.properties, &[&MUST, &MAY, own], text);
    for name in MUST {
        value(component, name, text);
    }
    for name in ["SUMMARY", "DESCRIPTION"] {
        // As it was sent: the parser has taken the escapes away.
        let line = unfolded.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let plain = line
            .unwrap_or_default()
            .replace("\\\\", "")
            .replace("\\,", "")
            .replace("\\;", "")
            .replace("\\n", "");
        assert!(!plain.contains([',', ';', '\\']), "{name} is not escaped as texts are (3.3.11): {text}");
    }
    kinds.count("task", component.name == "VTODO");
    kinds.count("described", component.find_prop("DESCRIPTION").is_some());
    kinds.count("escaped", text.contains("\\, "));
    for alarm in &component.components {
        // 3.6.6: what an alarm that is shown must have.
        one_at_most(&alarm.properties, &[&["ACTION", "DESCRIPTION", "TRIGGER"]], text);
        assert!(alarm.name == "VALARM" && value(alarm, "ACTION", text) == "DISPLAY", "{text}");
        value(alarm, "DESCRIPTION", text);
        let before =
            value(alarm, "TRIGGER", text).strip_prefix("-PT").and_then(|rest| rest.strip_suffix('M'));
        assert!(before.is_some_and(|minutes| minutes.parse::<u32>().is_ok()), "{text}");
    }
    kinds.count("alarm", !component.components.is_empty());
}

/// Days and moments that there are, ends behind their beginnings, words of their lists.
fn values_are_right(text: &str, kinds: &mut Kinds) {
    let calendar: Calendar = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    calendar.events().for_each(|event| event_is_right(event, text, kinds));
    calendar.todos().for_each(|todo| todo_is_right(todo, text));
    assert_eq!(calendar.events().count() + calendar.todos().count(), 1, "{text}");
}

/// What events and tasks share; a property that is not there can't be wrong.
fn shared_is_right(component: &impl Component, text: &str) {
    assert!(component.get_timestamp().is_some(), "DTSTAMP is no moment in UTC: {text}");
    let right = [
        ("CREATED", component.get_created().is_some()),
        ("LAST-MODIFIED", component.get_last_modified().is_some()),
        ("SEQUENCE", component.get_sequence().is_some()),
        ("CLASS", component.get_class().is_some()),
    ];
    for (name, right) in right {
        assert!(right || component.property_value(name).is_none(), "{name} is none: {text}");
    }
}

fn event_is_right(event: &Event, text: &str, kinds: &mut Kinds) {
    shared_is_right(event, text);
    let status = event.get_status().is_some() || event.property_value("STATUS").is_none();
    let shown = event.property_value("TRANSP").is_none_or(|word| ["OPAQUE", "TRANSPARENT"].contains(&word));
    assert!(status && shown, "{text}");
    let span = (event.get_start().expect("a beginning"), event.get_end().expect("an end"));
    let (ordered, all_day) = match span {
        (DatePerhapsTime::Date(start), DatePerhapsTime::Date(end)) => (start < end, true),
        (
            DatePerhapsTime::DateTime(CalendarDateTime::Utc(start)),
            DatePerhapsTime::DateTime(CalendarDateTime::Utc(end)),
        ) => (start < end, false),
        (start, end) => panic!("{start:?} to {end:?}: two days, or two moments in UTC: {text}"),
    };
    assert!(ordered, "it ends before it begins: {text}");
    // A day without its parameter would be a moment that is none (3.8.2.4).
    assert_eq!(text.matches(";VALUE=DATE:").count(), if all_day { 2 } else { 0 }, "{text}");
    let rule = event.property_value("RRULE");
    assert!(rule.is_none_or(|rule| rule == "FREQ=WEEKLY"), "{text}");
    kinds.count("all day", all_day);
    kinds.count("weekly", rule.is_some());
}

fn todo_is_right(todo: &Todo, text: &str) {
    shared_is_right(todo, text);
    assert!(todo.get_status().is_some() || todo.property_value("STATUS").is_none(), "{text}");
    let due = todo.get_due();
    assert!(matches!(due, Some(DatePerhapsTime::DateTime(CalendarDateTime::Utc(_)))), "{due:?}: {text}");
}

#[test]
fn every_object_that_is_put_is_one_that_another_program_takes() {
    let all = ["task", "all day", "weekly", "alarm", "described", "escaped", "folded"];
    let of_2006 = bodies("calendar", None, Dialect::Sabre, 2.0);
    assert!(of_2006.len() > 500, "{} objects", of_2006.len());
    Kinds::of(&of_2006).expect(5, &all);
    let of_2007 = bodies("calendar", Some("stress2007"), Dialect::Sabre, 100.0);
    assert!(of_2007.len() > 200, "{} objects", of_2007.len());
    Kinds::of(&of_2007).expect(5, &["task", "weekly", "described", "folded"]);
    for dialect in [Dialect::Radicale, Dialect::Sabre] {
        let of_today = bodies("caldav", None, dialect, 400.0);
        assert!(of_today.len() > 100, "{} objects", of_today.len());
        Kinds::of(&of_today).expect(1, &all);
    }
}

#[test]
fn an_object_that_no_program_should_take_is_told() {
    let text = |lines: &[&str]| {
        let head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:u", "SUMMARY:s"];
        let end = ["END:VEVENT", "END:VCALENDAR"];
        let all = head.iter().chain(lines).chain(&end);
        all.map(|line| format!("{line}\r\n")).collect::<String>()
    };
    let stamp = "DTSTAMP:20061011T120000Z";
    let right = [stamp, "DTSTART:20061011T120000Z", "DTEND:20061011T123000Z"];
    Kinds::of(&[text(&right)]);
    let folded = format!("DESCRIPTION:{}", "x".repeat(70));
    let wrong: [&[&str]; 9] = [
        &[stamp, "DTSTART:20070230T120000Z", "DTEND:20070230T123000Z"],
        &[stamp, "DTSTART:20061011T123000Z", "DTEND:20061011T120000Z"],
        &[stamp, "DTSTART;VALUE=DATE:20061011", "DTEND:20061011T123000Z"],
        &[stamp, "DTSTART:20061011", "DTEND:20061012"],
        &[stamp, right[1], right[2], "DUE:20061011T123000Z"],
        &[stamp, stamp, right[1], right[2]],
        &[stamp, right[1], right[2], "DESCRIPTION:one, two"],
        &[stamp, right[1], right[2], folded.as_str()],
        &right[1..],
    ];
    for lines in wrong {
        let text = text(lines);
        let told = std::panic::catch_unwind(|| Kinds::of(std::slice::from_ref(&text))).is_err();
        assert!(told, "{text}");
    }
}
