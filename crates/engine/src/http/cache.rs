//! What a user's private cache knows of the objects it has fetched (RFC 9111): until when each is fresh and how to ask
//! whether it has changed. It holds no bodies: a session that finds an object fresh goes without the request, as a
//! browser does.

mod terms;

use std::hash::{DefaultHasher, Hash, Hasher};

use terms::Terms;

use super::date;

/// Objects that a user remembers; the one that was not wanted for longest goes first.
pub const MAX_ENTRIES: usize = 200;
/// Longer entity tags are not kept.
const MAX_TAG_BYTES: usize = 256;

/// What a user's cache says of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Not there: ask for it.
    Absent,
    /// There, and no request is needed.
    Fresh,
    /// There, and the server must be asked whether it has changed ([`Cache::write_conditions`]).
    Stale,
}

/// A user's cache. Times are seconds since 1970.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    /// In no order: a use is noted in its entry, so that a hit moves nothing.
    entries: Vec<Entry>,
    /// How many uses there were.
    uses: u32,
}

#[derive(Debug, Clone)]
struct Entry {
    /// Hash of the object's target: 200 of a user's objects collide with a probability of 10⁻¹⁵.
    key: u64,
    fresh_until_s: u32,
    /// For how many seconds the server said that it is fresh; absent where it didn't.
    said_s: Option<u32>,
    modified_s: Option<i64>,
    /// With its quotes; empty when there is none.
    tag: Box<[u8]>,
    /// The number of its last use.
    used: u32,
}

impl Cache {
    /// What is known of the object at `target` (path with query), which is wanted now.
    pub fn look(&mut self, target: &[u8], now_s: i64) -> Found {
        let Some(at) = self.position(target) else { return Found::Absent };
        let used = self.next_use();
        let entry = &mut self.entries[at];
        entry.used = used;
        if now_s < i64::from(entry.fresh_until_s) { Found::Fresh } else { Found::Stale }
    }

    /// Appends the header lines that make a GET of `target` conditional, if the object is known.
    pub fn write_conditions(&self, target: &[u8], out: &mut Vec<u8>) {
        let Some(at) = self.position(target) else { return };
        let entry = &self.entries[at];
        if !entry.tag.is_empty() {
            out.extend_from_slice(b"If-None-Match: ");
            out.extend_from_slice(&entry.tag);
            out.extend_from_slice(b"\r\n");
        }
        if let Some(modified_s) = entry.modified_s {
            out.extend_from_slice(b"If-Modified-Since: ");
            date::write(modified_s, out);
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Takes note of the answer to a GET of `target` that came at `now_s`: a 304 refreshes what is known, anything else
    /// replaces it, unless it is an error of the server. With `heuristic`, what doesn't say for how long it is fresh is so for a
    /// tenth of its age.
    pub fn note<'a>(
        &mut self,
        target: &[u8],
        status: u16,
        headers: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        now_s: i64,
        heuristic: bool,
    ) {
        let terms = Terms::read(headers, heuristic);
        match status {
            304 => self.refresh(target, &terms, now_s),
            // RFC 9111 section 4.3.3: a server that fails says nothing about the object.
            500.. => {}
            _ => self.replace(target, status, &terms, now_s),
        }
    }

    /// Forgets an object, as after a POST to it (RFC 9111 section 4.4).
    pub fn forget(&mut self, target: &[u8]) {
        if let Some(at) = self.position(target) {
            self.entries.swap_remove(at);
        }
    }

    /// Where the object's entry is.
    fn position(&self, target: &[u8]) -> Option<usize> {
        if self.entries.is_empty() {
            return None;
        }
        let key = key_of(target);
        self.entries.iter().position(|entry| entry.key == key)
    }

    fn next_use(&mut self) -> u32 {
        // After four thousand million uses the order of the last ones is lost, and nothing else.
        self.uses = self.uses.wrapping_add(1);
        self.uses
    }

    fn replace(&mut self, target: &[u8], status: u16, terms: &Terms<'_>, now_s: i64) {
        self.forget(target);
        let said_s = terms.said_s(now_s);
        let lifetime_s = said_s.unwrap_or_else(|| terms.lifetime_by_age_s(status, terms.modified_s, now_s));
        let tag = terms.tag.filter(|tag| tag.len() <= MAX_TAG_BYTES).unwrap_or_default();
        let useful = lifetime_s > 0 || !tag.is_empty() || terms.modified_s.is_some();
        if !terms.stored(status) || !useful {
            return;
        }
        if self.entries.len() == MAX_ENTRIES {
            self.make_room();
        }
        let used = self.next_use();
        self.entries.push(Entry {
            key: key_of(target),
            fresh_until_s: terms.fresh_until_s(lifetime_s, now_s),
            said_s,
            modified_s: terms.modified_s,
            tag: tag.into(),
            used,
        });
    }

    /// Lets the object go that was not wanted for longest.
    fn make_room(&mut self) {
        let places = self.entries.iter().enumerate();
        if let Some((at, _)) = places.min_by_key(|(_, entry)| entry.used) {
            self.entries.swap_remove(at);
        }
    }

    /// RFC 9111 section 4.3.4: what the 304 says replaces what is stored, the rest stays.
    fn refresh(&mut self, target: &[u8], terms: &Terms<'_>, now_s: i64) {
        if !terms.stored(200) {
            return self.forget(target);
        }
        let Some(at) = self.position(target) else { return };
        let used = self.next_use();
        let entry = &mut self.entries[at];
        entry.used = used;
        if let Some(tag) = terms.tag.filter(|tag| tag.len() <= MAX_TAG_BYTES && **tag != *entry.tag) {
            entry.tag = tag.into();
        }
        entry.modified_s = terms.modified_s.or(entry.modified_s);
        entry.said_s = terms.said_s(now_s).or(entry.said_s);
        let by_age_s = || terms.lifetime_by_age_s(200, entry.modified_s, now_s);
        let lifetime_s = entry.said_s.unwrap_or_else(by_age_s);
        entry.fresh_until_s = terms.fresh_until_s(lifetime_s, now_s);
    }
}

fn key_of(target: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    target.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
