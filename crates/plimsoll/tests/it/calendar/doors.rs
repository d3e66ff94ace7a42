//! The doors beside CalDAV, and who may come in: by a name and its password, or by a ticket.

use std::fs;
use std::path::Path;

use super::{Calendar, OTHER, OWNER, calendar_path, feed, object, refused, web_client, whole};
use crate::dav::{self, Dav, LISTED, NEW, between, event, matching, rows, tag};
use crate::events::well_formed;

pub(super) fn the_front_leads_on_and_its_parts_are_no_pages(calendar: &Calendar) {
    let mut stranger = Dav::stranger(&calendar.address);
    let page = stranger.get("/").must(200, "CalDAV, for calendar programs");
    assert!(page.header("content-security-policy").is_some(), "{}", page.head);
    for method in ["GET", "PROPFIND"] {
        let moved = stranger.ask(method, "/.well-known/caldav", "", "");
        let to =
            moved.header("location").map(|to| to.trim_start_matches(&format!("http://{}", calendar.address)));
        assert_eq!((moved.status, to), (301, Some("/dav/")), "{method}: {}", moved.head);
    }
    refused(stranger.get("/.well-known/carddav"), 404, "No such page");
    refused(stranger.get("/nothing/of/this"), 404, "No such page");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/calendar/app/lib");
    let parts = fs::read_dir(folder).expect("the front has parts").flatten();
    let names: Vec<String> = parts.map(|part| part.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() > 12 && names.iter().any(|name| name == "config.php.j2"), "{names:?}");
    for name in names {
        let page = stranger.get(&format!("/lib/{}", name.trim_end_matches(".j2"))).must(404, "");
        assert_eq!(page.text(), "No such page.\n", "nothing of {name} is told");
    }
}

pub(super) fn strangers_and_others_get_nothing(calendar: &Calendar) {
    let (mut owner, path) = (calendar.user(OWNER), object("secret"));
    let text = event("secret", "20061013T070000Z", "20061013T080000Z", "Nobody knows");
    let etag = tag(&owner.put(&path, NEW, &text).must(201, ""));
    let address = &calendar.address;
    let unknown = [
        Dav::stranger(address),
        Dav::new(address, &dav::name(OWNER), "wrong"),
        Dav::new(address, "nobody", "nobody"),
    ];
    for mut who in unknown {
        let (home, whole, feed) = (calendar_path(OWNER), whole(OWNER), feed(OWNER));
        let asked = [
            who.get(&path),
            who.put(&path, "", &text),
            who.delete(&path, ""),
            who.properties(&home, 1, LISTED),
            who.report(&home, &between("20061001T000000Z", "20061101T000000Z")),
            who.make_calendar("/dav/calendars/user00003/planted/", "Planted"),
            who.get(&whole),
            who.get(&feed),
            web_client::asks(&mut who, "getCalendars"),
        ];
        for page in asked {
            let challenge = page.header("www-authenticate").unwrap_or_default().to_string();
            assert!(challenge.starts_with("Basic realm=\"Calendar\""), "{}", page.head);
            assert!(!page.must(401, "").has("Nobody knows"));
        }
    }

    let mut other = calendar.user(OTHER);
    for page in [
        other.get(&path),
        other.put(&path, "", &text),
        other.put(&object("planted"), NEW, &text),
        other.delete(&path, &matching(&etag)),
        other.make_calendar("/dav/calendars/user00003/planted/", "Planted"),
    ] {
        page.must(403, "need-privileges");
    }
    refused(other.get(&whole(OWNER)), 403, "Not your calendar");
    refused(other.get(&feed(OWNER)), 403, "Not your calendar");
    // sabre/dav tells others that there is a calendar, and of everything in it that they may know nothing.
    let listed = rows(&other.properties(&calendar_path(OWNER), 1, LISTED));
    assert!(listed.iter().all(|row| row.etag.is_none() && row.xml.contains(" 403 ")), "{listed:#?}");
    let week = other.report(&calendar_path(OWNER), &between("20061001T000000Z", "20061101T000000Z"));
    assert!(!week.has("BEGIN:VEVENT"), "{}", week.text());
    let kept = owner.get(&path).must(200, "");
    assert_eq!((kept.text(), tag(&kept)), (text, etag), "nobody else has changed it");
}

/// What is in the owner's calendar at the moment: its list by CalDAV, its file, and its feed.
pub(super) fn lists_file_and_feed_have_the_same_objects(calendar: &Calendar) {
    let (mut owner, mut stranger) = (calendar.user(OWNER), Dav::stranger(&calendar.address));
    let listed = rows(&owner.properties(&calendar_path(OWNER), 1, LISTED));
    let names =
        listed.iter().filter_map(|row| row.href.strip_prefix(&calendar_path(OWNER))?.strip_suffix(".ics"));
    let mut names: Vec<String> = names.map(str::to_string).collect();
    assert!(names.len() > 10 && names.len() + 1 == listed.len(), "the calendar and its objects: {listed:#?}");
    names.sort();

    let ticket = web_client::ticket(&mut owner);
    let file = format!("{}?ticket={ticket}", whole(OWNER));
    let page = stranger.get(&file).must(200, "");
    assert!(
        page.header("content-type").is_some_and(|kind| kind.starts_with("text/calendar")),
        "{}",
        page.head
    );
    assert!(page.text().ends_with("END:VCALENDAR\r\n") && !page.text().replace("\r\n", "").contains('\n'));
    let mut inside: Vec<String> = dav::objects(&page.text()).into_iter().map(|object| object.uid).collect();
    inside.sort();
    assert_eq!(inside, names, "the file has the objects of the list");
    assert_eq!(owner.get(&whole(OWNER)).must(200, "").body, page.body, "its owner needs no ticket");

    let whole_feed = format!("{}?ticket={ticket}", feed(OWNER));
    let atom = stranger.get(&whole_feed).must(200, "<feed xmlns=\"http://www.w3.org/2005/Atom\">");
    assert!(well_formed(&atom.text()), "{}", atom.text());
    assert_eq!(atom.text().matches("<entry>").count(), names.len(), "an entry for each object");
    assert!(names.iter().all(|name| atom.has(&object(name))), "each by its address");

    // What was asked for and has not changed is not sent again; a change shows in the tag.
    for (path, page) in [(&file, &page), (&whole_feed, &atom)] {
        let again = stranger.ask("GET", path, &format!("If-None-Match: {}\r\n", tag(page)), "");
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
    }
    let text = event("one more", "20061014T070000Z", "20061014T080000Z", "One more");
    owner.put(&object("one%20more"), NEW, &text).must(201, "");
    let more = stranger
        .ask("GET", &file, &format!("If-None-Match: {}\r\n", tag(&page)), "")
        .must(200, "UID:one more");
    assert_ne!(tag(&more), tag(&page));

    a_week_of_the_feed_has_its_events(&mut owner);
    let wrong = "0123456789abcdef0123456789abcdef";
    for (path, ticket) in [(whole(OWNER), wrong), (feed(OWNER), wrong), (whole(OTHER), ticket.as_str())] {
        refused(stranger.get(&format!("{path}?ticket={ticket}")), 403, "This ticket does not fit");
    }
}

/// Those that [`super::objects`] has put there.
fn a_week_of_the_feed_has_its_events(owner: &mut Dav) {
    let path = format!("{}?start=20120305T000000Z&end=20120312T000000Z", feed(OWNER));
    let week = owner.get(&path).must(200, "<title>Lunch; outside</title>").must(200, "<title>Tea</title>");
    assert!(well_formed(&week.text()) && !week.has("Tidy up"), "{}", week.text());
    assert!(
        week.has("2012-03-07T15:00:00Z to 2012-03-07T15:30:00Z"),
        "as it takes place then: {}",
        week.text()
    );
    refused(owner.get(&path.replace("end=2012", "end=2011")), 400, "A time is not right");
}
