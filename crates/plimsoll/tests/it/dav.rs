//! A calendar program as a test needs one: requests of any method, each with a name and its password, and answers in XML
//! and iCalendar taken apart. iCalendar is read by a parser that is none of ours. One connection a request.

use icalendar::parser::{read_calendar, unfold};

use crate::browser::{Browser, Page};

/// Nothing may be there yet.
pub(crate) const NEW: &str = "If-None-Match: *\r\n";
/// What a program wants to know of all that is in a calendar.
pub(crate) const LISTED: &str = "<D:getcontentlength/><D:resourcetype/><D:getetag/>";

/// By which properties people can be looked for (RFC 3744, 9.5).
pub(crate) const SEARCHABLE: &str = "<D:principal-search-property-set xmlns:D=\"DAV:\"/>";
/// For whom somebody may read (RFC 3253, 3.8).
pub(crate) const DELEGATES: &str = "<D:expand-property xmlns:D=\"DAV:\"><D:property \
     name=\"calendar-proxy-read-for\" namespace=\"http://calendarserver.org/ns/\">\
     <D:property name=\"displayname\"/></D:property></D:expand-property>";

const DECLARED: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
const SPACES: &str = "xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:S=\"http://calendarserver.org/ns/\" \
     xmlns:A=\"http://apple.com/ns/ical/\"";

/// Whoever asks, and the server that is asked.
pub(crate) struct Dav {
    browser: Browser,
    /// The header line that says who it is; empty for strangers.
    proof: String,
}

impl Dav {
    pub(crate) fn new(address: &str, name: &str, password: &str) -> Dav {
        let proof = format!("Authorization: Basic {}\r\n", base64(&format!("{name}:{password}")));
        Dav { browser: Browser::new(address), proof }
    }

    /// Somebody of the data set, whose password is the name.
    pub(crate) fn of(address: &str, number: u32) -> Dav {
        let name = name(number);
        Dav::new(address, &name, &name)
    }

    pub(crate) fn stranger(address: &str) -> Dav {
        Dav { browser: Browser::new(address), proof: String::new() }
    }

    /// Header lines are each ended by CR LF.
    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Page {
        self.browser.ask(method, path, &format!("{}{headers}", self.proof), body.as_bytes())
    }

    pub(crate) fn get(&mut self, path: &str) -> Page {
        self.ask("GET", path, "", "")
    }

    /// On a condition such as [`NEW`] or [`matching`], or on none.
    pub(crate) fn put(&mut self, path: &str, condition: &str, text: &str) -> Page {
        self.ask("PUT", path, &format!("Content-Type: text/calendar; charset=utf-8\r\n{condition}"), text)
    }

    pub(crate) fn delete(&mut self, path: &str, condition: &str) -> Page {
        self.ask("DELETE", path, condition, "")
    }

    pub(crate) fn properties(&mut self, path: &str, depth: u8, names: &str) -> Page {
        let body = format!("{DECLARED}<D:propfind {SPACES}><D:prop>{names}</D:prop></D:propfind>");
        self.xml("PROPFIND", path, depth, &body)
    }

    /// `body` is one of [`between`], [`multiget`] and [`changes`].
    pub(crate) fn report(&mut self, path: &str, body: &str) -> Page {
        self.xml("REPORT", path, 1, body)
    }

    /// Of the resource alone: `body` is [`SEARCHABLE`] or [`DELEGATES`].
    pub(crate) fn report_of(&mut self, path: &str, body: &str) -> Page {
        self.xml("REPORT", path, 0, &format!("{DECLARED}{body}"))
    }

    /// Sets a property, which stands in XML as it is.
    pub(crate) fn set(&mut self, path: &str, property: &str) -> Page {
        let body = format!(
            "{DECLARED}<D:propertyupdate {SPACES}><D:set><D:prop>{property}</D:prop></D:set></D:propertyupdate>"
        );
        self.xml("PROPPATCH", path, 0, &body)
    }

    /// `title` stands in XML as it is.
    pub(crate) fn make_calendar(&mut self, path: &str, title: &str) -> Page {
        let body = format!(
            "{DECLARED}<C:mkcalendar {SPACES}><D:set><D:prop><D:displayname>{title}</D:displayname></D:prop></D:set>\
             </C:mkcalendar>"
        );
        self.xml("MKCALENDAR", path, 0, &body)
    }

    fn xml(&mut self, method: &str, path: &str, depth: u8, body: &str) -> Page {
        let headers = format!("Content-Type: application/xml; charset=utf-8\r\nDepth: {depth}\r\n");
        self.ask(method, path, &headers, body)
    }
}

/// The name of a user of the data set.
pub(crate) fn name(number: u32) -> String {
    format!("user{number:05}")
}

/// It must be what had this tag.
pub(crate) fn matching(etag: &str) -> String {
    format!("If-Match: {etag}\r\n")
}

/// The tag of an answer, which must be a strong one.
#[track_caller]
pub(crate) fn tag(page: &Page) -> String {
    let etag = page.header("etag").unwrap_or_else(|| panic!("no tag in {}", page.head));
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2, "{etag} is no strong tag");
    etag.to_string()
}

/// Asks for the events between two times, whole.
pub(crate) fn between(start: &str, end: &str) -> String {
    format!(
        "{DECLARED}<C:calendar-query {SPACES}><D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter>\
         <C:comp-filter name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\"><C:time-range start=\"{start}\" end=\"{end}\"/>\
         </C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"
    )
}

/// Asks for some objects, whole.
pub(crate) fn multiget(paths: &[&str]) -> String {
    let hrefs: String = paths.iter().map(|path| format!("<D:href>{path}</D:href>")).collect();
    format!(
        "{DECLARED}<C:calendar-multiget {SPACES}><D:prop><D:getetag/><C:calendar-data/></D:prop>{hrefs}\
         </C:calendar-multiget>"
    )
}

/// Asks what has changed since a token was given; for everything with an empty one.
pub(crate) fn changes(token: &str) -> String {
    format!(
        "{DECLARED}<D:sync-collection {SPACES}><D:sync-token>{token}</D:sync-token><D:sync-level>1</D:sync-level>\
         <D:prop><D:getetag/></D:prop></D:sync-collection>"
    )
}

/// What a multistatus says of one resource.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) href: String,
    pub(crate) etag: Option<String>,
    /// The object's text.
    pub(crate) data: Option<String>,
    /// All of it, as it stands.
    pub(crate) xml: String,
}

#[track_caller]
pub(crate) fn rows(page: &Page) -> Vec<Row> {
    let text = page.text();
    assert_eq!(page.status, 207, "{}\n{text}", page.head);
    let row = |xml: &str| {
        let of = |name: &str| element(xml, name).map(plain).filter(|text| !text.is_empty());
        let href = of("href").unwrap_or_else(|| panic!("a response without an address: {xml}"));
        Row { href, etag: of("getetag"), data: of("calendar-data"), xml: xml.to_string() }
    };
    elements(&text, "response").into_iter().map(row).collect()
}

/// What is in the first element of that local name, whatever its prefix, as it stands.
pub(crate) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    first(xml, name).map(|(inner, _)| inner)
}

fn elements<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (mut found, mut rest) = (Vec::new(), xml);
    while let Some((inner, behind)) = first(rest, name) {
        found.push(inner);
        rest = behind;
    }
    found
}

/// What is in the first element of that name, and what comes behind it. None of its kind stands within it.
fn first<'a>(xml: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = xml;
    loop {
        let (_, opened) = rest.split_once('<')?;
        let (tag, behind) = opened.split_once('>')?;
        let full = tag.split([' ', '\n', '/']).next().unwrap_or_default();
        if full.rsplit(':').next() == Some(name) {
            return if tag.ends_with('/') {
                Some(("", behind))
            } else {
                behind.split_once(&format!("</{full}>"))
            };
        }
        rest = behind;
    }
}

/// The text that XML stands for.
pub(crate) fn plain(xml: &str) -> String {
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#13;", "\r"), ("&amp;", "&")];
    entities.iter().fold(xml.trim().to_string(), |text, (entity, character)| text.replace(entity, character))
}

/// One event as an object of its own. `summary` is escaped as iCalendar wants it.
pub(crate) fn event(uid: &str, start: &str, end: &str, summary: &str) -> String {
    component(
        "VEVENT",
        uid,
        &[&format!("DTSTART:{start}"), &format!("DTEND:{end}"), &format!("SUMMARY:{summary}")],
    )
}

/// One event or task with these lines.
pub(crate) fn component(kind: &str, uid: &str, lines: &[&str]) -> String {
    let head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Plimsoll//Tests//EN"].map(str::to_string);
    let own = [format!("BEGIN:{kind}"), format!("UID:{uid}")];
    let fixed = ["DTSTAMP:20061011T120000Z", "SEQUENCE:0"].map(str::to_string);
    let end = [format!("END:{kind}"), "END:VCALENDAR".to_string()];
    let lines = lines.iter().map(|line| (*line).to_string());
    let all = head.into_iter().chain(own).chain(fixed).chain(lines).chain(end);
    all.map(|line| line + "\r\n").collect()
}

/// An event or a task of a calendar file.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: String,
    pub(crate) uid: String,
}

/// The events and tasks of a calendar file; a text that no program would take fails.
#[track_caller]
pub(crate) fn objects(text: &str) -> Vec<Object> {
    // What went through XML has no carriage returns any more.
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().all(|line| line.len() <= 75), "a line is too long: {text}");
    let unfolded = unfold(&(lines.join("\r\n") + "\r\n"));
    let calendar = read_calendar(&unfolded).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of_calendar = |name: &str| calendar.properties.iter().filter(|one| one.name == name).count();
    assert_eq!((of_calendar("VERSION"), of_calendar("PRODID")), (1, 1), "{text}");
    let object = |component: &icalendar::parser::Component<'_>| {
        let value = |name: &str| component.find_prop(name).map(|found| found.val.as_str().to_string());
        assert!(value("DTSTAMP").is_some() && value("SUMMARY").is_some(), "{text}");
        let uid = value("UID").unwrap_or_else(|| panic!("an object without a UID: {text}"));
        Object { kind: component.name.as_str().to_string(), uid }
    };
    calendar.components.iter().map(object).collect()
}

/// The only one of a text.
#[track_caller]
pub(crate) fn only(text: &str) -> Object {
    let mut all = objects(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
    let of_three = |three: &[u8]| {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let padded = |index: usize| if index > three.len() { '=' } else { digit(bits >> (18 - 6 * index)) };
        [0, 1, 2, 3].map(padded)
    };
    text.as_bytes().chunks(3).flat_map(of_three).collect()
}

#[test]
fn names_and_passwords_are_written_as_rfc_7617_has_them() {
    assert_eq!(base64("Aladdin:open sesame"), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert_eq!((base64("a"), base64("ab"), base64("abc")), ("YQ==".into(), "YWI=".into(), "YWJj".into()));
}

#[test]
fn elements_are_found_whatever_their_prefix() {
    let xml = "<?xml version=\"1.0\"?><d:a x=\"y\"><d:ab>no</d:ab><c:b/><B:b>1 &lt; 2</B:b></d:a><a>two</a>";
    assert_eq!(elements(xml, "b"), ["", "1 &lt; 2"]);
    assert_eq!((element(xml, "c"), elements(xml, "a").len()), (None, 2));
    assert_eq!(plain(" &amp;lt; &quot;a&quot; "), "&lt; \"a\"");
}
