//! A `Set-Cookie` header as a user agent reads it (RFC 6265 section 5.2 and 5.3, RFC 6265bis for prefixes and limits).

use super::Request;
use crate::http::date;

/// Name and value together; a larger cookie is refused, as browsers do.
const MAX_PAIR_BYTES: usize = 4096;
const MAX_PATH_BYTES: usize = 1024;

/// A cookie that may be stored.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SetCookie<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) path: &'a [u8],
    /// Seconds since 1970; nothing when it lasts as long as its user.
    pub(super) expires_s: Option<i64>,
    pub(super) secure: bool,
}

#[derive(Default)]
struct Attributes<'a> {
    max_age_s: Option<i64>,
    expires_s: Option<i64>,
    path: Option<&'a [u8]>,
    domain: Option<&'a [u8]>,
    secure: bool,
}

impl<'a> SetCookie<'a> {
    /// Nothing when it is malformed, too large, or not this host's to set on this connection.
    pub(super) fn read(header: &'a [u8], request: &Request<'a>) -> Option<SetCookie<'a>> {
        let mut parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let (name, value) = split_once(parts.next()?, b'=')?;
        let (name, value) = (name.trim_ascii(), value.trim_ascii());
        let control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        if name.is_empty() || name.len() + value.len() > MAX_PAIR_BYTES || header.iter().any(control) {
            return None;
        }
        let attributes = Attributes::read(parts, request.now_s);
        let path = attributes.path.unwrap_or_else(|| default_path(request.path));
        let ours = attributes.domain.is_none_or(|domain| covers(domain, request.host));
        let safe = request.tls || !attributes.secure;
        if !ours || !safe || path.len() > MAX_PATH_BYTES || !keeps_its_prefix(name, path, &attributes) {
            return None;
        }
        let expires_s = attributes.max_age_s.or(attributes.expires_s);
        Some(SetCookie { name, value, path, expires_s, secure: attributes.secure })
    }
}

impl<'a> Attributes<'a> {
    /// The last one of a name counts; one that can't be understood doesn't.
    fn read(parts: impl Iterator<Item = &'a [u8]>, now_s: i64) -> Attributes<'a> {
        let mut found = Attributes::default();
        for part in parts {
            let (name, value) = split_once(part, b'=').unwrap_or((part, b""));
            let (name, value) = (name.trim_ascii(), value.trim_ascii());
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if is("max-age") {
                found.max_age_s = max_age(value, now_s).or(found.max_age_s);
            } else if is("expires") {
                found.expires_s = date::parse(value).or(found.expires_s);
            } else if is("path") {
                found.path = Some(value).filter(|path| path.starts_with(b"/"));
            } else if is("domain") {
                found.domain =
                    Some(value.strip_prefix(b".").unwrap_or(value)).filter(|name| !name.is_empty());
            } else if is("secure") {
                found.secure = true;
            }
        }
        found
    }
}

/// RFC 6265 section 5.2.2: digits, perhaps with a minus before them; what is not positive has passed.
fn max_age(value: &[u8], now_s: i64) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let age_s =
        digits.iter().fold(0i64, |sum, byte| sum.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    let positive = digits.len() == value.len() && age_s > 0;
    Some(if positive { now_s.saturating_add(age_s) } else { i64::MIN })
}

/// RFC 6265 section 5.1.3: the host itself, or a domain above it unless the host is an address.
fn covers(domain: &[u8], host: &str) -> bool {
    let name = name_of(host);
    let bytes = name.as_bytes();
    let Some(below) = bytes.len().checked_sub(domain.len()) else { return false };
    let ends = bytes[below..].eq_ignore_ascii_case(domain);
    ends && (below == 0 || (bytes[below - 1] == b'.' && name.parse::<std::net::IpAddr>().is_err()))
}

/// The host without its port and without an IPv6 address's brackets.
fn name_of(host: &str) -> &str {
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// RFC 6265bis section 4.1.3.
fn keeps_its_prefix(name: &[u8], path: &[u8], attributes: &Attributes<'_>) -> bool {
    let begins = |prefix: &[u8]| name.get(..prefix.len()).is_some_and(|own| own.eq_ignore_ascii_case(prefix));
    if begins(b"__Host-") {
        let whole = attributes.path.is_some() && path == b"/";
        return attributes.secure && attributes.domain.is_none() && whole;
    }
    attributes.secure || !begins(b"__Secure-")
}

/// RFC 6265 section 5.1.4.
fn default_path(request_path: &[u8]) -> &[u8] {
    match request_path.iter().rposition(|byte| *byte == b'/') {
        Some(0) | None => b"/",
        Some(at) => &request_path[..at],
    }
}

fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(separator, bytes)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}
