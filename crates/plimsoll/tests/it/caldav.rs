//! The calendars of the kit `caldav` on Radicale, as a program of today comes to them: found by the host's name alone, kept
//! in step by sync-tokens, and safe from others and from a crash.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use crate::browser::Page;
use crate::dav::{
    self, DELEGATES, Dav, LISTED, NEW, SEARCHABLE, between, changes, component, element, event, matching,
    multiget, plain, rows, tag,
};
use crate::outage::{Started, ended, kill};
use crate::standing::Standing;
use crate::tool::{Finished, Home, have, wait_for};

pub(crate) const STACK: &str = "radicale";
/// 10 accounts with some 30 objects each: Radicale takes milliseconds for each one that it has never read.
pub(crate) const DATA: &str = "--size quick --param events_median=20 --param events_most=60";
/// All that programs do: `List` where a server has no sync-tokens, `Sync` and `Resync` where it has.
pub(crate) const OPERATIONS: [&str; 14] = [
    "Discover",
    "SetUp",
    "FirstSync",
    "Multiget",
    "Account",
    "Poll",
    "Sync",
    "Resync",
    "List",
    "Create",
    "Update",
    "Delete",
    "Week",
    "Get",
];
const OWNER: u32 = 3;
const OTHER: u32 = 4;

/// The server, until it is dropped.
struct Radicale {
    stack: Standing,
    address: String,
    pid: u32,
}

impl Radicale {
    fn open() -> Radicale {
        // Nobody here guesses passwords: who is refused need not wait for it.
        let words = format!("up caldav {DATA} --set web.auth.delay=0");
        let mut stack = Home::shared().plimsoll(&words).start();
        let (address, pid) = (stack.address(), stack.pid_of("web"));
        Radicale { stack: stack.until_dropped(), address, pid }
    }

    /// The run's own directory of files: beside that of the tier, whose configuration the process was given.
    fn files(&self) -> PathBuf {
        let words = fs::read_to_string(format!("/proc/{}/cmdline", self.pid)).expect("it runs");
        let conf = words.split('\0').find(|word| word.ends_with("radicale.conf")).expect("its configuration");
        Path::new(conf).ancestors().nth(3).expect("the instance").join("files")
    }

    fn end(self) -> Finished {
        self.stack.end()
    }
}

/// A calendar as its owner's program knows it.
struct Found {
    owner: Dav,
    place: String,
    token: String,
}

impl Found {
    fn object(&self, uid: &str) -> String {
        format!("{}{uid}.ics", self.place)
    }

    /// What has changed since the last time, by path: the tag, or nothing for what is gone.
    #[track_caller]
    fn news(&mut self) -> Vec<(String, Option<String>)> {
        let page = self.owner.report(&self.place, &changes(&self.token));
        self.token = token_of(&page);
        let mut news: Vec<_> = rows(&page).into_iter().map(|row| (row.href, row.etag)).collect();
        news.sort();
        news
    }
}

#[track_caller]
fn token_of(page: &Page) -> String {
    let token = element(&page.text(), "sync-token").map(plain).filter(|token| !token.is_empty());
    token.unwrap_or_else(|| panic!("no token: {}", page.text()))
}

#[test]
fn a_program_of_today_finds_its_calendar_on_radicale_and_keeps_in_step() {
    if !have(STACK) {
        return;
    }
    let radicale = Radicale::open();
    all_was_read_before_anybody_came(&radicale);
    let mut found = a_calendar_is_found_by_the_host_s_name(&radicale);
    all_of_it_is_fetched(&mut found);
    a_start_may_ask_for_what_radicale_does_not_have(&radicale, &mut found);
    changes_are_made_under_conditions_and_told_once(&mut found);
    a_week_has_its_events_and_those_that_come_again(&mut found);
    a_token_that_was_never_given_is_refused(&mut found);
    nobody_else_comes_in(&radicale, &found.place);
    a_calendar_is_made_and_goes_with_all_that_is_in_it(&mut found);
    what_was_confirmed_survives_a_crash(&radicale, &mut found);
    radicale.end().expect(0).says("web: the server ended");
    Home::shared().expect_nothing_left();
}

/// What Radicale makes of an object when it first reads it is there for each of them.
fn all_was_read_before_anybody_came(radicale: &Radicale) {
    let homes = folders_in(&radicale.files().join("collection-root"));
    let calendars: Vec<PathBuf> = homes.iter().flat_map(|home| folders_in(home)).collect();
    assert!(!calendars.is_empty(), "no calendar below {}", radicale.files().display());
    for calendar in calendars {
        let objects = files_in(&calendar, ".ics");
        assert!(!objects.is_empty(), "{}", calendar.display());
        for kind in ["item", "history"] {
            let made = files_in(&calendar.join(".Radicale.cache").join(kind), ".ics");
            assert_eq!(made, objects, "{kind} of {}", calendar.display());
        }
        let tokens = files_in(&calendar.join(".Radicale.cache/sync-token"), "");
        assert!(tokens.is_empty(), "it could not change their time: {tokens:?}");
        let kept = ["item", "history", "sync-token"];
        let made = files_in(&calendar.join(".Radicale.cache"), "");
        assert!(
            made.iter().all(|name| kept.contains(&name.as_str())),
            "it could not write to these: {made:?}"
        );
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let shown = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    shown.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// The names of a folder's files that end so, in order.
fn files_in(folder: &Path, end: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(end));
    names.sort();
    names
}

/// RFC 6764 and RFC 4791: from the well-known address to whoever is logged in, to the home, to the calendar in it.
fn a_calendar_is_found_by_the_host_s_name(radicale: &Radicale) -> Found {
    Dav::stranger(&radicale.address).get("/.web").must(200, "Radicale works!");
    let mut owner = Dav::of(&radicale.address, OWNER);
    let moved = owner.properties("/.well-known/caldav", 0, "<D:current-user-principal/>");
    let to =
        moved.header("location").map(|to| to.trim_start_matches(&format!("http://{}", radicale.address)));
    assert_eq!((moved.status, to), (301, Some("/")), "{}", moved.head);
    let inside = |page: &Page, name: &str| {
        let text = page.text();
        let href = element(&text, name).and_then(|inner| element(inner, "href")).map(plain);
        href.unwrap_or_else(|| panic!("no {name}: {text}"))
    };
    let principal =
        inside(&owner.properties("/", 0, "<D:current-user-principal/>"), "current-user-principal");
    assert_eq!(principal, format!("/{}/", dav::name(OWNER)));
    let home = inside(&owner.properties(&principal, 0, "<C:calendar-home-set/>"), "calendar-home-set");
    let of_home = "<D:resourcetype/><D:displayname/><D:sync-token/><S:getctag/>";
    let page = owner.properties(&home, 1, of_home);
    let calendars = rows(&page).into_iter().filter(|row| element(&row.xml, "calendar").is_some());
    let calendars: Vec<_> = calendars.collect();
    let [calendar] = &calendars[..] else { panic!("one calendar: {calendars:#?}") };
    assert_eq!(element(&calendar.xml, "displayname"), Some("Calendar"));
    for name in ["sync-token", "getctag"] {
        assert!(
            element(&calendar.xml, name).is_some_and(|state| !state.is_empty()),
            "{name}: {}",
            calendar.xml
        );
    }
    Found { place: calendar.href.clone(), owner, token: String::new() }
}

fn all_of_it_is_fetched(found: &mut Found) {
    let all = found.news();
    assert!(
        all.len() > 5 && all.iter().all(|(path, etag)| path.ends_with(".ics") && etag.is_some()),
        "{all:#?}"
    );
    let listed = rows(&found.owner.properties(&found.place, 1, LISTED));
    assert_eq!(listed.len(), all.len() + 1, "the calendar and its objects");
    let paths: Vec<&str> = all.iter().map(|(path, _)| path.as_str()).collect();
    let fetched = rows(&found.owner.report(&found.place, &multiget(&paths)));
    assert_eq!(fetched.len(), all.len());
    for row in &fetched {
        let object = dav::only(row.data.as_deref().expect("each comes whole"));
        assert_eq!(row.href, found.object(&object.uid));
        assert!(all.contains(&(row.href.clone(), row.etag.clone())), "{row:#?}");
    }
    assert!(found.news().is_empty(), "nothing has changed meanwhile");
}

/// Whoever has not said who it is is told to. What has no answer here has an empty one, and what is set is kept, without
/// being a change of the calendar's objects.
fn a_start_may_ask_for_what_radicale_does_not_have(radicale: &Radicale, found: &mut Found) {
    let told =
        Dav::stranger(&radicale.address).properties("/", 0, "<D:current-user-principal/>").must(401, "");
    let challenge = told.header("www-authenticate").unwrap_or_default();
    assert!(challenge.starts_with("Basic realm="), "{}", told.head);

    let principal = format!("/{}/", dav::name(OWNER));
    let said = found.owner.properties(&principal, 0, "<D:supported-report-set/><C:schedule-inbox-URL/>");
    for (place, report, name) in [
        ("/", SEARCHABLE, "principal-search-property-set"),
        (principal.as_str(), DELEGATES, "expand-property"),
    ] {
        assert!(said.has(name), "{name}: {}", said.text());
        let answer = found.owner.report_of(place, report);
        assert!(rows(&answer).is_empty(), "{}", answer.text());
    }
    assert_eq!(element(&said.text(), "schedule-inbox-URL"), Some(""), "it has no inbox");

    for (name, value) in [("calendar-color", "#44AA22FF"), ("calendar-order", "1")] {
        found.owner.set(&found.place, &format!("<A:{name}>{value}</A:{name}>")).must(207, " 200 OK");
        let page = found.owner.properties(&found.place, 0, &format!("<A:{name}/>"));
        assert_eq!(element(&page.text(), name), Some(value), "{}", page.text());
    }
    assert!(found.news().is_empty(), "no object has changed");
}

fn changes_are_made_under_conditions_and_told_once(found: &mut Found) {
    let (path, other) = (found.object("breakfast"), found.object("supper"));
    let text = event("breakfast", "20260112T070000Z", "20260112T080000Z", "Breakfast\\, early");
    let etag = tag(&found.owner.put(&path, NEW, &text).must(201, ""));
    found.owner.put(&path, NEW, &text).must(412, "");
    let kept = found.owner.get(&path).must(200, "SUMMARY:Breakfast\\, early");
    assert_eq!((dav::only(&kept.text()).uid.as_str(), tag(&kept)), ("breakfast", etag.clone()));
    assert_eq!(found.news(), [(path.clone(), Some(etag.clone()))]);

    let later = text.replace("T080000Z", "T083000Z");
    let changed = found.owner.put(&path, &matching(&etag), &later);
    assert!([200, 201, 204].contains(&changed.status), "{}", changed.head);
    let changed = tag(&changed);
    assert_ne!(changed, etag);
    found.owner.put(&path, &matching(&etag), &text).must(412, "");
    found.owner.put(&found.object("never"), &matching(&etag), &text).must(412, "");
    assert_eq!(
        tag(&found.owner.get(&path).must(200, "T083000Z")),
        changed,
        "what was refused changed nothing"
    );
    let supper = event("supper", "20260112T180000Z", "20260112T190000Z", "Supper");
    let supper = tag(&found.owner.put(&other, NEW, &supper).must(201, ""));
    assert_eq!(found.news(), [(path.clone(), Some(changed.clone())), (other.clone(), Some(supper.clone()))]);

    found.owner.delete(&path, &matching(&etag)).must(412, "");
    let deleted = found.owner.delete(&path, &matching(&changed));
    assert!([200, 204].contains(&deleted.status), "{}", deleted.head);
    found.owner.get(&path).must(404, "");
    // What came and went between two tokens may be told as gone; it may not be told as there.
    let brief = found.object("brief");
    let text = event("brief", "20260112T120000Z", "20260112T130000Z", "Brief");
    found.owner.put(&brief, NEW, &text).must(201, "");
    found.owner.delete(&brief, "");
    let news: Vec<_> = found.news().into_iter().filter(|(told, _)| *told != brief).collect();
    assert_eq!(news, [(path, None)]);
    assert!(found.news().is_empty(), "nothing is told twice");
}

fn a_week_has_its_events_and_those_that_come_again(found: &mut Found) {
    // 2032 is behind all of the data set but what comes again for ever. Both are Wednesdays.
    let tea = ["DTSTART:20260107T150000Z", "DTEND:20260107T153000Z", "RRULE:FREQ=WEEKLY", "SUMMARY:Tea"];
    let lunch = event("lunch", "20320303T120000Z", "20320303T130000Z", "Lunch");
    let objects = [
        ("tea", component("VEVENT", "tea", &tea)),
        ("lunch", lunch),
        ("tidy", component("VTODO", "tidy", &["DUE:20320303T120000Z", "SUMMARY:Tidy up"])),
    ];
    let tags = objects.map(|(uid, text)| tag(&found.owner.put(&found.object(uid), NEW, &text).must(201, "")));
    let week = rows(&found.owner.report(&found.place, &between("20320301T000000Z", "20320308T000000Z")));
    let of = |uid: &str| week.iter().find(|row| row.href == found.object(uid));
    assert_eq!(of("lunch").and_then(|row| row.etag.as_ref()), Some(&tags[1]), "{week:#?}");
    assert!(of("tea").is_some() && of("tidy").is_none(), "{week:#?}");
    for row in &week {
        let data = row.data.as_deref().expect("each comes whole");
        let object = dav::only(data);
        assert!(object.kind == "VEVENT" && (data.contains("RRULE:") || object.uid == "lunch"), "{data}");
    }
    assert_eq!(found.news().len(), tags.len(), "a change for each");
}

fn a_token_that_was_never_given_is_refused(found: &mut Found) {
    let mut of_elsewhere = found.token.clone();
    let last = of_elsewhere.pop().expect("a token");
    of_elsewhere.push(if last == '0' { '1' } else { '0' });
    for token in [format!("{}-lost", found.token), of_elsewhere, "http://example.org/none".to_string()] {
        found.owner.report(&found.place, &changes(&token)).must(403, "valid-sync-token");
    }
    // Whoever begins anew is told everything, and gets the token of now.
    let token = std::mem::take(&mut found.token);
    assert!(found.news().iter().filter(|(_, etag)| etag.is_some()).count() > 5);
    assert_eq!(found.token, token, "the same state has the same token");
}

fn nobody_else_comes_in(radicale: &Radicale, place: &str) {
    let object = format!("{place}lunch.ics");
    let text = event("planted", "20260113T070000Z", "20260113T080000Z", "Planted");
    let strangers = [
        (Dav::stranger(&radicale.address), 401),
        (Dav::new(&radicale.address, &dav::name(OWNER), "wrong"), 401),
        (Dav::of(&radicale.address, OTHER), 403),
    ];
    for (mut who, status) in strangers {
        for page in [
            who.get(&object),
            who.put(&object, "", &text),
            who.put(&format!("{place}planted.ics"), NEW, &text),
            who.delete(&object, ""),
            who.properties(place, 1, LISTED),
            who.report(place, &between("20320301T000000Z", "20320308T000000Z")),
            who.report(place, &changes("")),
        ] {
            assert!(!page.must(status, "").has("lunch"));
        }
    }
}

fn a_calendar_is_made_and_goes_with_all_that_is_in_it(found: &mut Found) {
    let made = found.place.replace("/calendar/", "/made/");
    found.owner.make_calendar(&made, "Made &lt;here&gt;").must(201, "");
    assert!(!(200..300).contains(&found.owner.make_calendar(&made, "Again").status), "it is there already");
    let task = component("VTODO", "wash", &["DUE:20260113T120000Z", "SUMMARY:Wash up"]);
    found.owner.put(&format!("{made}wash.ics"), NEW, &task).must(201, "");
    let inside = rows(&found.owner.properties(&made, 1, "<D:displayname/><D:getetag/>"));
    let title = inside.iter().find(|row| row.href == made).and_then(|row| element(&row.xml, "displayname"));
    assert_eq!((inside.len(), title.map(plain).as_deref()), (2, Some("Made <here>")), "{inside:#?}");
    let deleted = found.owner.delete(&made, "");
    assert!([200, 204].contains(&deleted.status), "{}", deleted.head);
    found.owner.get(&format!("{made}wash.ics")).must(404, "");
}

fn what_was_confirmed_survives_a_crash(radicale: &Radicale, found: &mut Found) {
    let path = found.object("moment");
    let text = event("moment", "20260114T070000Z", "20260114T080000Z", "At the last moment");
    let etag = tag(&found.owner.put(&path, NEW, &text).must(201, ""));
    let server = Started::of(radicale.pid);
    kill(radicale.pid);
    let process = format!("/proc/{}", radicale.pid);
    wait_for("it is gone", || (!Path::new(&process).exists()).then_some(()));
    let again = server.again();
    wait_for("it listens again", || TcpStream::connect(&radicale.address).ok());
    assert_eq!(tag(&found.owner.get(&path).must(200, "")), etag);
    assert_eq!(found.news(), [(path, Some(etag))], "its tokens are good still");
    kill(again.id());
    ended(again);
}
