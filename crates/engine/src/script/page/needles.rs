//! Texts that sessions look for in pages, again and again the same ones: how to look is worked out once for each.

use std::cell::RefCell;

use memchr::memmem::{self, Finder};
use rustc_hash::FxHashMap;

/// How to look for each of the first texts; for those beyond it is worked out anew.
const MAX_KNOWN: usize = 1000;
/// And only for those that are not longer: they are kept until the end of the run.
const MAX_TEXT_BYTES: usize = 256;

/// The texts that have been looked for.
#[derive(Debug, Default)]
pub(super) struct Needles {
    known: RefCell<FxHashMap<Box<[u8]>, Finder<'static>>>,
}

impl Needles {
    /// Where `text` is in `body` first, at `from` or behind it.
    pub(super) fn find(&self, body: &[u8], text: &[u8], from: usize) -> Option<usize> {
        let rest = body.get(from..)?;
        let mut known = self.known.borrow_mut();
        let at = match known.get(text) {
            Some(finder) => finder.find(rest),
            None if known.len() < MAX_KNOWN && text.len() <= MAX_TEXT_BYTES => {
                let finder = Finder::new(text).into_owned();
                known.entry(text.into()).or_insert(finder).find(rest)
            }
            None => memmem::find(rest, text),
        };
        at.map(|at| from + at)
    }

    /// What is between the first `before` at `from` or behind it and the next `after`, and where that ends.
    pub(super) fn between<'a>(
        &self,
        body: &'a [u8],
        before: &[u8],
        after: &[u8],
        from: usize,
    ) -> Option<(usize, &'a [u8])> {
        let start = self.find(body, before, from)? + before.len();
        let end = self.find(body, after, start)?;
        let past = end + after.len();
        (past > from).then(|| (past, &body[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_is_and_however_many_there_are() {
        let needles = Needles::default();
        let body: String = (0..2 * MAX_KNOWN).map(|number| format!("<{number}>")).collect();
        for _ in 0..2 {
            for number in 0..2 * MAX_KNOWN {
                let text = format!("<{number}>");
                let at = needles.find(body.as_bytes(), text.as_bytes(), 0);
                assert_eq!(at, body.find(&text), "{text}");
                assert_eq!(
                    needles.find(body.as_bytes(), text.as_bytes(), at.unwrap_or(0) + 1),
                    None,
                    "{text}"
                );
            }
        }
        assert_eq!(needles.known.borrow().len(), MAX_KNOWN);
        let (needles, long) = (Needles::default(), "long".repeat(MAX_TEXT_BYTES));
        assert_eq!(needles.find(format!("a {long}").as_bytes(), long.as_bytes(), 0), Some(2));
        assert_eq!(needles.known.borrow().len(), 0, "what is long is not kept");
        assert_eq!((needles.find(b"ab", b"", 2), needles.find(b"ab", b"", 3)), (Some(2), None));
    }
}
