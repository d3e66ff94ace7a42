//! What calendar programs ask for when they are started, beside the calendar: by what people can be looked for, for whom
//! somebody acts, notices, and what is set of a calendar.

use super::{Calendar, OTHER, OWNER, calendar_path};
use crate::dav::{self, DELEGATES, SEARCHABLE, element, plain, rows};

/// With the value that is set.
const SETTINGS: [(&str, &str); 3] = [
    ("A:calendar-color", "#44AA22FF"),
    ("A:calendar-order", "1"),
    ("C:calendar-timezone", "BEGIN:VCALENDAR&#13;\nEND:VCALENDAR&#13;\n"),
];

pub(super) fn what_programs_ask_for_when_they_are_started_is_answered(calendar: &Calendar) {
    let mut owner = calendar.user(OWNER);
    let principal = format!("/dav/principals/{}/", dav::name(OWNER));
    owner.report_of("/dav/principals/", SEARCHABLE).must(200, "<d:principal-search-property>");
    let answer = owner.report_of(&principal, DELEGATES);
    let acts = rows(&answer);
    let [own] = &acts[..] else { panic!("one principal: {}", answer.text()) };
    assert_eq!(own.href, principal);
    assert!(own.xml.contains("calendar-proxy-read-for") && own.xml.contains(" 200 OK"), "{}", own.xml);

    // It says that there are notices, and has none; of an inbox it says nothing.
    let said = owner.properties(&principal, 0, "<S:notification-URL/><C:schedule-inbox-URL/>");
    let inside = |name: &str| {
        let text = said.text();
        element(&text, name).and_then(|inner| element(inner, "href").map(plain))
    };
    let notices = inside("notification-URL").unwrap_or_else(|| panic!("{}", said.text()));
    assert_eq!(inside("schedule-inbox-URL"), None, "{}", said.text());
    owner.properties(&notices, 1, "<D:getetag/>").must(404, "");

    for (name, value) in SETTINGS {
        let property = format!("<{name}>{value}</{name}>");
        calendar.user(OTHER).set(&calendar_path(OWNER), &property).must(403, "need-privileges");
        owner.set(&calendar_path(OWNER), &property).must(207, " 200 OK");
        let page = owner.properties(&calendar_path(OWNER), 0, &format!("<{name}/>"));
        let local = &name[2..];
        let kept = element(&page.text(), local).map(plain).map(|text| text.replace('\r', ""));
        assert_eq!(kept, Some(value.replace("&#13;", "").trim().to_string()), "{}", page.text());
    }
    owner.set(&calendar_path(OWNER), "<S:getctag>7</S:getctag>").must(207, " 403 Forbidden");
}
