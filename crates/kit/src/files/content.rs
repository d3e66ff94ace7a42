//! What a made file holds: a first line that tells its length and its path as it is served, so that an answer can be
//! checked, then text that no server and no disk can shorten much.

use engine::random::Stream;

/// Fills buffers with the content of one file, from its beginning.
pub(super) struct Content {
    header: Vec<u8>,
    stream: Stream,
    length: u64,
    at: u64,
}

/// 64 printable characters, none of which means anything in HTML or a shell: `?@A…Z[\]^_`a…z{|}~`. Six random bits a
/// byte is what printable text can hold, within a tenth.
const FIRST: u64 = 0x3f3f_3f3f_3f3f_3f3f;
const SIX_BITS: u64 = 0x3f3f_3f3f_3f3f_3f3f;

impl Content {
    /// Of the file that is served as `/path`, `length` bytes long.
    pub(super) fn new(seed: u64, path: &str, length: u64) -> Content {
        let header = format!("{length} /{path}\n").into_bytes();
        Content { header, stream: Stream::new(seed, hash(path)), length, at: 0 }
    }

    /// The next bytes of the file; how many, 0 at its end. A buffer's length is a multiple of eight.
    pub(super) fn next(&mut self, buffer: &mut [u8]) -> usize {
        let count = (buffer.len() as u64).min(self.length - self.at) as usize;
        let buffer = &mut buffer[..count];
        let mut blocks = buffer.chunks_exact_mut(8);
        for block in &mut blocks {
            block.copy_from_slice(&self.word());
        }
        let rest = blocks.into_remainder();
        if !rest.is_empty() {
            let word = self.word();
            rest.copy_from_slice(&word[..rest.len()]);
        }
        if self.at == 0 {
            let shown = self.header.len().min(count);
            buffer[..shown].copy_from_slice(&self.header[..shown]);
        }
        self.at += count as u64;
        if self.at == self.length
            && let Some(last) = buffer.last_mut().filter(|_| self.length > self.header.len() as u64)
        {
            *last = b'\n';
        }
        count
    }

    fn word(&mut self) -> [u8; 8] {
        // No byte carries into the next: 0x3f + 0x3f is below 256.
        ((self.stream.bits() & SIX_BITS) + FIRST).to_le_bytes()
    }
}

/// FNV-1a: the same for ever, unlike the standard library's.
fn hash(path: &str) -> u64 {
    path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
