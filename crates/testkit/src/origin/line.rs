//! A request's head as far as the server needs it: where it ends, its method and target, its body's length.

use super::BLANK_LINE;

/// The head of a request at the front of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    /// Bytes of head and body together.
    pub(super) whole_bytes: usize,
}

/// The head at the front of `bytes`, once it is complete.
pub(super) fn head(bytes: &[u8]) -> Option<Head> {
    let end = bytes.windows(BLANK_LINE.len()).position(|window| window == BLANK_LINE)?;
    let text = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let length = lines.filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap_or(0))
    });
    let whole_bytes = end + BLANK_LINE.len() + length.unwrap_or(0);
    Some(Head { method: method.to_string(), path: path.to_string(), whole_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_at_its_blank_line_and_counts_its_body() {
        assert_eq!(head(b"GET / HTTP/1.1\r\nHost: a\r\n"), None);
        let whole = b"POST /up?a=1 HTTP/1.1\r\ncontent-LENGTH: 5\r\n\r\nhello";
        let found = head(whole).expect("it is complete");
        assert_eq!((found.method.as_str(), found.path.as_str()), ("POST", "/up?a=1"));
        assert_eq!(found.whole_bytes, whole.len());
    }
}
