//! A response's head: where it ends, what it says about the body to come, and its headers without a copy.

use std::mem::MaybeUninit;

use memchr::memchr;

use super::Fault;

const MAX_HEADERS: usize = 128;
/// What every answer begins with; the reader tells a server that speaks something else by its first bytes.
pub(super) const OPENING: &[u8] = b"HTTP/1.";

/// What a head says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) length: Option<u64>,
    pub(super) chunked: bool,
    /// The server closes the connection after this answer.
    pub(super) close: bool,
    /// It has a `Set-Cookie`, a `Location`, a `Content-Encoding`: most answers have none, and nobody need search.
    pub(super) cookie: bool,
    pub(super) location: bool,
    pub(super) coding: bool,
}

/// Reads a head from the beginning of `bytes`: what it says and where it ends; nothing when it is incomplete.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Fault> {
    // Uninitialised, because clearing them would cost more than parsing does.
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let end = match config.parse_response_with_uninit_headers(&mut parsed, bytes, &mut headers) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::HeadTooLong),
        Err(_) => return Err(Fault::Head),
    };
    let (Some(status), Some(minor)) = (parsed.code, parsed.version) else { return Err(Fault::Head) };
    let mut head = Head { status, ..Head::default() };
    let (mut closes, mut keeps, mut coded) = (false, false, false);
    for httparse::Header { name, value } in parsed.headers.iter() {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        // By length first: it tells most names apart.
        match name.len() {
            8 => head.location |= is("location"),
            10 if is("connection") => {
                closes |= has_token(value, b"close");
                keeps |= has_token(value, b"keep-alive");
            }
            10 => head.cookie |= is("set-cookie"),
            14 if is("content-length") => head.length = Some(one_length(head.length, value)?),
            16 => head.coding |= is("content-encoding"),
            17 if is("transfer-encoding") => {
                head.chunked = last_token_is(value, b"chunked");
                coded = true;
            }
            _ => {}
        }
    }
    head.close = closes || (minor == 0 && (!keeps || coded));
    if coded {
        // RFC 9112 section 6.3: a transfer coding overrides the length; one that is not chunked lasts to the end.
        head.length = None;
    }
    Ok(Some((head, end)))
}

/// A mix of pages has a few different heads; each one more is compared with all of those.
const KNOWN: usize = 4;

/// The last heads that were read, with what they say: within a second, a server's heads are often the same to the last byte,
/// and to compare one costs a twentieth of what it costs to read it.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads {
    heads: [(Vec<u8>, Head); KNOWN],
    oldest: usize,
}

impl KnownHeads {
    /// What `bytes` begin with, if it is known, and where that ends.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        let known = self.heads.iter().find(|(head, _)| !head.is_empty() && bytes.starts_with(head));
        known.map(|(head, says)| (*says, head.len()))
    }

    /// Remembers a whole head.
    pub(super) fn note(&mut self, head: &[u8], says: Head) {
        let (bytes, known) = &mut self.heads[self.oldest];
        self.oldest = (self.oldest + 1) % KNOWN;
        bytes.clear();
        bytes.extend_from_slice(head);
        *known = says;
    }
}

/// Where the head in `bytes` ends, after an empty line; lines that end before `from` have been looked at.
pub(super) fn end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = memchr(b'\n', &bytes[at..]) {
        at += found + 1;
        match bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The headers of a complete head, in order: names as they came, values trimmed.
pub(super) fn headers(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = memchr(b'\n', head).map_or(&[][..], |first| &head[first + 1..]);
    std::iter::from_fn(move || {
        let end = memchr(b'\n', rest)?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        let colon = memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// RFC 9112 section 6.3: digits only, and a second length must say the same.
fn one_length(before: Option<u64>, value: &[u8]) -> Result<u64, Fault> {
    let digits = value.trim_ascii();
    if digits.is_empty() {
        return Err(Fault::Head);
    }
    let mut length = 0u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        let longer = length.checked_mul(10).and_then(|length| length.checked_add(u64::from(digit)));
        length = longer.filter(|_| digit < 10).ok_or(Fault::Head)?;
    }
    if before.is_some_and(|before| before != length) { Err(Fault::Head) } else { Ok(length) }
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

fn last_token_is(value: &[u8], token: &[u8]) -> bool {
    let last = value.rsplit(|byte| *byte == b',').next();
    last.is_some_and(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}
