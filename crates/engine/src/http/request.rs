//! A request as bytes, written into a buffer that is used again for the next one.

use super::cookies::Jar;

/// The parts of a request that never change during a run.
#[derive(Debug, Clone)]
pub struct Preamble {
    after_target: Vec<u8>,
}

impl Preamble {
    /// For requests to `host` (with its port).
    pub fn new(host: &str) -> Preamble {
        let version = env!("CARGO_PKG_VERSION");
        let after_target =
            format!(" HTTP/1.1\r\nHost: {host}\r\nUser-Agent: plimsoll/{version}\r\nAccept: */*\r\n");
        Preamble { after_target: after_target.into_bytes() }
    }

    /// Writes a whole request. `target` is the path with its query, already encoded; `extra` are header lines, each
    /// with its line end.
    pub fn write(&self, out: &mut Vec<u8>, request: &Parts<'_>) {
        out.clear();
        out.extend_from_slice(request.method);
        out.push(b' ');
        out.extend_from_slice(request.target);
        out.extend_from_slice(&self.after_target);
        out.extend_from_slice(request.extra);
        if let Some(jar) = request.cookies {
            jar.write_header(path_of(request.target), out);
        }
        if let Some((content_type, body)) = request.body {
            let length = body.len();
            if !content_type.is_empty() {
                out.extend_from_slice(b"Content-Type: ");
                out.extend_from_slice(content_type);
                out.extend_from_slice(b"\r\n");
            }
            out.extend_from_slice(b"Content-Length: ");
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(body);
        } else {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// What differs from one request to the next.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// `GET`, `POST`, any token.
    pub method: &'a [u8],
    /// Path with query, encoded.
    pub target: &'a [u8],
    /// Header lines, each with its line end.
    pub extra: &'a [u8],
    /// The user's cookies.
    pub cookies: Option<&'a Jar>,
    /// Content type, or nothing when `extra` has it, and body.
    pub body: Option<(&'a [u8], &'a [u8])>,
}

/// The path without its query.
pub fn path_of(target: &[u8]) -> &[u8] {
    let end = target.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(target.len());
    &target[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &Parts<'_>) -> String {
        let mut out = b"left over".to_vec();
        Preamble::new("127.0.0.1:80").write(&mut out, parts);
        String::from_utf8(out).expect("the test's request is text").replace(env!("CARGO_PKG_VERSION"), "V")
    }

    #[test]
    fn a_get_has_no_body_and_carries_its_cookies() {
        let mut jar = Jar::default();
        jar.store(b"id=7; Path=/", b"/");
        let parts = Parts { method: b"GET", target: b"/a?b=c", extra: b"", cookies: Some(&jar), body: None };
        let expected = "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: plimsoll/V\r\nAccept: */*\r\n\
                        Cookie: id=7\r\n\r\n";
        assert_eq!(written(&parts), expected);
    }

    #[test]
    fn a_post_says_how_long_its_body_is() {
        let body: (&[u8], &[u8]) = (b"application/x-www-form-urlencoded", b"a=1&b=2");
        let parts =
            Parts { method: b"POST", target: b"/a", extra: b"X-A: 1\r\n", cookies: None, body: Some(body) };
        let text = written(&parts);
        assert!(text.ends_with("X-A: 1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=1&b=2"), "{text}");
    }
}
