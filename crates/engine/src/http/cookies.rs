//! A user's cookies: what one host set, sent back to it (RFC 6265; prefixes and limits of its successor, RFC 6265bis).
//! A jar knows one host, so that a `Domain` only decides whether a cookie is taken.

mod set_cookie;

use set_cookie::SetCookie;

/// The most cookies of a user; more than any of the supported servers sets. The oldest goes first.
const MAX_COOKIES: usize = 64;
/// All of them together, since a user exists many thousand times.
const MAX_JAR_BYTES: usize = 16 * 1024;
/// [`Cookie::expires_s`] of a cookie that lasts as long as its user.
const NEVER: u32 = u32::MAX;

/// Which request is spoken of: one that a cookie came in answer to, or one that cookies go with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The host's name, with or without a port.
    pub host: &'a str,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// The request's path without its query.
    pub path: &'a [u8],
    /// Seconds since 1970.
    pub now_s: i64,
}

/// A user's cookies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jar {
    /// In the order in which they are sent: longer paths first, then older ones (RFC 6265 section 5.4).
    cookies: Vec<Cookie>,
}

/// 32 bytes and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    /// `name=value`, and the path behind it.
    text: Box<[u8]>,
    name_bytes: u16,
    pair_bytes: u16,
    expires_s: u32,
    /// Orders cookies by age.
    created: u32,
    secure: bool,
}

impl Jar {
    /// Takes a `Set-Cookie` header's value that came with the answer to `request`.
    pub fn store(&mut self, header: &[u8], request: &Request<'_>) {
        let Some(set) = SetCookie::read(header, request) else { return };
        let known =
            self.cookies.iter().position(|cookie| cookie.name() == set.name && cookie.path() == set.path);
        let expires_s = set.expires_s.map_or(NEVER, |time_s| time_s.clamp(0, i64::from(NEVER) - 1) as u32);
        if is_past(expires_s, request.now_s) {
            known.into_iter().for_each(|at| drop(self.cookies.remove(at)));
            return;
        }
        if let Some(cookie) =
            known.map(|at| &mut self.cookies[at]).filter(|cookie| cookie.value() == set.value)
        {
            (cookie.expires_s, cookie.secure) = (expires_s, set.secure);
            return;
        }
        let created = match known {
            Some(at) => self.cookies.remove(at).created,
            None => self.cookies.iter().map(|cookie| cookie.created + 1).max().unwrap_or(0),
        };
        let cookie = Cookie {
            text: [set.name, b"=", set.value, set.path].concat().into(),
            name_bytes: set.name.len() as u16,
            pair_bytes: (set.name.len() + 1 + set.value.len()) as u16,
            expires_s,
            created,
            secure: set.secure,
        };
        let order = |cookie: &Cookie| (usize::MAX - cookie.path().len(), cookie.created);
        let at = self.cookies.partition_point(|before| order(before) < order(&cookie));
        self.cookies.insert(at, cookie);
        self.make_room(request.now_s);
    }

    /// Appends the `Cookie` header line for a request, if any cookie goes with it.
    pub fn write_header(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        let mut separator: &[u8] = b"Cookie: ";
        for cookie in self.cookies.iter().filter(|cookie| cookie.goes_with(request)) {
            out.extend_from_slice(separator);
            out.extend_from_slice(&cookie.text[..usize::from(cookie.pair_bytes)]);
            separator = b"; ";
        }
        if separator == b"; " {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// RFC 6265 section 5.3: expired cookies go first, then the oldest.
    fn make_room(&mut self, now_s: i64) {
        let full = |cookies: &[Cookie]| {
            let bytes: usize = cookies.iter().map(|cookie| cookie.text.len()).sum();
            cookies.len() > MAX_COOKIES || bytes > MAX_JAR_BYTES
        };
        if full(&self.cookies) {
            self.cookies.retain(|cookie| !is_past(cookie.expires_s, now_s));
        }
        while full(&self.cookies) {
            let ages = self.cookies.iter().enumerate();
            let Some((oldest, _)) = ages.min_by_key(|(_, cookie)| cookie.created) else { return };
            self.cookies.remove(oldest);
        }
    }
}

impl Cookie {
    fn name(&self) -> &[u8] {
        &self.text[..usize::from(self.name_bytes)]
    }

    fn value(&self) -> &[u8] {
        &self.text[usize::from(self.name_bytes) + 1..usize::from(self.pair_bytes)]
    }

    fn path(&self) -> &[u8] {
        &self.text[usize::from(self.pair_bytes)..]
    }

    fn goes_with(&self, request: &Request<'_>) -> bool {
        (request.tls || !self.secure)
            && !is_past(self.expires_s, request.now_s)
            && path_matches(self.path(), request.path)
    }
}

fn is_past(expires_s: u32, now_s: i64) -> bool {
    expires_s != NEVER && i64::from(expires_s) <= now_s
}

/// RFC 6265 section 5.1.4.
fn path_matches(cookie: &[u8], request: &[u8]) -> bool {
    request.starts_with(cookie)
        && (request.len() == cookie.len()
            || cookie.ends_with(b"/")
            || request.get(cookie.len()) == Some(&b'/'))
}

#[cfg(test)]
mod tests;
