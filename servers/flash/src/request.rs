//! Reads requests: HTTP/1.1 and 1.0, the head only. Bytes of anybody's, so: no panic, no allocation beyond the path's.

use crate::answer::unix_time;

/// A head that is longer is refused.
pub const MAX_HEAD_BYTES: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Other,
}

/// A request: what of it matters to a server of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// Relative to the root, decoded; without segments that are empty, `.` or `..`.
    pub path: Vec<u8>,
    /// After the question mark, as it came.
    pub query: Vec<u8>,
    /// Whether the connection is kept afterwards.
    pub keep: bool,
    /// If-Modified-Since, as Unix time.
    pub since_s: Option<i64>,
}

/// What the bytes so far are.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The beginning of a request.
    Part,
    /// A request, and the bytes that its head took.
    Whole(Request, usize),
    /// None that is answered with a file.
    Bad,
}

pub fn parse(input: &[u8]) -> Parsed {
    let skipped = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let rest = &input[skipped..];
    match rest.windows(4).take(MAX_HEAD_BYTES).position(|end| end == b"\r\n\r\n") {
        Some(end) => match head(&rest[..end]) {
            Some(request) => Parsed::Whole(request, skipped + end + 4),
            None => Parsed::Bad,
        },
        None if input.len() >= MAX_HEAD_BYTES => Parsed::Bad,
        None => Parsed::Part,
    }
}

fn head(text: &[u8]) -> Option<Request> {
    let mut lines = text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next()?.split(|&byte| byte == b' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_1_1 = match (version, words.next()) {
        (b"HTTP/1.1", None) => true,
        (b"HTTP/1.0", None) => false,
        _ => return None,
    };
    let method = match method {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        other if !other.is_empty() && other.iter().all(u8::is_ascii_alphabetic) => Method::Other,
        _ => return None,
    };
    let (mut keep, mut hosts, mut has_body, mut since_s) = (is_1_1, 0, false, None);
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if name.is_empty() || name.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
            return None;
        } else if is("host") {
            hosts += 1;
        } else if is("connection") {
            let has = |word: &str| {
                value
                    .split(|&byte| byte == b',')
                    .any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
            };
            keep = !has("close") && (keep || has("keep-alive"));
        } else if is("content-length") {
            has_body |= value != b"0";
        } else if is("transfer-encoding") {
            has_body = true;
        } else if is("if-modified-since") {
            since_s = unix_time(value);
        }
    }
    // What follows a body that nobody reads is no request.
    let keep = keep && !has_body;
    let (path, query) = target_of(target)?;
    (hosts == 1 || (hosts == 0 && !is_1_1)).then_some(Request { method, path, query, keep, since_s })
}

/// The path, relative and decoded, and the query of a request's target; `None` for one that leads out of the root.
fn target_of(target: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let target = match target.strip_prefix(b"http://") {
        Some(rest) => &rest[rest.iter().position(|&byte| byte == b'/')?..],
        None => target,
    };
    if target.first() != Some(&b'/') || target.iter().any(u8::is_ascii_control) {
        return None;
    }
    let end = target.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(target.len());
    let decoded = decode(&target[..end])?;
    let mut path = Vec::with_capacity(decoded.len());
    for segment in decoded.split(|&byte| byte == b'/').filter(|segment| !matches!(*segment, b"" | b".")) {
        if segment == b".." {
            return None;
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(segment);
    }
    if decoded.ends_with(b"/") {
        path.extend_from_slice(if path.is_empty() { b"index.html" } else { b"/index.html" });
    }
    Some((path, target.get(end + 1..).unwrap_or_default().to_vec()))
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        let byte = if byte == b'%' {
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            (digit(bytes.next()?)? * 16 + digit(bytes.next()?)?) as u8
        } else {
            byte
        };
        decoded.push(byte);
    }
    (!decoded.contains(&0)).then_some(decoded)
}
