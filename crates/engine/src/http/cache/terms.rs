//! What an answer's headers say about keeping it (RFC 9111 sections 3, 4.2, 5.2.2), for a private cache.

use crate::http::date;

/// The headers of one answer that are about keeping it.
#[derive(Debug, Default)]
pub(super) struct Terms<'a> {
    freshness: Freshness,
    pub(super) tag: Option<&'a [u8]>,
    pub(super) modified_s: Option<i64>,
    date_s: Option<i64>,
    age_s: u32,
    no_store: bool,
    /// Other users' or other cookies' answers differ, so that it is asked each time.
    varies: bool,
    varies_always: bool,
    /// What doesn't say for how long it is fresh is so for a tenth of its age.
    heuristic: bool,
}

/// For how long an answer is fresh, as far as it says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Freshness {
    #[default]
    Unsaid,
    /// `Expires`, a time; one that is no time has passed (RFC 9111 section 5.3).
    Until(i64),
    /// `max-age`.
    For(u32),
    /// `no-cache`.
    Never,
}

impl<'a> Terms<'a> {
    pub(super) fn read(headers: impl Iterator<Item = (&'a [u8], &'a [u8])>, heuristic: bool) -> Terms<'a> {
        let mut terms = Terms { heuristic, ..Terms::default() };
        for (name, value) in headers {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            match name.len() {
                3 if is("age") => terms.age_s = seconds(value).unwrap_or(0),
                4 if is("etag") => terms.tag = Some(value).filter(|tag| !tag.is_empty()),
                4 if is("date") => terms.date_s = date::parse(value),
                4 if is("vary") => terms.vary(value),
                7 if is("expires") => {
                    terms.strengthen(Freshness::Until(date::parse(value).unwrap_or(i64::MIN)));
                }
                13 if is("last-modified") => terms.modified_s = date::parse(value),
                13 if is("cache-control") => terms.cache_control(value),
                _ => {}
            }
        }
        terms
    }

    /// Whether an answer with that status is kept at all. What leads elsewhere and what is a part is not, since no
    /// bodies and no locations are held here.
    pub(super) fn stored(&self, status: u16) -> bool {
        let said = matches!(self.freshness, Freshness::Until(_) | Freshness::For(_));
        let whole = !matches!(status, 206 | 300..400);
        !self.no_store && !self.varies_always && whole && (said || heuristic(status))
    }

    /// Seconds from its making for which it says that it is fresh (RFC 9111 section 4.2.1), absent where it doesn't;
    /// `s-maxage` is for shared caches.
    pub(super) fn said_s(&self, now_s: i64) -> Option<u32> {
        let said_s = match self.freshness {
            _ if self.varies => 0,
            Freshness::Never => 0,
            Freshness::For(seconds) => i64::from(seconds),
            Freshness::Until(time_s) => time_s.saturating_sub(self.made_s(now_s)),
            Freshness::Unsaid => return None,
        };
        Some(clamp(said_s))
    }

    /// Seconds from its making for which an answer that doesn't say so is taken to be fresh: a tenth of the time since the object
    /// last changed (RFC 9111 section 4.2.2), where the status allows it.
    pub(super) fn lifetime_by_age_s(&self, status: u16, modified_s: Option<i64>, now_s: i64) -> u32 {
        let modified_s = modified_s.filter(|_| self.heuristic && heuristic(status));
        clamp(modified_s.map_or(0, |modified_s| self.made_s(now_s).saturating_sub(modified_s) / 10))
    }

    fn made_s(&self, now_s: i64) -> i64 {
        self.date_s.unwrap_or(now_s)
    }

    /// RFC 9111 section 4.2.3, on a network without delay: the answer is as old as it or its date says.
    pub(super) fn fresh_until_s(&self, lifetime_s: u32, now_s: i64) -> u32 {
        let apparent_s = self.date_s.map_or(0, |date_s| now_s.saturating_sub(date_s).max(0));
        let age_s = apparent_s.max(i64::from(self.age_s));
        // Stale at once when there is nothing left: also by a clock that stands still.
        clamp(now_s.saturating_add(i64::from(lifetime_s).saturating_sub(age_s).max(0)))
    }

    fn cache_control(&mut self, value: &[u8]) {
        for directive in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let end = directive.iter().position(|byte| *byte == b'=').unwrap_or(directive.len());
            let (name, argument) = (&directive[..end], directive.get(end + 1..).unwrap_or_default());
            if name.eq_ignore_ascii_case(b"no-store") {
                self.no_store = true;
            } else if name.eq_ignore_ascii_case(b"no-cache") && argument.is_empty() {
                self.strengthen(Freshness::Never);
            } else if name.eq_ignore_ascii_case(b"max-age") {
                // RFC 9111 section 4.2.1: what can't be understood is stale.
                self.strengthen(Freshness::For(seconds(argument).unwrap_or(0)));
            }
        }
    }

    /// `no-cache` goes before `max-age`, and that before `Expires`.
    fn strengthen(&mut self, freshness: Freshness) {
        let rank = |freshness: Freshness| match freshness {
            Freshness::Unsaid => 0,
            Freshness::Until(_) => 1,
            Freshness::For(_) => 2,
            Freshness::Never => 3,
        };
        if rank(freshness) > rank(self.freshness) {
            self.freshness = freshness;
        }
    }

    /// A user's requests differ in cookies and credentials only.
    fn vary(&mut self, value: &[u8]) {
        for name in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            self.varies_always |= name == b"*";
            self.varies |=
                name.eq_ignore_ascii_case(b"cookie") || name.eq_ignore_ascii_case(b"authorization");
        }
    }
}

/// Statuses that may be kept without being told (RFC 9110 section 15.1).
fn heuristic(status: u16) -> bool {
    matches!(status, 200 | 203 | 204 | 404 | 405 | 410 | 414)
}

/// RFC 9111 section 1.2.2: too large a number is a very long time.
fn seconds(value: &[u8]) -> Option<u32> {
    let digits = value.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")).unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let sum =
        digits.iter().fold(0u32, |sum, byte| sum.saturating_mul(10).saturating_add(u32::from(byte - b'0')));
    Some(sum)
}

fn clamp(seconds: i64) -> u32 {
    u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
}
