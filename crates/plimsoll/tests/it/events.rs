//! The events calendar in its real stack: what its pages say, to friend and foe, and when something of it is gone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::browser::{Browser, Page, Upload};
use crate::outage::{Stopped, kill};
use crate::standing::Standing;
use crate::tool::{Home, catalogue, have, overlay};

const STACK: &str = "lighttpd-fastcgi-mariadb-memcached";
const PLACE: [(&str, &str); 7] = [
    ("street1", "1 O'Hara St"),
    ("city", "Sail \"Harbour\""),
    ("state", "CA"),
    ("zip", "12345"),
    ("country", "USA"),
    ("telephone", "+1 555 555 5555"),
    ("timezone", "Europe/Berlin"),
];
const SCRIPT: &str = "<script>alert(1)</script>";
const SHOWN: &str = "&lt;script&gt;alert(1)&lt;/script&gt;";

/// The calendar, small, until it is dropped.
struct Calendar {
    _stack: Standing,
    address: String,
    /// The number of memcached's process.
    cache: u32,
    store: PathBuf,
    _catalogue: TempDir,
}

impl Calendar {
    fn open() -> Calendar {
        let kit = catalogue("kits/events/kit.toml");
        let size = "[sizes]\ntiny = { concurrent = 25, users = 200, tags = 50, events = 150 }\n";
        let files = overlay(&[("kits/events/kit.toml", &kit.replacen("[sizes]\n", size, 1))]);
        let words = format!("up events --size tiny --stack {STACK} --catalogue");
        let mut stack = Home::shared().plimsoll(&words).arg(files.path()).start();
        let (address, cache) = (stack.address(), stack.pid_of("cache"));
        Calendar { _stack: stack.until_dropped(), address, cache, store: file_store(), _catalogue: files }
    }

    fn browser(&self) -> Browser {
        Browser::new(&self.address)
    }

    /// Somebody of the data set: name and password. The picture of person 17 is p17t.jpg, and 17 is the password.
    fn somebody(&self) -> (String, String) {
        let mut browser = self.browser();
        let event = browser.get("/events.php?socialEventID=1").must(200, "Posted by");
        let name = event.between("users.php?username=", "\"").expect("a name");
        let page = browser.get(&format!("/users.php?username={name}")).must(200, &format!("Person {name}"));
        let number = page.between("file=p", "t.jpg").expect("a picture");
        (name, number)
    }

    fn member(&self) -> (Browser, String) {
        let (name, password) = self.somebody();
        let mut browser = self.browser();
        browser.get("/login.php").must(200, "Username");
        let home = login(&mut browser, &name, &password).must(200, "Logged in as");
        assert!(!home.has("Username"), "no login form for who is logged in");
        (browser, name)
    }
}

/// The file store of the calendar that stands in the shared home, as its application knows it.
pub(crate) fn file_store() -> PathBuf {
    // Another test's shop has a config.php as well.
    let part = find(&Home::shared().path().join("instances"), "no_page.php").expect("a calendar stands");
    let text = fs::read_to_string(part.with_file_name("config.php")).expect("it was rendered");
    let rest = text.split("FILE_STORE = '").nth(1).expect("a file store");
    PathBuf::from(rest.split('\'').next().unwrap_or_default())
}

fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).collect();
    let here = entries.iter().find(|path| path.file_name().is_some_and(|file| file == name)).cloned();
    here.or_else(|| {
        entries.iter().filter(|path| path.is_dir() && !path.is_symlink()).find_map(|path| find(path, name))
    })
}

fn login(browser: &mut Browser, name: &str, password: &str) -> Page {
    browser.post("/login.php", &[("user_name", name), ("password", password), ("submit", "Login")])
}

fn media(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/events/media").join(name);
    fs::read(path).expect("a file of the kit")
}

fn picture<'a>(field: &'a str, bytes: &'a [u8]) -> Upload<'a> {
    Upload { field, name: "../../x.php", kind: "image/jpeg", bytes }
}

fn post_event(browser: &mut Browser, title: &str, tags: &str, bytes: &[u8], leaflet: &[u8]) -> Page {
    browser.get("/addEvent.php").must(200, "<title>Events: Post an event</title>");
    let mut fields = vec![
        ("title", title),
        ("description", "It's \"fine\"; DROP TABLE PERSON; --"),
        ("tags", tags),
        ("year", "2008"),
        ("month", "9"),
        ("day", "1"),
        ("hour", "23"),
        ("minute", "45"),
    ];
    fields.extend(PLACE);
    let leaflet =
        Upload { field: "upload_event_literature", name: "a.pdf", kind: "application/pdf", bytes: leaflet };
    browser.send("/addEventResult.php", &fields, &[picture("upload_event_image", bytes), leaflet])
}

fn register(browser: &mut Browser, name: &str, bytes: &[u8]) -> Page {
    browser.get("/addPerson.php").must(200, "<title>Events: Register</title>");
    let mut fields = vec![
        ("user_name", name),
        ("password", "Geheim 1"),
        ("passwordx", "Geheim 1"),
        ("first_name", SCRIPT),
        ("last_name", "O'Neil"),
        ("email", "ann@example.com"),
        ("summary", SCRIPT),
    ];
    fields.extend(PLACE);
    browser.send("/addPersonResult.php", &fields, &[picture("user_image", bytes)])
}

/// Width and height of a JPEG, from its frame's header.
fn jpeg_size(bytes: &[u8]) -> Option<(u16, u16)> {
    let mut at = 2;
    while bytes.get(at) == Some(&0xFF) {
        let (kind, length) =
            (*bytes.get(at + 1)?, usize::from(*bytes.get(at + 2)?) << 8 | usize::from(*bytes.get(at + 3)?));
        if (0xC0..=0xC3).contains(&kind) {
            let pair =
                |from: usize| Some(u16::from(*bytes.get(from)?) << 8 | u16::from(*bytes.get(from + 1)?));
            return Some((pair(at + 7)?, pair(at + 5)?));
        }
        at += 2 + length;
    }
    None
}

/// Every element that begins ends, in turn, and nothing that XML reserves stands bare.
pub(crate) fn well_formed(xml: &str) -> bool {
    let mut open = Vec::new();
    for part in xml.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { return false };
        let name = tag.split(' ').next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            Some(_) => {}
            None if name.starts_with('?') || tag.ends_with('/') => {}
            None => open.push(name),
        }
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#039;"];
        if text.match_indices('&').any(|(at, _)| !known.iter().any(|entity| text[at..].starts_with(entity))) {
            return false;
        }
    }
    open.is_empty()
}

#[test]
fn the_calendar_does_what_its_pages_promise_and_refuses_the_rest() {
    if !have(STACK) {
        return;
    }
    let calendar = Calendar::open();
    strangers_see_the_calendar(&calendar);
    parts_of_pages_are_no_pages(&calendar);
    logging_in_needs_the_password_and_a_token(&calendar);
    let (mut ann, name) = calendar.member();
    attending_counts_once_and_comments_are_shown(&mut ann);
    pictures_are_what_their_bytes_say(&calendar, &mut ann);
    let event = a_new_event_is_there_with_its_picture(&calendar, &mut ann);
    the_feed_is_well_formed(&calendar);
    friends_are_invited_and_accept(&calendar, &mut ann, &name);
    a_full_store_loses_nothing(&calendar, &mut ann);
    a_dead_cache_costs_nothing(&calendar, &mut ann, &event);
    drop(calendar);
    Home::shared().expect_nothing_left();
}

fn strangers_see_the_calendar(calendar: &Calendar) {
    let mut browser = calendar.browser();
    // The second time it comes from memcached.
    for _ in 0..2 {
        let home = browser.get("/index.php").must(200, "<title>Events: Coming events</title>");
        let text = home.text();
        assert_eq!(text.matches("<div class=\"event\">").count(), 10, "the ten nearest events");
        assert!(
            text.contains("class=\"tags\"") && text.contains("Username") && text.contains("September 2008"),
            "{text}"
        );
    }
    let home = browser.get("/index.php");
    let file = home.between("fileService.php?cache=false&amp;file=", "\"").expect("a picture");
    let path = format!("/fileService.php?file={file}");
    let thumbnail = browser.get(&path).must(200, "");
    assert_eq!((thumbnail.body.len(), jpeg_size(&thumbnail.body)), (5895, Some((120, 120))));
    assert!(
        thumbnail.header("expires").is_some() && thumbnail.header("etag").is_some(),
        "{}",
        thumbnail.head
    );
    let since = thumbnail.header("last-modified").expect("a time").to_string();
    let again = browser.get_with(&path, &format!("If-Modified-Since: {since}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
    for name in ["../kit.toml", "e1t.jpg/../../p1t.jpg", "e0t.jpg", "p1l.pdf", "e99999t.jpg"] {
        browser.get(&format!("/fileService.php?file={name}")).must(404, "No such file");
    }
    browser.get("/taggedEvents.php?tag=%27%20OR%201=1%20--%20").must(200, "No events have this tag.");
    browser.get("/users.php?username=%27%20OR%20%27a%27=%27a").must(404, "No such person");
    browser.get("/events.php?socialEventID=1%20OR%201").must(400, "Which event?");
    browser.get("/addAttendee.php?id=1").must(405, "");
    browser.post("/addAttendee.php", &[("id", "1")]).must(403, "Log in first");
}

fn parts_of_pages_are_no_pages(calendar: &Calendar) {
    let mut browser = calendar.browser();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/events/app/lib");
    let parts = fs::read_dir(folder).expect("the kit has parts of pages").flatten();
    let names: Vec<String> = parts.map(|part| part.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() > 15 && names.iter().any(|name| name == "config.php.j2"), "{names:?}");
    for name in names {
        let page = browser.get(&format!("/lib/{}", name.trim_end_matches(".j2")));
        let page = page.must(404, "No such page");
        assert_eq!(page.text(), "No such page.\n", "nothing of {name} is told");
    }
}

fn logging_in_needs_the_password_and_a_token(calendar: &Calendar) {
    let (name, password) = calendar.somebody();
    let mut browser = calendar.browser();
    browser.get("/login.php").must(200, "Username");
    login(&mut browser, &name, "wrong").must(403, "no such name with this password");
    login(&mut browser, "' OR 1=1 -- ", &password).must(403, "no such name with this password");
    browser.use_token("0123456789abcdef0123456789abcdef");
    login(&mut browser, &name, &password).must(403, "This form has expired");
    browser.get("/index.php").must(200, "Username");
}

fn attending_counts_once_and_comments_are_shown(ann: &mut Browser) {
    let count = |page: &Page| -> u32 {
        page.between("<h3>", " Attendees:")
            .and_then(|count| count.parse().ok())
            .expect("a number of attendees")
    };
    // One that ann does not attend yet: attending makes it one more.
    let (id, before) = (1..=150)
        .find_map(|id| {
            let before = count(&ann.get(&format!("/events.php?socialEventID={id}")).must(200, "Attend"));
            let after =
                count(&ann.post("/addAttendee.php", &[("id", &id.to_string())]).must(200, "Attendees:"));
            (after == before + 1).then_some((id.to_string(), before))
        })
        .expect("an event that is new to ann");
    let twice = ann.post("/addAttendee.php", &[("id", &id)]).must(200, "Attendees:");
    assert_eq!(count(&twice), before + 1, "attending twice counts once");
    let fields = [("id", id.as_str()), ("comments", SCRIPT), ("rating", "5")];
    let shown = ann.post("/addComment.php", &fields).must(200, SHOWN);
    assert!(!shown.has(SCRIPT), "{}", shown.text());
    ann.post("/addComment.php", &[("id", &id), ("comments", "x"), ("rating", "9")]).must(400, "Stars");
}

fn pictures_are_what_their_bytes_say(calendar: &Calendar, ann: &mut Browser) {
    let (photo, leaflet) = (media("event.jpg"), media("event.pdf"));
    post_event(ann, "No picture", "refused", b"just text", &leaflet).must(415, "That is not a picture");
    post_event(ann, "No leaflet", "refused", &photo, b"just text").must(415, "That is not a PDF");
    let large = [photo.as_slice(), &vec![0; 3 << 20]].concat();
    post_event(ann, "Too large", "refused", &large, &leaflet).must(413, "too large");
    ann.get("/taggedEvents.php?tag=refused").must(200, "No events have this tag.");

    let mut browser = calendar.browser();
    register(&mut browser, "ann_text", b"just text").must(415, "That is not a picture");
    browser.get("/users.php?username=ann_text").must(404, "No such person");
    let page = register(&mut browser, "ann_new", &media("person.jpg"))
        .must(200, "<title>Events: Person ann_new</title>");
    assert!(page.has(SHOWN) && !page.has(SCRIPT) && page.has("O&apos;Neil"), "{}", page.text());
    register(&mut browser, "ann_new", &media("person.jpg")).must(409, "That name is taken");
}

fn a_new_event_is_there_with_its_picture(calendar: &Calendar, ann: &mut Browser) -> String {
    let (photo, leaflet) = (media("event.jpg"), media("event.pdf"));
    let page = post_event(ann, SCRIPT, "zebra apple zebra", &photo, &leaflet).must(200, SHOWN);
    assert!(
        !page.has(SCRIPT) && page.has("1 Attendees:") && page.has("33.0000, -177.0000"),
        "{}",
        page.text()
    );
    assert!(page.has("DROP TABLE PERSON"), "a quote is a quote: {}", page.text());
    let file = page.between("cache=false&amp;file=", "t.jpg").expect("its picture");
    let mut browser = calendar.browser();
    let thumbnail = browser.get(&format!("/fileService.php?file={file}t.jpg")).must(200, "");
    assert_eq!(jpeg_size(&thumbnail.body), Some((120, 120)));
    assert_eq!(
        browser.get(&format!("/fileService.php?file={file}.jpg")).body,
        photo,
        "the picture as it was sent"
    );
    assert_eq!(
        browser.get(&format!("/fileService.php?file={file}l.pdf")).body,
        leaflet,
        "the leaflet as it was sent"
    );
    browser.get("/taggedEvents.php?tag=zebra").must(200, SHOWN);
    file.trim_start_matches('e').to_string()
}

fn the_feed_is_well_formed(calendar: &Calendar) {
    let mut browser = calendar.browser();
    for path in ["/feed.php", "/feed.php?tag=zebra"] {
        let feed = browser.get(path).must(200, "<rss");
        assert!(well_formed(&feed.text()), "{}", feed.text());
    }
    assert_eq!(browser.get("/feed.php").text().matches("<item>").count(), 10);
    browser.get("/feed.php?tag=zebra").must(200, SHOWN);
    assert!(!well_formed("<a><b></a></b>") && !well_formed("<a>&x</a>"), "this test could fail");
}

fn friends_are_invited_and_accept(calendar: &Calendar, ann: &mut Browser, name: &str) {
    ann.get("/users.php?username=ann_new").must(200, "Invite as a friend");
    ann.post("/friends.php", &[("action", "invite"), ("username", "ann_new")]).must(200, "Person ann_new");
    let mut other = calendar.browser();
    other.get("/login.php").must(200, "Username");
    login(&mut other, "ann_new", "Geheim 1").must(200, "Friend requests: 1");
    other.get("/users.php?username=ann_new").must(200, "Accept");
    let fields = [("action", "accept"), ("username", name), ("back", "me")];
    let page = other.post("/friends.php", &fields).must(200, "Friend requests: 0");
    assert!(page.has(&format!(">{name}</a>")), "a friend now: {}", page.text());
    other.post("/friends.php", &fields).must(409, "No such request");
    other.get("/logout.php").must(200, "Username");
}

fn a_full_store_loses_nothing(calendar: &Calendar, ann: &mut Browser) {
    let (photo, leaflet) = (media("event.jpg"), media("event.pdf"));
    let incoming = calendar.store.join("incoming");
    let set = |mode: u32| {
        for dir in [&calendar.store, &incoming] {
            fs::set_permissions(dir, fs::Permissions::from_mode(mode)).expect("permissions can be set");
        }
    };
    set(0o555);
    let page = post_event(ann, "Nowhere", "nowhere", &photo, &leaflet);
    set(0o755);
    page.must(507, "Your files could not be stored");
    ann.get("/taggedEvents.php?tag=nowhere").must(200, "No events have this tag.");
    assert_eq!(fs::read_dir(&incoming).expect("the folder is there").count(), 0, "nothing is left there");
    post_event(ann, "Somewhere", "somewhere", &photo, &leaflet).must(200, "Somewhere");
}

fn a_dead_cache_costs_nothing(calendar: &Calendar, ann: &mut Browser, event: &str) {
    let stopped = Stopped::new(calendar.cache);
    let slow = ann.get("/index.php").must(200, "Coming events").took;
    kill(calendar.cache);
    drop(stopped);
    let mut stranger = calendar.browser();
    for _ in 0..3 {
        let pages = [
            ann.get("/index.php"),
            stranger.get("/index.php"),
            ann.get(&format!("/events.php?socialEventID={event}")),
        ];
        for page in pages {
            let page = page.must(200, "<title>Events: ");
            assert!(page.took < Duration::from_secs(1), "{:?}", page.took);
        }
    }
    assert!(slow < Duration::from_secs(2), "a cache that hangs: {slow:?}");
}
