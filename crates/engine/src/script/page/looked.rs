//! What has been made of a body when a session first looked at it: decoded once, read as JSON once.

use std::cell::OnceCell;

use serde_json::Value;

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

/// The beginning of an answer, decoded as far as that can be done, for evidence.
pub(crate) fn excerpt(response: &Response) -> String {
    const MAX_EXCERPT_BYTES: usize = 600;
    let mut decoded = Vec::new();
    let body = match response.content_encoding() {
        // What came out before an error is worth showing, too.
        Some(coding) if decode(coding, response.body(), &mut decoded).is_ok() || !decoded.is_empty() => {
            &decoded
        }
        _ => response.body(),
    };
    format!(
        "status {}\n{}",
        response.status(),
        String::from_utf8_lossy(&body[..body.len().min(MAX_EXCERPT_BYTES)])
    )
}
