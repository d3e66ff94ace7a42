//! What a script outside of a run sees of an answer: the same page that sessions look at, one at a time.
//!
//! Not here: how the answer comes.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use mlua::{LightUserData, Lua, Value};

use super::page::{self, NO_PAGE, PageSlot, Pages};
use crate::http::response::{Expected, Response};

/// The page that a script has in its hands.
#[derive(Debug)]
pub struct OnePage {
    pages: Rc<RefCell<Pages>>,
    slot: Cell<PageSlot>,
}

impl OnePage {
    /// Defines what pages can do, for all light userdata of `lua`.
    pub fn install(lua: &Lua) -> mlua::Result<OnePage> {
        let pages = Rc::new(RefCell::new(Pages::default()));
        page::install(lua, &pages)?;
        Ok(OnePage { pages, slot: Cell::new(NO_PAGE) })
    }

    /// `receive` reads the answer to `request`, of which the first line is kept. The page before it is gone.
    pub fn receive<T>(
        &self,
        request: &[u8],
        expected: Expected,
        receive: impl FnOnce(&mut Response) -> T,
    ) -> T {
        let mut pages = self.pages.borrow_mut();
        pages.release(self.slot.get());
        let slot = pages.claim(request, expected);
        self.slot.set(slot);
        receive(pages.response(slot))
    }

    /// The page as scripts hold it.
    pub fn page(&self) -> Value {
        let bits = Pages::page(&self.pages, self.slot.get()).bits();
        Value::LightUserData(LightUserData(bits as *mut c_void))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_can_be_read_until_the_next_answer_comes() {
        let lua = Lua::new();
        let one = OnePage::install(&lua).expect("pages are installed");
        let receive = |body: &str| {
            let length = body.len();
            let answer = format!("HTTP/1.1 207 X\r\nETag: \"1\"\r\nContent-Length: {length}\r\n\r\n{body}");
            let request = b"REPORT /a HTTP/1.1\r\n\r\n";
            let whole =
                one.receive(request, Expected::default(), |response| response.feed(answer.as_bytes()));
            assert_eq!(whole, Ok(true));
            one.page()
        };
        let read = |name: &str| lua.load(format!("return {name}:xml('b')[1]")).eval::<String>();
        lua.globals().set("first", receive("<a><b>one</b></a>")).expect("a page can be given to Lua");
        assert_eq!(read("first").ok().as_deref(), Some("one"));
        let of_head = lua.load("return first.status == 207 and first:header('etag') == '\"1\"'");
        assert_eq!(of_head.eval::<bool>().ok(), Some(true));
        lua.globals().set("second", receive("<a><b>two</b></a>")).expect("a page can be given to Lua");
        assert_eq!(read("second").ok().as_deref(), Some("two"));
        let error = read("first").expect_err("another answer has come");
        assert!(error.to_string().contains("page is gone"), "{error}");
    }
}
