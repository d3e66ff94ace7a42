//! The web client's calls: JSON, with a name and its password.

use serde_json::{Value as Json, json};

use super::{Calendar, OWNER, calendar_path, object};
use crate::browser::Page;
use crate::dav::{self, Dav};

const JSON: &str = "Content-Type: application/json\r\n";

/// A call without parameters, whatever becomes of it.
pub(super) fn asks(who: &mut Dav, method: &str) -> Page {
    who.ask("POST", "/json-rpc", JSON, &json!({ "id": 7, "method": method }).to_string())
}

/// The status of a call, and its answer.
#[track_caller]
fn call(who: &mut Dav, method: &str, params: &Json) -> (u16, Json) {
    let body = json!({ "id": 7, "method": method, "params": params }).to_string();
    let page = who.ask("POST", "/json-rpc", JSON, &body);
    let parsed = serde_json::from_slice(&page.body);
    let answer: Json = parsed.unwrap_or_else(|error| panic!("{error}\n{}\n{}", page.head, page.text()));
    assert_eq!(answer["id"], 7, "{answer:#}");
    (page.status, answer)
}

/// The result of a call that is answered.
#[track_caller]
fn result(who: &mut Dav, method: &str, params: &Json) -> Json {
    let (status, mut answer) = call(who, method, params);
    assert!(status == 200 && answer["error"].is_null(), "{status}: {answer:#}");
    answer["result"].take()
}

/// The code of a call that is refused: in its status and in its answer.
#[track_caller]
fn code(who: &mut Dav, method: &str, params: &Json) -> u16 {
    let (status, answer) = call(who, method, params);
    assert!(answer["result"].is_null() && answer["error"]["message"].is_string(), "{answer:#}");
    assert_eq!(answer["error"]["code"], status, "{answer:#}");
    status
}

/// Saves an event: the status, and the tag that is told.
#[track_caller]
pub(super) fn saves(who: &mut Dav, event: &Json) -> (u16, Option<String>) {
    let (status, answer) = call(who, "saveEvent", &json!({ "calendar": "calendar", "event": event }));
    (status, answer["result"]["etag"].as_str().map(str::to_string))
}

/// What lets everybody read the calendar.
pub(super) fn ticket(owner: &mut Dav) -> String {
    let found = result(owner, "getTicket", &json!({ "calendar": "calendar" }));
    let ticket = found["ticket"].as_str().expect("a ticket").to_string();
    assert!(ticket.len() == 32 && ticket.bytes().all(|byte| byte.is_ascii_hexdigit()), "{ticket}");
    ticket
}

pub(super) fn calls_say_what_calendars_there_are(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    let all = result(&mut owner, "getCalendars", &json!({}));
    let [own] = &all.as_array().expect("a list")[..] else { panic!("one calendar: {all:#}") };
    assert_eq!((&own["calendar"], &own["name"]), (&json!("calendar"), &json!("Calendar")), "{own:#}");

    // An afternoon a week for five weeks, from a time in which nothing else is the owner's alone.
    let five_weeks = json!({ "calendar": "calendar", "start": "2012-03-05", "end": "2012-04-09" });
    let events = result(&mut owner, "getEvents", &five_weeks);
    let events = events.as_array().expect("a list");
    let of = |title: &str| events.iter().filter(|event| event["summary"] == title).collect::<Vec<&Json>>();
    let starts: Vec<&str> = of("Tea").iter().filter_map(|event| event["start"].as_str()).collect();
    let days = ["03-07", "03-14", "03-21", "03-28", "04-04"];
    assert_eq!(starts, days.map(|day| format!("2012-{day}T15:00:00Z")), "{events:#?}");
    let lunches = of("Lunch; outside");
    let [lunch] = lunches[..] else { panic!("one lunch: {events:#?}") };
    assert_eq!((&lunch["uri"], &lunch["end"]), (&json!("lunch.ics"), &json!("2012-03-07T13:00:00Z")));
    assert!(lunch["recurring"] == false && lunch["allDay"] == false, "{lunch:#}");
    assert_eq!(
        owner.get(&object("lunch")).header("etag"),
        lunch["etag"].as_str(),
        "the tag that CalDAV gives"
    );
    assert!(of("Tidy up").is_empty(), "a task is no event");
}

pub(super) fn an_event_that_is_saved_is_there_for_caldav(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    let save = |event: Json| json!({ "calendar": "calendar", "event": event });
    let dinner = json!({
        "summary": "Dinner, at last; with ü", "start": "2012-05-02T19:00:00Z", "end": "2012-05-02T21:00:00Z",
        "description": "Two\nlines, of which the first is short and the other one is longer than a line may be",
    });
    let saved = result(&mut owner, "saveEvent", &save(dinner));
    let (uri, etag) = (saved["uri"].as_str().expect("an address"), saved["etag"].as_str().expect("a tag"));
    let path = format!("{}{uri}", calendar_path(OWNER));
    let kept = owner.get(&path).must(200, "SUMMARY:Dinner\\, at last\\; with ü\r\n");
    assert_eq!(kept.header("etag"), Some(etag));
    assert!(kept.has("DESCRIPTION:Two\\nlines\\, of which") && kept.has("SEQUENCE:0\r\n"), "{}", kept.text());
    assert_eq!(Some(dav::only(&kept.text()).uid.as_str()), uri.strip_suffix(".ics"));

    // Somebody's alarm stays when the web client changes the event.
    let alarm =
        "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Soon\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\nEND:VEVENT";
    let with_alarm = kept.text().replacen("END:VEVENT", alarm, 1);
    let etag = dav::tag(&owner.put(&path, &dav::matching(etag), &with_alarm).must(204, ""));
    let supper = json!({ "uri": uri, "etag": etag, "summary": "Supper", "start": "2012-05-02", "end": "2012-05-03",
        "allDay": true });
    let changed = result(&mut owner, "saveEvent", &save(supper.clone()));
    let kept = owner.get(&path).must(200, "SUMMARY:Supper\r\n");
    assert_eq!(kept.header("etag"), changed["etag"].as_str());
    for part in
        ["DTSTART;VALUE=DATE:20120502\r\n", "SEQUENCE:1\r\n", "TRIGGER:-PT15M\r\n", "DESCRIPTION:Soon\r\n"]
    {
        assert!(kept.has(part), "{part}: {}", kept.text());
    }
    assert_eq!(dav::only(&kept.text()).kind, "VEVENT");
    assert_eq!(code(&mut owner, "saveEvent", &save(supper)), 412, "its tag is an old one by now");
    owner.delete(&path, "").must(204, "");
}

pub(super) fn a_call_that_is_none_is_refused(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    let at = |start: &str, end: &str| json!({ "calendar": "calendar", "start": start, "end": end });
    assert_eq!(code(&mut owner, "dropTables", &json!({})), 400);
    assert_eq!(code(&mut owner, "getEvents", &json!({ "calendar": "' OR 1 = 1 -- " })), 404);
    assert_eq!(code(&mut owner, "getEvents", &at("2012-03-12", "2012-03-05")), 400);
    assert_eq!(code(&mut owner, "getEvents", &at("2012-02-30", "2012-03-05")), 400);
    assert_eq!(code(&mut owner, "getEvents", &at("2012-03-05", "2022-03-05")), 400);
    let post = |owner: &mut Dav, headers: &str, body: &str| owner.ask("POST", "/json-rpc", headers, body);
    post(&mut owner, "Content-Type: text/plain\r\n", "{}").must(415, "\"code\":415");
    post(&mut owner, JSON, "not JSON").must(400, "\"code\":400");
    let by_get = owner.get("/json-rpc").must(405, "\"code\":405");
    assert_eq!(by_get.header("allow"), Some("POST"));
    // A day ends with the next one, or it would be none.
    let hours = json!({ "summary": "x", "start": "2012-05-02T10:00:00Z", "end": "2012-05-02T12:00:00Z",
        "allDay": true });
    assert_eq!(code(&mut owner, "saveEvent", &json!({ "calendar": "calendar", "event": hours })), 400);
    // Somebody else's objects can't be named.
    let theirs =
        json!({ "uri": "../user00004/x.ics", "summary": "x", "start": "2012-05-02", "end": "2012-05-03" });
    assert_eq!(code(&mut owner, "saveEvent", &json!({ "calendar": "calendar", "event": theirs })), 404);
}
