//! Bytes into a response, whatever the pieces they come in: Content-Length, chunked with trailers, close-delimited,
//! 1xx before the answer, answers without a body. Hostile input ends in a [`Fault`] with bounded memory.

use std::ops::Range;

/// A response's head may be this long; servers' own limits are about 8 kB.
pub const MOST_HEAD_BYTES: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;
/// Body bytes kept for a script; what comes beyond is counted, not kept.
pub const MOST_KEPT_BYTES: usize = 16 * 1024 * 1024;
const MOST_CHUNK_LINE: u32 = 1024;
const MOST_TRAILER_BYTES: u32 = 16 * 1024;

/// What is not HTTP about the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The head is not one, or has two lengths, or a negative one.
    Head,
    /// The head is longer than [`MOST_HEAD_BYTES`] or has too many lines.
    HeadTooLong,
    /// A chunk's size or end is not one.
    Chunk,
    /// More than one answer came for one request.
    Surplus,
    /// The connection ended in the middle.
    Truncated,
}

impl Fault {
    /// For messages.
    pub fn words(self) -> &'static str {
        match self {
            Fault::Head => "the answer's head is not HTTP/1.1",
            Fault::HeadTooLong => "the answer's head has no end",
            Fault::Chunk => "a chunk of the answer is malformed",
            Fault::Surplus => "more bytes came than the answer has",
            Fault::Truncated => "the connection was closed in the middle of the answer",
        }
    }
}

/// What a head says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Head {
    status: u16,
    length: Option<u64>,
    chunked: bool,
    close: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length(u64),
    UntilClose,
    ChunkSize { digits: u32, seen: u32, size: u64, extension: bool },
    ChunkData(u64),
    ChunkEnd,
    Trailer { line: u32, seen: u32 },
    Done,
}

/// One response being read. Used again for the next one; its buffers keep their memory.
#[derive(Debug)]
pub struct Response {
    state: State,
    head: Head,
    head_bytes: Vec<u8>,
    body: Vec<u8>,
    received: u64,
    no_body: bool,
}

impl Default for Response {
    fn default() -> Response {
        Response {
            state: State::Head,
            head: Head::default(),
            head_bytes: Vec::new(),
            body: Vec::new(),
            received: 0,
            no_body: false,
        }
    }
}

impl Response {
    /// Gets ready for the answer to the next request. `no_body`: it answers HEAD.
    pub fn begin(&mut self, no_body: bool) {
        self.state = State::Head;
        self.head = Head::default();
        self.head_bytes.clear();
        self.body.clear();
        self.received = 0;
        self.no_body = no_body;
    }

    /// Gives back memory beyond `limit_bytes`, after an unusually large answer.
    pub fn shrink(&mut self, limit_bytes: usize) {
        self.body.shrink_to(limit_bytes);
        self.head_bytes.shrink_to(limit_bytes);
    }

    /// Takes the next bytes; true when the answer is complete.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<bool, Fault> {
        self.received += bytes.len() as u64;
        while !bytes.is_empty() {
            let used = match self.state {
                State::Done => return Err(Fault::Surplus),
                State::Head => self.feed_head(bytes)?,
                State::Length(left) => {
                    let used = self.keep_body(bytes, left);
                    let left = left - used as u64;
                    self.state = if left == 0 { State::Done } else { State::Length(left) };
                    used
                }
                State::UntilClose => self.keep_body(bytes, u64::MAX),
                State::ChunkData(left) => {
                    let used = self.keep_body(bytes, left);
                    let left = left - used as u64;
                    self.state = if left == 0 { State::ChunkEnd } else { State::ChunkData(left) };
                    used
                }
                _ => {
                    self.feed_chunk_byte(bytes[0])?;
                    1
                }
            };
            bytes = &bytes[used..];
        }
        Ok(self.state == State::Done)
    }

    /// The connection was closed by the server; `Ok` when that is how this answer ends.
    pub fn end_of_stream(&mut self) -> Result<(), Fault> {
        if self.state == State::UntilClose {
            self.state = State::Done;
        }
        if self.state == State::Done { Ok(()) } else { Err(Fault::Truncated) }
    }

    /// Whether any byte of the answer has come.
    pub fn started(&self) -> bool {
        self.received > 0
    }

    /// The status code; 0 before the head is complete.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Whether the server closes the connection after this answer.
    pub fn closes(&self) -> bool {
        self.head.close
    }

    /// Bytes of head and body as they came over the wire.
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// The body, as far as it was kept.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The values of a header, in order.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.head_bytes.split(|byte| *byte == b'\n').skip(1).filter_map(move |line| {
            let at = line.iter().position(|byte| *byte == b':')?;
            line[..at].eq_ignore_ascii_case(name.as_bytes()).then(|| line[at + 1..].trim_ascii())
        })
    }

    fn keep_body(&mut self, bytes: &[u8], left: u64) -> usize {
        let used = (bytes.len() as u64).min(left) as usize;
        let room = MOST_KEPT_BYTES.saturating_sub(self.body.len()).min(used);
        self.body.extend_from_slice(&bytes[..room]);
        used
    }

    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let before = self.head_bytes.len();
        let window = bytes.len().min(MOST_HEAD_BYTES + 1 - before);
        self.head_bytes.extend_from_slice(&bytes[..window]);
        let Some(end) = head_end(&self.head_bytes, before.saturating_sub(3)) else {
            if self.head_bytes.len() > MOST_HEAD_BYTES {
                return Err(Fault::HeadTooLong);
            }
            return Ok(window);
        };
        self.head_bytes.truncate(end);
        let head = parse_head(&self.head_bytes)?;
        if head.status == 101 {
            // Nobody asked to switch protocols.
            return Err(Fault::Head);
        }
        if (100..200).contains(&head.status) {
            self.head_bytes.clear();
            return Ok(end - before);
        }
        self.head = head;
        self.state = match head {
            _ if self.no_body || head.status == 204 || head.status == 304 => State::Done,
            Head { chunked: true, .. } => State::ChunkSize { digits: 0, seen: 0, size: 0, extension: false },
            Head { length: Some(0), .. } => State::Done,
            Head { length: Some(length), .. } => State::Length(length),
            _ => {
                self.head.close = true;
                State::UntilClose
            }
        };
        Ok(end - before)
    }

    fn feed_chunk_byte(&mut self, byte: u8) -> Result<(), Fault> {
        self.state = match self.state {
            State::ChunkSize { digits, seen, size, extension } => {
                let digit = (byte as char).to_digit(16).filter(|_| !extension);
                match (digit, byte) {
                    _ if seen >= MOST_CHUNK_LINE => return Err(Fault::Chunk),
                    (Some(digit), _) if digits < 15 => State::ChunkSize {
                        digits: digits + 1,
                        seen: seen + 1,
                        size: size * 16 + u64::from(digit),
                        extension,
                    },
                    (Some(_), _) => return Err(Fault::Chunk),
                    (None, b'\n') if digits == 0 => return Err(Fault::Chunk),
                    (None, b'\n') if size == 0 => State::Trailer { line: 0, seen: 0 },
                    (None, b'\n') => State::ChunkData(size),
                    (None, b'\r' | b';' | b' ' | b'\t') if digits > 0 => {
                        State::ChunkSize { digits, seen: seen + 1, size, extension: true }
                    }
                    (None, _) if extension => State::ChunkSize { digits, seen: seen + 1, size, extension },
                    _ => return Err(Fault::Chunk),
                }
            }
            State::ChunkEnd => match byte {
                b'\r' => State::ChunkEnd,
                b'\n' => State::ChunkSize { digits: 0, seen: 0, size: 0, extension: false },
                _ => return Err(Fault::Chunk),
            },
            State::Trailer { line, seen } => match byte {
                _ if seen >= MOST_TRAILER_BYTES => return Err(Fault::Chunk),
                b'\n' if line == 0 => State::Done,
                b'\n' => State::Trailer { line: 0, seen: seen + 1 },
                b'\r' => State::Trailer { line, seen: seen + 1 },
                _ => State::Trailer { line: line + 1, seen: seen + 1 },
            },
            other => other,
        };
        Ok(())
    }
}

/// The end of the head: after an empty line.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\n') {
        let end = at + found + 1;
        let line: Range<usize> = at..at + found;
        let rest = &bytes[end..];
        match rest {
            [b'\n', ..] => return Some(end + 1),
            [b'\r', b'\n', ..] => return Some(end + 2),
            _ if line.is_empty() && end == 1 => return Some(end),
            _ => at = end,
        }
    }
    None
}

fn parse_head(bytes: &[u8]) -> Result<Head, Fault> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Response::new(&mut headers);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::HeadTooLong),
        _ => return Err(Fault::Head),
    }
    let (Some(status), Some(minor)) = (parsed.code, parsed.version) else { return Err(Fault::Head) };
    let mut head = Head { status, ..Head::default() };
    let (mut closes, mut keeps, mut coded) = (false, false, false);
    for header in parsed.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).map_err(|_| Fault::Head)?;
            let digits = text.trim();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Fault::Head);
            }
            let length = digits.parse::<u64>().map_err(|_| Fault::Head)?;
            if head.length.is_some_and(|other| other != length) {
                return Err(Fault::Head);
            }
            head.length = Some(length);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            head.chunked = last_token_is(header.value, b"chunked");
            coded = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            closes |= has_token(header.value, b"close");
            keeps |= has_token(header.value, b"keep-alive");
        }
    }
    head.close = closes || (minor == 0 && !keeps);
    if coded {
        // RFC 9112 section 6.3: a transfer coding overrides the length; one that is not chunked lasts to the end.
        head.length = None;
    }
    Ok(head)
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

fn last_token_is(value: &[u8], token: &[u8]) -> bool {
    value
        .split(|byte| *byte == b',')
        .next_back()
        .is_some_and(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests;
