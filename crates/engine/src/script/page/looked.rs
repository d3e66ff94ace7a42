//! What has been made of a body when a session first looked at it: decoded once, read as JSON once; and what is kept of an
//! answer where the session finds fault with it.

use std::cell::OnceCell;

use serde_json::Value;

use super::{NO_PAGE, PageSlot, Pages};
use crate::http::decode::{DecodeError, decode};
use crate::http::response::Response;

/// What has been made of one answer's body so far.
#[derive(Debug, Default)]
pub(super) struct Looked {
    decoded: OnceCell<Result<Vec<u8>, DecodeError>>,
    json: OnceCell<Result<Value, String>>,
}

impl Looked {
    /// The body with its content coding undone, or in words why that can't be done.
    pub(super) fn decoded(&self, coding: &[u8], response: &Response) -> Result<&[u8], String> {
        if !response.kept_whole() {
            return Err("the answer's body is coded and was not kept whole: it can't be decoded".to_string());
        }
        let decoded = self.decoded.get_or_init(|| {
            let mut out = Vec::new();
            decode(coding, response.body(), &mut out).map(|()| out)
        });
        decoded.as_deref().map_err(DecodeError::to_string)
    }

    /// The decoded body as JSON, or in words why it is none.
    pub(super) fn json(&self, body: &[u8]) -> Result<&Value, String> {
        let read = || serde_json::from_slice(body).map_err(|error| format!("the page is not JSON: {error}"));
        self.json.get_or_init(read).as_ref().map_err(String::clone)
    }
}

impl Pages {
    /// Of the pages that a session holds the one that its failure is about: the one that its script looked at last, else the
    /// one that came last.
    pub(crate) fn in_question(&self, held: &[PageSlot]) -> Option<PageSlot> {
        let looked_at = self.looked_at.get().filter(|slot| held.contains(slot));
        looked_at.or_else(|| held.last().copied()).filter(|slot| *slot != NO_PAGE)
    }
}

/// More of an answer is not quoted.
const MAX_EXCERPT_BYTES: usize = 600;

/// The beginning of an answer, decoded as far as that can be done, for evidence.
pub(crate) fn excerpt(response: &Response) -> String {
    let mut decoded = Vec::new();
    let body = match response.content_encoding() {
        // What came out before an error is worth showing, too.
        Some(coding) if decode(coding, response.body(), &mut decoded).is_ok() || !decoded.is_empty() => {
            &decoded
        }
        _ => response.body(),
    };
    let body = worth_quoting(body);
    format!(
        "status {}\n{}",
        response.status(),
        String::from_utf8_lossy(&body[..body.len().min(MAX_EXCERPT_BYTES)])
    )
}

/// A page of HTML whose head would take all the room from its `<body>` on: that is what a session looks for.
fn worth_quoting(body: &[u8]) -> &[u8] {
    let begins = memchr::memmem::find(body, b"<body").filter(|at| *at > MAX_EXCERPT_BYTES / 2);
    &body[begins.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_whose_head_is_long_is_quoted_from_its_body_on() {
        let page = |head: usize| format!("<html><head>{}</head><body>locked</body>", "x".repeat(head));
        assert_eq!(worth_quoting(page(1000).as_bytes()), b"<body>locked</body>");
        assert_eq!(worth_quoting(page(10).as_bytes()), page(10).as_bytes());
        assert_eq!(worth_quoting(b"{}"), b"{}");
    }
}
