//! What a session sees of an answer: it stays in the engine's own buffer, and only what the script asks for becomes
//! Lua. A page lives until its user's next request.

mod html;
mod looked;
mod needles;
mod xml;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use memchr::memchr;
use mlua::{Error, LightUserData, Lua, LuaString, Table, Value};
use regex::bytes::Regex;

use looked::Looked;
use needles::Needles;

use super::stack::{Answer, Argument, Call, Fault, Native, define, define_over};
use crate::http::redirect::{Origin, Place};
use crate::http::response::{Expected, Fault as NoHttp, KnownHeads, Response};

pub(crate) use looked::excerpt;

/// Large answers give their memory back beyond this.
const KEPT_CAPACITY_BYTES: usize = 256 * 1024;

/// The answers under way and those that scripts may look at.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    slots: Vec<Slot>,
    free: Vec<u32>,
    known_heads: KnownHeads,
    patterns: HashMap<String, Regex>,
    needles: Needles,
    /// What references in pages are relative to.
    origin: Option<Origin>,
    /// A look at a page raised an error because of what the server sent.
    spoiled: Cell<bool>,
    /// The page that a script looked at last.
    looked_at: Cell<Option<PageSlot>>,
}

#[derive(Debug, Default)]
struct Slot {
    response: Response,
    /// The request's first line, for evidence.
    request: Vec<u8>,
    serial: u32,
    /// Made when a session looks at the body.
    looked: OnceCell<Box<Looked>>,
}

impl Slot {
    /// The body, decoded.
    fn body(&self) -> Result<&[u8], String> {
        match self.response.content_encoding() {
            None => Ok(self.response.body()),
            Some(coding) => self.looked.get_or_init(Box::default).decoded(coding, &self.response),
        }
    }

    /// The target of the request that it answers.
    fn target(&self) -> &[u8] {
        self.request.split(|byte| *byte == b' ').nth(1).unwrap_or(b"/")
    }
}

/// The number of a page's slot.
pub(crate) type PageSlot = u32;

/// No page: its answer has not come.
pub(crate) const NO_PAGE: PageSlot = PageSlot::MAX;

impl Pages {
    /// No page yet. `origin` is what references in pages are relative to.
    pub(crate) fn new(origin: Option<Origin>) -> Pages {
        Pages { origin, ..Pages::default() }
    }

    /// A slot for the answer to `request` to come.
    pub(crate) fn claim(&mut self, request: &[u8], expected: Expected) -> PageSlot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        self.begin_again(slot, request, expected);
        slot
    }

    /// The slot gets ready for the answer to another request instead.
    pub(crate) fn begin_again(&mut self, slot: PageSlot, request: &[u8], expected: Expected) {
        if self.looked_at.get() == Some(slot) {
            self.looked_at.set(None);
        }
        let page = &mut self.slots[slot as usize];
        page.response.begin(expected);
        page.looked.take();
        page.request.clear();
        page.request.extend_from_slice(&request[..memchr(b'\r', request).unwrap_or(request.len())]);
    }

    /// A slot with the answer that a user's own cache gives: the object has not changed.
    pub(crate) fn claim_cached(&mut self, request: &[u8]) -> PageSlot {
        let slot = self.claim(request, Expected::default());
        let fed = self.feed(slot, b"HTTP/1.1 304 Not Modified\r\n\r\n");
        debug_assert_eq!(fed, Ok(true), "a constant head without a body is a whole answer");
        slot
    }

    /// The request that a slot answers: `GET /ds2/dslogin.php?…`.
    pub(crate) fn request_line(&self, slot: PageSlot) -> String {
        let line = &self.slots[slot as usize].request;
        String::from_utf8_lossy(line.strip_suffix(b" HTTP/1.1").unwrap_or(line)).into_owned()
    }

    /// Ends the page's life: scripts that still hold it get an error.
    pub(crate) fn release(&mut self, slot: PageSlot) {
        if slot == NO_PAGE {
            return;
        }
        let page = &mut self.slots[slot as usize];
        page.serial = page.serial.wrapping_add(1);
        page.looked.take();
        page.response.shrink(KEPT_CAPACITY_BYTES);
        self.free.push(slot);
    }

    /// The answer in a slot.
    pub(crate) fn response(&mut self, slot: PageSlot) -> &mut Response {
        &mut self.slots[slot as usize].response
    }

    /// Takes the next bytes of the answer in a slot; whether it is complete.
    pub(crate) fn feed(&mut self, slot: PageSlot, bytes: &[u8]) -> Result<bool, NoHttp> {
        self.slots[slot as usize].response.feed_knowing(&mut self.known_heads, bytes)
    }

    /// What a script gets to see of it.
    pub(crate) fn page(pages: &Rc<RefCell<Pages>>, slot: PageSlot) -> Page {
        Page { slot, serial: pages.borrow().slots.get(slot as usize).map_or(0, |slot| slot.serial) }
    }

    /// Whether what the server sent made a look at a page fail, since it was last asked.
    pub(crate) fn take_spoiled(&self) -> bool {
        self.spoiled.take()
    }

    fn read(&self, page: Page) -> Option<&Slot> {
        self.looked_at.set(Some(page.slot));
        self.slots.get(page.slot as usize).filter(|slot| slot.serial == page.serial)
    }

    fn slot_of(&self, page: LightUserData) -> Result<&Slot, String> {
        self.read(Page::of(page.0 as u64)).ok_or_else(|| GONE.to_string())
    }

    /// What a look at a page gave; an error in it is the server's.
    fn blame_server<T>(&self, looked: Result<T, String>) -> Result<T, String> {
        self.spoiled.set(self.spoiled.get() || looked.is_err());
        looked
    }

    /// Where a reference in the page leads: a path with query on this server, or a whole URL elsewhere.
    fn resolve(&self, page: LightUserData, reference: &[u8]) -> Result<(Place, Vec<u8>), String> {
        let slot = self.slot_of(page)?;
        let mut out = Vec::new();
        let place = match &self.origin {
            Some(origin) if !reference.is_empty() => origin
                .resolve(slot.target(), reference.trim_ascii(), &mut out)
                .map_err(|bad| bad.to_string())?,
            _ => {
                out.extend_from_slice(slot.target());
                Place::Here
            }
        };
        Ok((place, out))
    }

    fn body(&self, page: LightUserData) -> Result<&[u8], String> {
        self.blame_server(self.slot_of(page)?.body())
    }

    fn body_of<'a>(&'a self, slot: &'a Slot) -> Result<&'a [u8], Fault> {
        self.blame_server(slot.body()).map_err(Fault::new)
    }

    fn pattern(&mut self, text: &str) -> Result<Regex, String> {
        if let Some(regex) = self.patterns.get(text) {
            return Ok(regex.clone());
        }
        let regex = Regex::new(text).map_err(|error| format!("not a regular expression: {error}"))?;
        if self.patterns.len() < 1000 {
            self.patterns.insert(text.to_string(), regex.clone());
        }
        Ok(regex)
    }
}

/// An answer, as a session holds it: a number, so that a page costs no memory in Lua.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    slot: PageSlot,
    /// Tells it from other answers in the same slot.
    serial: u32,
}

impl Page {
    /// As a light userdata.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.serial) << 32 | u64::from(self.slot.wrapping_add(1))
    }

    fn of(bits: u64) -> Page {
        Page { slot: (bits as u32).wrapping_sub(1), serial: (bits >> 32) as u32 }
    }
}

const GONE: &str = "this page is gone: a page can be read until its user's next request";

/// Defines what pages can do, for all light userdata of `lua`.
pub(crate) fn install(lua: &Lua, pages: &Rc<RefCell<Pages>>) -> mlua::Result<()> {
    let methods = lua.create_table()?;
    let natives: [(&str, Native<RefCell<Pages>>); 6] = [
        ("between", between_call),
        ("has", has),
        ("count", count_call),
        ("header", header),
        ("text", text),
        ("json", json),
    ];
    natives.iter().try_for_each(|(name, native)| methods.raw_set(*name, define(lua, pages, *native)?))?;
    let shared = Rc::clone(pages);
    let all = move |lua: &Lua, (page, before, after): (LightUserData, LuaString, LuaString)| {
        let pages = shared.borrow();
        let body = at_line(lua, pages.body(page))?;
        all(lua, &pages.needles, body, (&before.as_bytes(), &after.as_bytes()))
    };
    methods.raw_set("all", lua.create_function(all)?)?;
    let shared = Rc::clone(pages);
    let matching = move |lua: &Lua, (page, pattern): (LightUserData, String)| {
        let regex = at_line(lua, shared.borrow_mut().pattern(&pattern))?;
        captures(lua, &regex, at_line(lua, shared.borrow().body(page))?)
    };
    methods.raw_set("match", lua.create_function(matching)?)?;
    let shared = Rc::clone(pages);
    let form = move |lua: &Lua, (page, number): (LightUserData, Option<usize>)| {
        form(lua, &shared.borrow(), page, number.unwrap_or(1))
    };
    methods.raw_set("form", lua.create_function(form)?)?;
    let shared = Rc::clone(pages);
    let objects = move |lua: &Lua, page: LightUserData| objects(lua, &shared.borrow(), page);
    methods.raw_set("objects", lua.create_function(objects)?)?;
    let shared = Rc::clone(pages);
    let xml = move |lua: &Lua, (page, name, fields): (LightUserData, LuaString, Option<Vec<LuaString>>)| {
        xml(lua, &shared.borrow(), page, &name, &fields.unwrap_or_default())
    };
    methods.raw_set("xml", lua.create_function(xml)?)?;
    let meta = lua.create_table()?;
    meta.raw_set("__index", define_over(lua, pages, member, Some(methods))?)?;
    meta.raw_set("__len", define(lua, pages, length)?)?;
    meta.raw_set("__metatable", false)?;
    lua.set_type_metatable::<LightUserData>(Some(meta));
    Ok(())
}

/// The answer that the call's first argument stands for.
fn view<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<(&'a Pages, &'a Slot), Fault> {
    let Argument::Bits(bits) = call.argument(1) else {
        return Err(Fault::new("a page is wanted here: write page:has(…), with a colon"));
    };
    // SAFETY: pages are changed by the worker and by calls that make requests, never while a call that looks at one
    // runs; what it answers is copied by Lua before anything else can run.
    let pages = unsafe { pages.try_borrow_unguarded() };
    let pages = pages.map_err(|_| Fault::new("the answer is still being received"))?;
    let slot = pages.read(Page::of(bits)).ok_or_else(|| Fault::new(GONE))?;
    Ok((pages, slot))
}

/// The body of that answer, decoded.
fn body<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<&'a [u8], Fault> {
    let (pages, slot) = view(pages, call)?;
    pages.body_of(slot)
}

fn member<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    match call.text(2) {
        Some(b"status") => Ok(Answer::Integer(i64::from(view(pages, call)?.1.response.status()))),
        Some(b"bytes") => Ok(Answer::Integer(view(pages, call)?.1.response.body_bytes() as i64)),
        _ => Ok(Answer::Member(2)),
    }
}

fn wanted<'a>(call: Call<'a>, argument: i32) -> Result<&'a [u8], Fault> {
    call.text(argument).ok_or_else(|| {
        Fault::new(format!("a text is wanted here, not a {}", call.argument(argument).type_name()))
    })
}

fn between_call<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let (pages, slot) = view(pages, call)?;
    let found = pages.needles.between(pages.body_of(slot)?, wanted(call, 2)?, wanted(call, 3)?, 0);
    Ok(found.map_or(Answer::Nil, |(_, text)| Answer::Text(text)))
}

fn has<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let (pages, slot) = view(pages, call)?;
    Ok(Answer::Truth(pages.needles.find(pages.body_of(slot)?, wanted(call, 2)?, 0).is_some()))
}

fn count_call<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(Answer::Integer(count(body(pages, call)?, wanted(call, 2)?) as i64))
}

fn header<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let name = wanted(call, 2)?;
    let name = std::str::from_utf8(name).map_err(|_| Fault::new("not a header's name"))?;
    Ok(view(pages, call)?.1.response.header(name).next().map_or(Answer::Nil, Answer::Text))
}

fn text<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(Answer::Text(body(pages, call)?))
}

fn length<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    Ok(Answer::Integer(body(pages, call)?.len() as i64))
}

/// The page as JSON, or what a JSON pointer (RFC 6901) finds in it.
fn json<'a>(pages: &'a RefCell<Pages>, call: Call<'a>) -> Result<Answer<'a>, Fault> {
    let body = body(pages, call)?;
    let (pages, slot) = view(pages, call)?;
    let pointer = match call.argument(2) {
        Argument::Nil => "",
        Argument::Text(text) => std::str::from_utf8(text).unwrap_or(" "),
        _ => " ",
    };
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(Fault::new("json takes a JSON pointer: \"/items/0/id\", or nothing for the whole page"));
    }
    let whole = pages.blame_server(slot.looked.get_or_init(Box::default).json(body)).map_err(Fault::new)?;
    Ok(whole.pointer(pointer).map_or(Answer::Nil, Answer::Json))
}

/// `{ action, method, fields }`; nil when the page has no form of that number.
fn form(lua: &Lua, pages: &Pages, page: LightUserData, number: usize) -> mlua::Result<Option<Table>> {
    let body = at_line(lua, pages.body(page))?;
    let Some(form) = number.checked_sub(1).and_then(|index| html::form(body, index)) else { return Ok(None) };
    let table = lua.create_table()?;
    let (_, action) = at_line(lua, pages.resolve(page, &form.action))?;
    table.raw_set("action", lua.create_string(action)?)?;
    table.raw_set("method", if form.posts { "POST" } else { "GET" })?;
    let fields = lua.create_table()?;
    for (name, value) in form.fields {
        let (name, value) = (lua.create_string(name)?, lua.create_string(value)?);
        match fields.raw_get::<Value>(&name)? {
            Value::Nil => fields.raw_set(name, value)?,
            Value::Table(list) => list.raw_push(value)?,
            first => fields.raw_set(name, lua.create_sequence_from([first, Value::String(value)])?)?,
        }
    }
    table.raw_set("fields", fields)?;
    Ok(Some(table))
}

/// The paths of what the page is made of, each once, as far as this server has it.
fn objects(lua: &Lua, pages: &Pages, page: LightUserData) -> mlua::Result<Table> {
    let list = lua.create_table()?;
    let mut seen = HashSet::new();
    for reference in html::objects(at_line(lua, pages.body(page))?) {
        // A reference that is no URL is nothing that a browser would fetch.
        let Ok((Place::Here, path)) = pages.resolve(page, &reference) else { continue };
        if seen.insert(path.clone()) {
            list.raw_push(lua.create_string(path)?)?;
        }
    }
    Ok(list)
}

/// The texts of all elements of that name, or for each of them a table of the texts of `fields` in it.
fn xml(
    lua: &Lua,
    pages: &Pages,
    page: LightUserData,
    name: &LuaString,
    fields: &[LuaString],
) -> mlua::Result<Table> {
    let body = at_line(lua, pages.body(page))?;
    let wanted: Vec<_> = fields.iter().map(LuaString::as_bytes).collect();
    let wanted: Vec<&[u8]> = wanted.iter().map(|field| &field[..]).collect();
    let found = at_line(lua, pages.blame_server(xml::elements(body, &name.as_bytes(), &wanted)))?;
    xml::table(lua, &found, fields)
}

/// An error with the line of the script's call before it.
fn at_line<T>(lua: &Lua, result: Result<T, String>) -> mlua::Result<T> {
    result.map_err(|what| {
        let place = lua.inspect_stack(1, |frame| {
            let source = frame.source().short_src.unwrap_or_default().into_owned();
            format!("{source}:{}: ", frame.current_line().unwrap_or_default())
        });
        Error::runtime(format!("{}{what}", place.unwrap_or_default()))
    })
}

fn all(lua: &Lua, needles: &Needles, body: &[u8], (before, after): (&[u8], &[u8])) -> mlua::Result<Table> {
    let list = lua.create_table()?;
    let mut from = 0;
    while let Some((end, text)) = needles.between(body, before, after, from) {
        list.raw_push(lua.create_string(text)?)?;
        from = end;
    }
    Ok(list)
}

fn optional_string(lua: &Lua, bytes: Option<&[u8]>) -> mlua::Result<Value> {
    bytes.map_or(Ok(Value::Nil), |bytes| Ok(Value::String(lua.create_string(bytes)?)))
}

/// The first match's captures, or the whole match when the pattern has none.
fn captures(lua: &Lua, regex: &Regex, body: &[u8]) -> mlua::Result<mlua::MultiValue> {
    let Some(found) = regex.captures(body) else { return Ok(mlua::MultiValue::new()) };
    let first = usize::from(found.len() > 1);
    (first..found.len())
        .map(|index| optional_string(lua, found.get(index).map(|group| group.as_bytes())))
        .collect()
}

fn count(body: &[u8], text: &[u8]) -> usize {
    if text.is_empty() { 0 } else { memchr::memmem::find_iter(body, text).count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &str) -> (Lua, Rc<RefCell<Pages>>, PageSlot) {
        let lua = Lua::new();
        let pages = Rc::new(RefCell::new(Pages::default()));
        let slot = pages.borrow_mut().claim(b"GET / HTTP/1.1\r\n", Expected::default());
        let answer = format!("HTTP/1.1 200 OK\r\nX-Id: 7\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let done = pages.borrow_mut().feed(slot, answer.as_bytes());
        assert_eq!(done, Ok(true));
        install(&lua, &pages).expect("pages are installed");
        let bits = Pages::page(&pages, slot).bits();
        let page = LightUserData(bits as *mut std::ffi::c_void);
        lua.globals().set("page", page).expect("a page can be given to Lua");
        (lua, pages, slot)
    }

    fn truth(lua: &Lua, script: &str) {
        let result: mlua::Result<bool> = lua.load(script).eval();
        assert!(matches!(result, Ok(true)), "{script}: {result:?}");
    }

    #[test]
    fn a_page_answers_what_a_session_asks() {
        let (lua, ..) = page("<b>one</b><b>two</b><input NAME=id VALUE=42>");
        truth(&lua, "return page.status == 200 and #page == 44");
        truth(&lua, "return page:between('<b>', '</b>') == 'one'");
        truth(&lua, "return table.concat(page:all('<b>', '</b>'), ',') == 'one,two'");
        truth(&lua, "return page:has('two') and not page:has('three') and page:count('<b>') == 2");
        truth(&lua, "return page:match('VALUE=([0-9]+)') == '42' and page:match('nothing') == nil");
        truth(&lua, "return page:header('x-id') == '7' and page:header('x-none') == nil");
        truth(&lua, "return page:between('VALUE=', '\"') == nil");
    }

    #[test]
    fn a_page_of_xml_gives_texts_and_tables() {
        let (lua, ..) = page("<d:m><d:r><d:h>/a</d:h><d:e/></d:r><d:r><d:h>/b</d:h></d:r></d:m>");
        truth(&lua, "return table.concat(page:xml('h'), ',') == '/a,/b' and #page:xml('none') == 0");
        truth(
            &lua,
            "local r = page:xml('r', { 'h', 'e' }) return #r == 2 and r[1].e == '' and r[2].e == nil",
        );
        let (lua, ..) = page("<a><b></a>");
        let result: mlua::Result<bool> = lua.load("return #page:xml('a') == 1").eval();
        assert!(result.is_err_and(|error| error.to_string().contains("the page is not XML")));
    }

    #[test]
    fn a_released_page_is_an_error_and_never_another_answer() {
        let (lua, pages, slot) = page("secret");
        pages.borrow_mut().release(slot);
        let again = pages.borrow_mut().claim(b"GET / HTTP/1.1\r\n", Expected::default());
        assert_eq!(again, slot);
        let result: mlua::Result<bool> = lua.load("return page:has('secret')").eval();
        assert!(result.is_err_and(|error| error.to_string().contains("page is gone")));
    }

    #[test]
    fn empty_patterns_and_bad_expressions_end() {
        let (lua, ..) = page("abc");
        truth(&lua, "return #page:all('', '') == 0 and page:count('') == 0");
        assert!(lua.load("return page:match('(')").exec().is_err());
    }
}
