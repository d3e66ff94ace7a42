//! Content codings undone (RFC 9110 section 8.4.1): gzip, deflate, br. Only for bodies that somebody looks at.

use std::fmt;
use std::io::Read;

/// A decoded body may be this long: a small answer can claim to be a very long one.
pub const MAX_DECODED_BYTES: usize = 16 * 1024 * 1024;
/// Codings on top of each other; more is an attack.
const MAX_LAYERS: usize = 4;
const BUFFER_BYTES: usize = 4096;

/// Why a body can't be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// A coding that is none of gzip, deflate, br and identity, or too many of them.
    Unknown(String),
    /// It ends in the middle.
    Truncated(&'static str),
    /// It is not what it claims to be; with the decoder's own words.
    Corrupt(&'static str, String),
    /// It is longer than [`MAX_DECODED_BYTES`].
    TooLong,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Unknown(coding) => {
                write!(f, "the answer's Content-Encoding is `{coding}`; gzip, deflate and br are understood")
            }
            DecodeError::Truncated(coding) => write!(f, "the answer's {coding} body ends in the middle"),
            DecodeError::Corrupt(coding, why) => write!(f, "the answer's body is not {coding}: {why}"),
            DecodeError::TooLong => {
                write!(f, "the answer's body is longer than {} MiB when decoded", MAX_DECODED_BYTES >> 20)
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Appends the decoded `body` to `out`. `encoding` is the value of `Content-Encoding`.
pub fn decode(encoding: &[u8], body: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let codings: Vec<&[u8]> = encoding
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
        .collect();
    if codings.len() > MAX_LAYERS {
        return Err(DecodeError::Unknown(String::from_utf8_lossy(encoding).into_owned()));
    }
    // The last one named was applied last.
    let Some((outermost, inner)) = codings.split_last() else {
        out.extend_from_slice(body);
        return Ok(());
    };
    let Some((innermost, between)) = inner.split_first() else { return undo(outermost, body, out) };
    let mut layer = Vec::new();
    undo(outermost, body, &mut layer)?;
    for coding in between.iter().rev() {
        let mut next = Vec::new();
        undo(coding, &layer, &mut next)?;
        layer = next;
    }
    undo(innermost, &layer, out)
}

fn undo(coding: &[u8], body: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let is = |known: &str| coding.eq_ignore_ascii_case(known.as_bytes());
    if body.is_empty() {
        // Servers name a coding also where there is nothing to code.
        Ok(())
    } else if is("gzip") || is("x-gzip") {
        read_all("gzip", flate2::read::MultiGzDecoder::new(body), out)
    } else if is("deflate") && is_zlib(body) {
        read_all("deflate", flate2::read::ZlibDecoder::new(body), out)
    } else if is("deflate") {
        // Some servers leave out the zlib format around it, and browsers take that.
        read_all("deflate", flate2::read::DeflateDecoder::new(body), out)
    } else if is("br") {
        let mut input = Input { rest: body, asked_for_more: false };
        let read = read_all("br", brotli_decompressor::Decompressor::new(&mut input, BUFFER_BYTES), out);
        match read {
            // Its decoder has one error for both.
            Err(DecodeError::Corrupt(coding, _)) if input.asked_for_more => {
                Err(DecodeError::Truncated(coding))
            }
            read => read,
        }
    } else {
        Err(DecodeError::Unknown(String::from_utf8_lossy(&coding[..coding.len().min(100)]).into_owned()))
    }
}

/// A body that notices when a decoder wants more than there is.
struct Input<'a> {
    rest: &'a [u8],
    asked_for_more: bool,
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.asked_for_more |= self.rest.is_empty();
        self.rest.read(buffer)
    }
}

/// RFC 1950 section 2.2: method 8, and a header that 31 divides.
fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..]
        if first & 15 == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31))
}

fn read_all(coding: &'static str, mut decoder: impl Read, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let begin = out.len();
    let mut buffer = [0; 4 * BUFFER_BYTES];
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) if out.len() - begin + length > MAX_DECODED_BYTES => {
                return Err(DecodeError::TooLong);
            }
            Ok(length) => out.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Err(DecodeError::Truncated(coding));
            }
            Err(error) => return Err(DecodeError::Corrupt(coding, error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
