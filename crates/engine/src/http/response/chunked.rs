//! The chunked coding (RFC 9112 section 7.1): sizes with extensions, data, trailers. It sees every byte but the data's.

use super::Fault;

const MAX_CHUNK_LINE_BYTES: u32 = 1024;
const MAX_TRAILER_BYTES: u32 = 16 * 1024;
/// Fifteen hexadecimal digits fit in 60 bits; a longer size is an attack.
const MAX_SIZE_DIGITS: u32 = 15;

/// Where in a chunked body the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunked {
    place: Place,
    /// Size of the chunk whose line is being read; data left to come.
    size: u64,
    /// Bytes of this line, or of all trailers.
    seen: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the digits of a chunk's size.
    Size,
    /// Behind the size: blanks, until an extension or the line's end.
    SizeBlank,
    Extension,
    SizeLineFeed,
    Data,
    DataEnd,
    DataLineFeed,
    /// At the beginning of a line after the last chunk.
    TrailerBegin,
    Trailer,
    TrailerLineFeed,
    LastLineFeed,
}

impl Chunked {
    /// At the beginning of a body.
    pub(super) fn begin() -> Chunked {
        Chunked { place: Place::Size, size: 0, seen: 0 }
    }

    /// Bytes of data that come before the next byte for [`Self::take`].
    pub(super) fn data_left(&self) -> u64 {
        if self.place == Place::Data { self.size } else { 0 }
    }

    /// `bytes` of the data have gone by.
    pub(super) fn pass(&mut self, bytes: u64) {
        self.size -= bytes;
        if self.size == 0 {
            self.place = Place::DataEnd;
        }
    }

    /// Takes a byte that is not data; true when the body has ended with it. A line may end with LF alone, but a CR
    /// stands nowhere else.
    pub(super) fn take(&mut self, byte: u8) -> Result<bool, Fault> {
        self.place = match (self.place, byte) {
            (Place::Size, _) if byte.is_ascii_hexdigit() => self.digit(byte)?,
            // A size has at least one digit.
            (Place::Size, _) if self.seen == 0 => return Err(Fault::Chunk),
            (Place::Size | Place::SizeBlank | Place::Extension, b'\r') => Place::SizeLineFeed,
            (Place::Size | Place::SizeBlank | Place::Extension | Place::SizeLineFeed, b'\n') => self.sized(),
            (Place::Size | Place::SizeBlank, b' ' | b'\t') => self.longer_line(Place::SizeBlank)?,
            (Place::Size | Place::SizeBlank, b';') | (Place::Extension, 1..) => {
                self.longer_line(Place::Extension)?
            }
            (Place::DataEnd, b'\r') => Place::DataLineFeed,
            (Place::DataEnd | Place::DataLineFeed, b'\n') => {
                *self = Chunked::begin();
                Place::Size
            }
            (Place::TrailerBegin, b'\r') => Place::LastLineFeed,
            (Place::TrailerBegin | Place::LastLineFeed, b'\n') => return Ok(true),
            (Place::Trailer, b'\r') => Place::TrailerLineFeed,
            (Place::Trailer | Place::TrailerLineFeed, b'\n') => Place::TrailerBegin,
            (Place::TrailerBegin | Place::Trailer, 1..) if self.seen < MAX_TRAILER_BYTES => {
                self.seen += 1;
                Place::Trailer
            }
            _ => return Err(Fault::Chunk),
        };
        Ok(false)
    }

    fn digit(&mut self, byte: u8) -> Result<Place, Fault> {
        let digit = (byte as char).to_digit(16).ok_or(Fault::Chunk)?;
        self.size = self.size * 16 + u64::from(digit);
        self.seen += 1;
        if self.seen > MAX_SIZE_DIGITS { Err(Fault::Chunk) } else { Ok(Place::Size) }
    }

    fn longer_line(&mut self, place: Place) -> Result<Place, Fault> {
        self.seen += 1;
        if self.seen > MAX_CHUNK_LINE_BYTES { Err(Fault::Chunk) } else { Ok(place) }
    }

    /// The line with a size has ended.
    fn sized(&mut self) -> Place {
        self.seen = 0;
        if self.size == 0 { Place::TrailerBegin } else { Place::Data }
    }
}
