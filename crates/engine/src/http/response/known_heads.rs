//! Heads that have been read: within a second, a server's heads are often the same to the last byte, and to compare one
//! costs a twentieth of what it costs to read it.

use super::head::Head;

/// A mix of pages has a few different heads; each one more is compared with all of those.
const HEADS: usize = 4;

/// The last heads that were read, with what they say.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads {
    heads: [(Vec<u8>, Head); HEADS],
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
        self.oldest = (self.oldest + 1) % HEADS;
        bytes.clear();
        bytes.extend_from_slice(head);
        *known = says;
    }
}
