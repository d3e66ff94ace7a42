//! Bytes into a response, whatever the pieces they come in: Content-Length, chunked with trailers, close-delimited,
//! 1xx before the answer, answers without a body. A body that nobody will look at is counted and not kept, so that the
//! transport may drop it unread. Hostile input ends in a [`Fault`] with bounded memory.

mod chunked;
mod head;

use chunked::Chunked;
use head::Head;
pub(crate) use head::KnownHeads;

/// A response's head may be this long; servers' own limits are about 8 kB.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Body bytes kept for a script; what comes beyond is counted, not kept.
pub const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;
/// Kept of a discarded body when the status is not 2xx: what the server had to say against the request is evidence.
pub const EVIDENCE_BYTES: usize = 1024;
/// Reserved at once for a body whose length is known, so that small ones don't grow in steps; a length is only a claim.
const MAX_RESERVED_BYTES: u64 = 256 * 1024;
const MAX_INTERIM_ANSWERS: u8 = 100;

/// What is not HTTP about the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The head is not one, or has two lengths, or a negative one, or switches protocols.
    Head,
    /// The head is longer than [`MAX_HEAD_BYTES`], or has too many lines, or interim answers come without end.
    HeadTooLong,
    /// A chunk's size or end is not one, or the trailers have no end.
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

/// What becomes of a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Body {
    /// A script may look at it: kept up to [`MAX_KEPT_BYTES`].
    #[default]
    Keep,
    /// Counted only, but for the first [`EVIDENCE_BYTES`] when the status is not 2xx.
    Discard,
}

/// What the reader must know of the request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// It was a HEAD: its answer has no body, whatever the length it states.
    pub to_head: bool,
    /// What becomes of the body.
    pub body: Body,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    Length(u64),
    UntilClose,
    Chunked(Chunked),
    Done,
}

/// One response being read. Used again for the next one; its buffers keep their memory.
#[derive(Debug, Default)]
pub struct Response {
    state: State,
    head: Head,
    head_bytes: Vec<u8>,
    body: Vec<u8>,
    /// How much of the body is kept.
    keep_bytes: usize,
    body_bytes: u64,
    received: u64,
    expected: Expected,
    interim: u8,
}

impl Response {
    /// Gets ready for the answer to the next request.
    pub fn begin(&mut self, expected: Expected) {
        self.state = State::Head;
        self.head = Head::default();
        self.head_bytes.clear();
        self.body.clear();
        self.keep_bytes = 0;
        self.body_bytes = 0;
        self.received = 0;
        self.expected = expected;
        self.interim = 0;
    }

    /// Gives back memory beyond `limit_bytes`, after an unusually large answer.
    pub fn shrink(&mut self, limit_bytes: usize) {
        self.body.shrink_to(limit_bytes);
        self.head_bytes.shrink_to(limit_bytes);
    }

    /// Takes the next bytes; true when the answer is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool, Fault> {
        self.feed_knowing(&mut KnownHeads::default(), bytes)
    }

    /// The same, the sooner the more often the server has sent this head.
    pub(crate) fn feed_knowing(&mut self, known: &mut KnownHeads, mut bytes: &[u8]) -> Result<bool, Fault> {
        self.received += bytes.len() as u64;
        while let [first, ..] = bytes {
            let used = match &mut self.state {
                State::Done => return Err(Fault::Surplus),
                State::Head => self.feed_head(bytes, known)?,
                State::Chunked(chunked) if chunked.data_left() == 0 => {
                    if chunked.take(*first)? {
                        self.state = State::Done;
                    }
                    1
                }
                _ => self.feed_body(bytes),
            };
            bytes = &bytes[used..];
        }
        Ok(self.state == State::Done)
    }

    /// How many bytes that come next are of no interest, so that the transport may drop them unread and report them to
    /// [`Self::dropped`]; [`u64::MAX`] when all that comes until the connection ends.
    pub fn droppable(&self) -> u64 {
        if self.body.len() < self.keep_bytes { 0 } else { self.body_left() }
    }

    /// Nothing of the answer comes after what is droppable: a byte more is a byte too many.
    pub fn ends_with_droppable(&self) -> bool {
        matches!(self.state, State::Length(_))
    }

    /// The transport dropped `bytes` of the body, at most [`Self::droppable`] (more is a [`Fault::Surplus`]); true
    /// when the answer is complete.
    pub fn dropped(&mut self, bytes: u64) -> Result<bool, Fault> {
        if bytes > self.droppable() {
            return Err(Fault::Surplus);
        }
        self.received += bytes;
        self.pass_body(bytes);
        Ok(self.state == State::Done)
    }

    /// The connection was closed by the server; `Ok` when that is how this answer ends.
    pub fn end_of_stream(&mut self) -> Result<(), Fault> {
        if self.state == State::UntilClose {
            self.state = State::Done;
        }
        if self.state == State::Done { Ok(()) } else { Err(Fault::Truncated) }
    }

    /// Whether any byte of the answer has come, be it of an interim one.
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

    /// Bytes of the body, without the framing of chunks, kept or not.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// The body as far as it was kept, its content coding not undone.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether [`Self::body`] is all of the body that came.
    pub fn kept_whole(&self) -> bool {
        self.body.len() as u64 == self.body_bytes
    }

    /// The headers in order: names as they came, values trimmed. None before the head is complete.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let complete = self.head.status != 0;
        head::headers(if complete { &self.head_bytes } else { &[] })
    }

    /// The values of a header, in order.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        let same = |(found, _): &(&[u8], &[u8])| found.eq_ignore_ascii_case(name.as_bytes());
        self.headers().filter(same).map(|(_, value)| value)
    }

    /// The values of `Set-Cookie`, in order.
    pub fn set_cookies(&self) -> impl Iterator<Item = &[u8]> {
        let wanted = self.head.cookie.then(|| self.header("set-cookie"));
        wanted.into_iter().flatten()
    }

    /// The value of `Location`, where a redirect leads.
    pub fn location(&self) -> Option<&[u8]> {
        if self.head.location { self.header("location").next() } else { None }
    }

    /// The value of `Content-Encoding`: how the body is coded.
    pub fn content_encoding(&self) -> Option<&[u8]> {
        if self.head.coding { self.header("content-encoding").next() } else { None }
    }

    fn feed_head(&mut self, bytes: &[u8], known: &mut KnownHeads) -> Result<usize, Fault> {
        let before = self.head_bytes.len();
        // Nearly every head comes whole, and is parsed where it lies. What is wrong with it is found below, so that it
        // is the same whatever the pieces.
        if before == 0
            && let Some((head, end)) = known.find(bytes).or_else(|| parse_whole(bytes, known))
        {
            self.head_bytes.extend_from_slice(&bytes[..end]);
            self.take_head(head)?;
            return Ok(end);
        }
        let window = bytes.len().min(MAX_HEAD_BYTES - before);
        self.head_bytes.extend_from_slice(&bytes[..window]);
        let opening = head::OPENING.len().min(self.head_bytes.len());
        if self.head_bytes[..opening] != head::OPENING[..opening] {
            return Err(Fault::Head);
        }
        let Some(end) = head::end(&self.head_bytes, before.saturating_sub(2)) else {
            let full = self.head_bytes.len() == MAX_HEAD_BYTES;
            return if full { Err(Fault::HeadTooLong) } else { Ok(window) };
        };
        self.head_bytes.truncate(end);
        match head::parse(&self.head_bytes)? {
            Some((head, parsed)) if parsed == end => self.take_head(head)?,
            _ => return Err(Fault::Head),
        }
        Ok(end - before)
    }

    fn take_head(&mut self, head: Head) -> Result<(), Fault> {
        match head.status {
            // Nobody asked to switch protocols, and there is no status below 100.
            101 | 0..100 => return Err(Fault::Head),
            100..200 if self.interim == MAX_INTERIM_ANSWERS => return Err(Fault::HeadTooLong),
            100..200 => {
                self.head_bytes.clear();
                self.interim += 1;
                return Ok(());
            }
            _ => {}
        }
        self.head = head;
        self.keep_bytes = match self.expected.body {
            Body::Keep => MAX_KEPT_BYTES,
            Body::Discard if (200..300).contains(&head.status) => 0,
            Body::Discard => EVIDENCE_BYTES,
        };
        self.state = match head {
            _ if self.expected.to_head || head.status == 204 || head.status == 304 => State::Done,
            Head { chunked: true, .. } => State::Chunked(Chunked::begin()),
            Head { length: Some(0), .. } => State::Done,
            Head { length: Some(length), .. } => {
                self.body.reserve(length.min(self.keep_bytes as u64).min(MAX_RESERVED_BYTES) as usize);
                State::Length(length)
            }
            _ => {
                self.head.close = true;
                State::UntilClose
            }
        };
        Ok(())
    }

    fn feed_body(&mut self, bytes: &[u8]) -> usize {
        let used = self.body_left().min(bytes.len() as u64) as usize;
        let room = self.keep_bytes.saturating_sub(self.body.len()).min(used);
        self.body.extend_from_slice(&bytes[..room]);
        self.pass_body(used as u64);
        used
    }

    /// Bytes that can only be of the body.
    fn body_left(&self) -> u64 {
        match &self.state {
            State::Length(left) => *left,
            State::UntilClose => u64::MAX,
            State::Chunked(chunked) => chunked.data_left(),
            State::Head | State::Done => 0,
        }
    }

    fn pass_body(&mut self, bytes: u64) {
        self.body_bytes += bytes;
        match &mut self.state {
            State::Length(left) if *left == bytes => self.state = State::Done,
            State::Length(left) => *left -= bytes,
            State::Chunked(chunked) if bytes > 0 => chunked.pass(bytes),
            _ => {}
        }
    }
}

/// What a head says that comes whole and is right, and where it ends.
fn parse_whole(bytes: &[u8], known: &mut KnownHeads) -> Option<(Head, usize)> {
    if !bytes.starts_with(head::OPENING) {
        return None;
    }
    let (head, end) = head::parse(bytes).ok()?.filter(|(_, end)| *end <= MAX_HEAD_BYTES)?;
    known.note(&bytes[..end], head);
    Some((head, end))
}

#[cfg(test)]
mod tests;
