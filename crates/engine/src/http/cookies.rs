//! A user's cookies: what one server set, sent back to it by path (RFC 6265 sections 5.2 to 5.4, one host).

/// The longest jar of a user: more cookies than any of the supported servers sets.
const MOST_COOKIES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
}

/// A user's cookies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jar {
    cookies: Vec<Cookie>,
}

impl Jar {
    /// Takes a `Set-Cookie` header's value that came with the answer to `request_path`.
    pub fn store(&mut self, header: &[u8], request_path: &[u8]) {
        let mut parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let Some((name, value)) = parts.next().and_then(|pair| split_once(pair, b'=')) else { return };
        let (name, value) = (name.trim_ascii(), value.trim_ascii());
        if name.is_empty() {
            return;
        }
        let mut path = default_path(request_path).to_vec();
        let mut expired = false;
        for attribute in parts {
            let (key, value) = split_once(attribute, b'=').unwrap_or((attribute, b""));
            let value = value.trim_ascii();
            if key.eq_ignore_ascii_case(b"path") && value.first() == Some(&b'/') {
                path = value.to_vec();
            } else if key.eq_ignore_ascii_case(b"max-age") {
                expired = value.first() == Some(&b'-') || value.iter().all(|byte| *byte == b'0');
            } else if key.eq_ignore_ascii_case(b"expires") {
                expired |= is_long_past(value);
            }
        }
        self.cookies.retain(|cookie| cookie.name != name || cookie.path != path);
        if !expired && self.cookies.len() < MOST_COOKIES {
            self.cookies.push(Cookie { name: name.to_vec(), value: value.to_vec(), path });
        }
    }

    /// Appends the `Cookie` header line for a request to `path` (without its query), if any cookie goes with it.
    pub fn write_header(&self, path: &[u8], out: &mut Vec<u8>) {
        let mut separator: &[u8] = b"Cookie: ";
        for cookie in self.cookies.iter().filter(|cookie| path_matches(&cookie.path, path)) {
            out.extend_from_slice(separator);
            out.extend_from_slice(&cookie.name);
            out.push(b'=');
            out.extend_from_slice(&cookie.value);
            separator = b"; ";
        }
        if separator != b"Cookie: " {
            out.extend_from_slice(b"\r\n");
        }
    }
}

fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == separator)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// RFC 6265 section 5.1.4.
fn default_path(request_path: &[u8]) -> &[u8] {
    match request_path.iter().rposition(|byte| *byte == b'/') {
        Some(0) | None => b"/",
        Some(at) => &request_path[..at],
    }
}

fn path_matches(cookie: &[u8], request: &[u8]) -> bool {
    request.starts_with(cookie)
        && (request.len() == cookie.len()
            || cookie.ends_with(b"/")
            || request.get(cookie.len()) == Some(&b'/'))
}

/// Servers delete a cookie with a date in the 20th century; a date in this one has not come within a run.
fn is_long_past(date: &[u8]) -> bool {
    date.windows(4).any(|year| year.starts_with(b"19") && year.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(jar: &Jar, path: &str) -> String {
        let mut out = Vec::new();
        jar.write_header(path.as_bytes(), &mut out);
        String::from_utf8(out).expect("the test's cookies are text")
    }

    #[test]
    fn cookies_go_back_to_the_paths_they_belong_to() {
        let mut jar = Jar::default();
        jar.store(b"id=7; Path=/; HttpOnly", b"/shop/login");
        jar.store(b"cart=a=b", b"/shop/login");
        assert_eq!(header(&jar, "/shop/buy"), "Cookie: id=7; cart=a=b\r\n");
        assert_eq!(header(&jar, "/shopping"), "Cookie: id=7\r\n");
    }

    #[test]
    fn a_new_value_replaces_the_old_and_an_expired_one_deletes() {
        let mut jar = Jar::default();
        jar.store(b"id=7; Path=/", b"/");
        jar.store(b"id=8; Path=/", b"/");
        assert_eq!(header(&jar, "/"), "Cookie: id=8\r\n");
        jar.store(b"id=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Max-Age=0; path=/", b"/");
        assert_eq!(header(&jar, "/"), "");
    }

    #[test]
    fn rubbish_is_ignored_and_the_jar_is_bounded() {
        let mut jar = Jar::default();
        for rubbish in [&b""[..], b"=", b";;;", b"novalue", b"=x; Path=/"] {
            jar.store(rubbish, b"/");
        }
        assert_eq!(header(&jar, "/"), "");
        (0..1000).for_each(|number| jar.store(format!("c{number}=1").as_bytes(), b"/"));
        assert_eq!(jar.cookies.len(), MOST_COOKIES);
    }
}
