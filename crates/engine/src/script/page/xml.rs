//! Elements of an XML page by their local names, found in one pass: what a client of WebDAV wants of a multistatus. It
//! builds no tree, and takes names without their prefixes, since every server has its own; of entities it knows those
//! that XML itself has, and numbers. Each tag must be closed by its own: a page cut short is none.

use memchr::{memchr, memmem};
use mlua::{Lua, LuaString, Table};
use smallvec::SmallVec;

use super::html::unescape;

/// An element of the wanted name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// All text in it, without the blanks around it, when no fields were asked for.
    pub(super) text: Vec<u8>,
    /// For each field the text of the first element of its name within; nothing when there is none.
    pub(super) fields: Vec<Option<Vec<u8>>>,
}

/// Every element of that local name, outermost ones only, with the `fields` in it. An error says why the page is no XML.
pub(super) fn elements(body: &[u8], name: &[u8], fields: &[&[u8]]) -> Result<Vec<Element>, String> {
    let mut reader = Reader { body, at: 0, open: SmallVec::new(), any: false };
    let mut picker =
        Picker { name, fields, depth: 0, current: None, takes: SmallVec::new(), found: Vec::new() };
    while let Some(event) = reader.next()? {
        match event {
            Event::Open(tag, empty) => {
                picker.open(tag);
                if empty {
                    picker.close();
                }
            }
            Event::Close => picker.close(),
            Event::Text(text) if picker.takes_text() => picker.text(&unescape(text)),
            Event::Literal(text) => picker.text(text),
            Event::Text(_) => {}
        }
    }
    Ok(picker.found)
}

/// A list of texts, or of tables of texts by the names of `fields`.
pub(super) fn table(lua: &Lua, found: &[Element], fields: &[LuaString]) -> mlua::Result<Table> {
    let list = lua.create_table_with_capacity(found.len(), 0)?;
    for element in found {
        if fields.is_empty() {
            list.raw_push(lua.create_string(&element.text)?)?;
            continue;
        }
        let table = lua.create_table_with_capacity(0, fields.len())?;
        for (field, text) in fields.iter().zip(&element.fields) {
            if let Some(text) = text {
                table.raw_set(field, lua.create_string(text)?)?;
            }
        }
        list.raw_push(table)?;
    }
    Ok(list)
}

/// Puts elements together from what the reader tells.
struct Picker<'a> {
    name: &'a [u8],
    fields: &'a [&'a [u8]],
    depth: usize,
    /// The element under way and the depth at which it stands.
    current: Option<(usize, Element)>,
    /// Fields under way, each with the depth at which it stands.
    takes: SmallVec<[(usize, usize); 4]>,
    found: Vec<Element>,
}

impl Picker<'_> {
    fn open(&mut self, tag: &[u8]) {
        self.depth += 1;
        let Some((_, element)) = &mut self.current else {
            if tag == self.name {
                let element = Element { text: Vec::new(), fields: vec![None; self.fields.len()] };
                self.current = Some((self.depth, element));
            }
            return;
        };
        let field = self.fields.iter().position(|field| *field == tag);
        if let Some(field) = field.filter(|field| element.fields[*field].is_none()) {
            element.fields[field] = Some(Vec::new());
            self.takes.push((field, self.depth));
        }
    }

    /// Most of a page is text that nobody asked for.
    fn takes_text(&self) -> bool {
        self.current.is_some() && (self.fields.is_empty() || !self.takes.is_empty())
    }

    fn text(&mut self, text: &[u8]) {
        let Some((_, element)) = &mut self.current else { return };
        if self.fields.is_empty() {
            element.text.extend_from_slice(text);
        }
        for (field, _) in &self.takes {
            element.fields[*field].get_or_insert_default().extend_from_slice(text);
        }
    }

    fn close(&mut self) {
        let depth = self.depth;
        self.takes.retain(|(_, from)| *from != depth);
        self.depth -= 1;
        if let Some((_, mut element)) = self.current.take_if(|(from, _)| *from == depth) {
            element.text = element.text.trim_ascii().to_vec();
            let texts = element.fields.iter_mut().flatten();
            texts.for_each(|text| *text = text.trim_ascii().to_vec());
            self.found.push(element);
        }
    }
}

/// What comes next in a page.
enum Event<'a> {
    /// An element's local name, and whether it is closed at once.
    Open(&'a [u8], bool),
    Close,
    /// As it stands in the page.
    Text(&'a [u8]),
    /// Taken as it is.
    Literal(&'a [u8]),
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    /// Names of the open elements, with their prefixes.
    open: SmallVec<[&'a [u8]; 16]>,
    any: bool,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<Event<'a>>, String> {
        loop {
            let rest = &self.body[self.at..];
            let Some(text) = memchr(b'<', rest) else { return self.end() };
            if text > 0 {
                self.at += text;
                return Ok(Some(Event::Text(&rest[..text])));
            }
            if rest.starts_with(b"<!--") {
                self.pass(b"-->")?;
            } else if rest.starts_with(b"<![CDATA[") {
                let literal = self.pass(b"]]>")?;
                return Ok(Some(Event::Literal(&literal[9..])));
            } else if rest.starts_with(b"<?") {
                self.pass(b"?>")?;
            } else if rest.starts_with(b"<!") {
                self.pass(b">")?;
            } else if rest.starts_with(b"</") {
                return self.close().map(Some);
            } else {
                return self.element().map(Some);
            }
        }
    }

    fn end(&self) -> Result<Option<Event<'a>>, String> {
        match self.open.last() {
            Some(name) => Err(no_xml(&format!("it ends within <{}>", shown(name)))),
            None if !self.any => Err(no_xml("it has no element")),
            None => Ok(None),
        }
    }

    /// Goes behind `mark`; gives what stands before it.
    fn pass(&mut self, mark: &[u8]) -> Result<&'a [u8], String> {
        let rest = &self.body[self.at..];
        let length = memmem::find(rest, mark)
            .ok_or_else(|| no_xml(&format!("a `{}` is missing", String::from_utf8_lossy(mark))))?;
        self.at += length + mark.len();
        Ok(&rest[..length])
    }

    fn close(&mut self) -> Result<Event<'a>, String> {
        let name = self.pass(b">")?[2..].trim_ascii_end();
        match self.open.pop() {
            Some(open) if open == name => Ok(Event::Close),
            Some(open) => Err(no_xml(&format!("</{}> closes <{}>", shown(name), shown(open)))),
            None => Err(no_xml(&format!("</{}> closes nothing", shown(name)))),
        }
    }

    fn element(&mut self) -> Result<Event<'a>, String> {
        let rest = &self.body[self.at + 1..];
        let length = tag_length(rest).ok_or_else(|| no_xml("it ends within a tag"))?;
        self.at += length + 2;
        let tag = &rest[..length];
        let empty = tag.ends_with(b"/");
        let of_name = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'/';
        let name = &tag[..tag.iter().position(|byte| !of_name(byte)).unwrap_or(length)];
        if name.is_empty() {
            return Err(no_xml("a tag has no name"));
        }
        self.any = true;
        if !empty {
            self.open.push(name);
        }
        let prefix = name.iter().rposition(|byte| *byte == b':').map_or(0, |colon| colon + 1);
        Ok(Event::Open(&name[prefix..], empty))
    }
}

/// How many bytes a tag has before its `>`, which may also stand in the value of an attribute.
fn tag_length(rest: &[u8]) -> Option<usize> {
    let mut quote = None;
    rest.iter().position(|byte| match (quote, byte) {
        (None, b'>') => true,
        (None, b'"' | b'\'') => {
            quote = Some(*byte);
            false
        }
        (Some(open), byte) if open == *byte => {
            quote = None;
            false
        }
        _ => false,
    })
}

fn no_xml(why: &str) -> String {
    format!("the page is not XML: {why}")
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(&name[..name.len().min(60)]).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The elements as text: fields joined by `|`, `-` for what is not there.
    fn elements_as_text(body: &str, name: &str, fields: &[&str]) -> Vec<String> {
        let fields: Vec<&[u8]> = fields.iter().map(|field| field.as_bytes()).collect();
        let elements = elements(body.as_bytes(), name.as_bytes(), &fields).expect("right XML");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let line = |element: Element| match fields.is_empty() {
            true => said(&element.text),
            false => {
                let texts = element.fields.iter();
                let texts: Vec<_> = texts.map(|text| text.as_deref().map_or("-".into(), said)).collect();
                texts.join("|")
            }
        };
        elements.into_iter().map(line).collect()
    }

    const SABRE: &str = "<?xml version=\"1.0\"?>\n<d:multistatus xmlns:d=\"DAV:\" xmlns:cal=\"urn:x\">\n\
        <d:response><d:href>/dav/a%20b.ics</d:href><d:propstat><d:prop><d:getetag>&quot;1&quot;</d:getetag>\
        <cal:calendar-data>BEGIN:VCALENDAR&#xD;\nSUMMARY:a &lt; b&#13;\n</cal:calendar-data></d:prop>\
        <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>\n\
        <d:response><d:href>\n  /dav/c.ics </d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>\
        <d:sync-token>t/2</d:sync-token></d:multistatus>";

    #[test]
    fn a_multistatus_is_read_whatever_prefixes_its_server_has() {
        let bare = SABRE.replace("d:", "").replace("cal:", "C:");
        for body in [SABRE, &bare] {
            let fields = ["href", "getetag", "status"];
            let expected = ["/dav/a%20b.ics|\"1\"|HTTP/1.1 200 OK", "/dav/c.ics|-|HTTP/1.1 404 Not Found"];
            assert_eq!(elements_as_text(body, "response", &fields), expected, "{body}");
            assert_eq!(elements_as_text(body, "sync-token", &[]), ["t/2"]);
            assert_eq!(elements_as_text(body, "calendar-data", &[]), ["BEGIN:VCALENDAR\r\nSUMMARY:a < b"]);
            assert!(elements_as_text(body, "nothing", &[]).is_empty());
        }
    }

    #[test]
    fn an_element_s_text_is_that_of_all_in_it_and_the_first_of_a_name_counts() {
        let body = "<r><p><q> <h>/u/</h>\n</q><h>/v/</h><t a='>' b=\"/\"/></p><p/></r>";
        assert_eq!(elements_as_text(body, "p", &["q", "h", "t", "none"]), ["/u/|/u/||-", "-|-|-|-"]);
        assert_eq!(elements_as_text(body, "h", &[]), ["/u/", "/v/"]);
        assert_eq!(elements_as_text("<a><a>x</a>y</a>", "a", &[]), ["xy"], "outermost ones only");
        assert_eq!(
            elements_as_text("<a><!-- <b>no</b> --><b><![CDATA[1 < 2 &amp;]]></b></a>", "b", &[]),
            ["1 < 2 &amp;"]
        );
    }

    #[test]
    fn a_page_that_is_no_xml_says_why() {
        let table = [
            ("", "it has no element"),
            ("Not found", "it has no element"),
            ("<a><b></a></b>", "</a> closes <b>"),
            ("<a></a></b>", "</b> closes nothing"),
            ("<a><b>cut", "it ends within <b>"),
            ("<a b=\">", "it ends within a tag"),
            ("<a><!-- ", "a `-->` is missing"),
            ("<a>< b></a>", "a tag has no name"),
        ];
        for (body, why) in table {
            let said = elements(body.as_bytes(), b"a", &[]).expect_err(body);
            assert_eq!(said, format!("the page is not XML: {why}"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end(body in proptest::collection::vec(prop_oneof![
            Just(b'<'), Just(b'>'), Just(b'/'), Just(b'"'), Just(b'!'), Just(b'a'), Just(b':'), any::<u8>()], 0..300))
        {
            let _ = elements(&body, b"a", &[b"a"]);
        }
    }
}
