//! The canned answers of the flow kit, the same from nginx and from memory.

/// What a path is answered with.
pub(crate) struct Answer {
    /// The path.
    pub(crate) path: &'static str,
    /// A cookie to be set.
    pub(crate) cookie: Option<&'static str>,
    /// The body's beginning; [`body`] gives the whole.
    body: &'static str,
}

/// Every answer.
pub(crate) const ANSWERS: [Answer; 3] = [
    Answer {
        path: "/login",
        cookie: Some("session=5b7f0c9e6d2a4831; Path=/; HttpOnly"),
        body: "<html><body><h1>Welcome</h1><form><input type=\"hidden\" name=\"customer\" value=\"4711\"></form>",
    },
    Answer {
        path: "/search",
        cookie: None,
        body: "<html><body><table><tr><td>ACADEMY ACADEMY</td></tr></table>",
    },
    Answer { path: "/order", cookie: None, body: "<html><body><p>Thank you for your order.</p>" },
];

/// Pages are filled up to this size with text that no session looks for.
const PAGE_BYTES: usize = 2048;

/// The whole body of an answer.
pub(crate) fn body(answer: &Answer) -> String {
    let filler = "<p>nothing to see here</p>";
    let mut body = answer.body.to_string();
    while body.len() + filler.len() <= PAGE_BYTES {
        body.push_str(filler);
    }
    body
}
