//! How many steps Lua's pattern matching takes: its algorithm (lstrlib.c of Lua 5.4) gone through with a count, as far
//! as is allowed.

const MAX_CAPTURES: usize = 32;
/// Lua's own limit: a pattern that goes deeper is its error.
const MAX_DEPTH: u32 = 200;
/// Short texts and plain patterns are not gone through.
const CHEAP_STEPS: u64 = 2_000;

/// The steps of the first match, or of `every` one, in `subject` from `begin`; nothing when they are more than `max`.
/// A malformed pattern costs what it cost so far: Lua will say what is wrong with it.
pub(super) fn steps(subject: &[u8], pattern: &[u8], begin: usize, every: bool, max: u64) -> Option<u64> {
    let length = subject.len().saturating_sub(begin) as u64;
    let branching = |byte: &&u8| matches!(**byte, b'*' | b'+' | b'-' | b'?' | b'b');
    let branches = pattern.iter().filter(branching).count() as u32;
    let bound =
        (length + 1).checked_pow(branches + 1).and_then(|ways| ways.checked_mul(pattern.len() as u64 + 1));
    if let Some(bound) = bound.filter(|bound| *bound <= CHEAP_STEPS) {
        return (bound <= max).then_some(bound);
    }
    let anchored = pattern.first() == Some(&b'^');
    let mut matcher =
        Matcher { subject, pattern, steps: 0, max, level: 0, captures: [(0, Capture::Open); MAX_CAPTURES] };
    let mut at = begin;
    while at <= subject.len() {
        matcher.level = 0;
        match matcher.run(at, usize::from(anchored), MAX_DEPTH) {
            Ok(Some(_)) if !every => break,
            Ok(Some(end)) if end > at => at = end,
            Ok(_) => at += 1,
            Err(Stop::Malformed) => break,
            Err(Stop::TooMany) => return None,
        }
        if anchored {
            break;
        }
    }
    Some(matcher.steps)
}

enum Stop {
    Malformed,
    TooMany,
}

#[derive(Clone, Copy, PartialEq)]
enum Capture {
    Open,
    Position,
    Length(usize),
}

struct Matcher<'a> {
    subject: &'a [u8],
    pattern: &'a [u8],
    steps: u64,
    max: u64,
    level: usize,
    captures: [(usize, Capture); MAX_CAPTURES],
}

type Matched = Result<Option<usize>, Stop>;

impl Matcher<'_> {
    fn step(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps += steps as u64;
        if self.steps > self.max { Err(Stop::TooMany) } else { Ok(()) }
    }

    fn at(&self, p: usize) -> Option<u8> {
        self.pattern.get(p).copied()
    }

    /// `match` of lstrlib.c: where the match of the pattern from `p` at `s` ends.
    fn run(&mut self, mut s: usize, mut p: usize, deep: u32) -> Matched {
        let deep = deep.checked_sub(1).ok_or(Stop::Malformed)?;
        loop {
            self.step(1)?;
            match (self.at(p), self.at(p + 1)) {
                (None, _) => return Ok(Some(s)),
                (Some(b'('), Some(b')')) => return self.open(s, p + 2, Capture::Position, deep),
                (Some(b'('), _) => return self.open(s, p + 1, Capture::Open, deep),
                (Some(b')'), _) => return self.close(s, p + 1, deep),
                (Some(b'$'), None) => return Ok((s == self.subject.len()).then_some(s)),
                (Some(b'%'), Some(b'b')) => match self.balance(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (Some(b'%'), Some(b'f')) => {
                    p += 2;
                    if self.at(p) != Some(b'[') {
                        return Err(Stop::Malformed);
                    }
                    let end = self.class_end(p)?;
                    let before = s.checked_sub(1).map_or(0, |before| self.subject[before]);
                    let here = self.subject.get(s).copied().unwrap_or(0);
                    if self.in_set(before, p, end - 1) || !self.in_set(here, p, end - 1) {
                        return Ok(None);
                    }
                    p = end;
                }
                (Some(b'%'), Some(digit @ b'0'..=b'9')) => match self.again(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = self.class_end(p)?;
                    let single = self.single(s, p, end)?;
                    match (self.at(end), single) {
                        (Some(b'?'), true) => match self.run(s + 1, end + 1, deep)? {
                            Some(found) => return Ok(Some(found)),
                            None => p = end + 1,
                        },
                        (Some(b'+'), true) => return self.longest(s + 1, p, end, deep),
                        (Some(b'*'), true) => return self.longest(s, p, end, deep),
                        (Some(b'-'), true) => return self.shortest(s, p, end, deep),
                        (Some(b'*' | b'?' | b'-'), false) => p = end + 1,
                        (_, false) => return Ok(None),
                        (_, true) => (s, p) = (s + 1, end),
                    }
                }
            }
        }
    }

    fn longest(&mut self, s: usize, p: usize, end: usize, deep: u32) -> Matched {
        let mut length = 0;
        while self.single(s + length, p, end)? {
            length += 1;
        }
        for length in (0..=length).rev() {
            if let Some(found) = self.run(s + length, end + 1, deep)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn shortest(&mut self, mut s: usize, p: usize, end: usize, deep: u32) -> Matched {
        loop {
            if let Some(found) = self.run(s, end + 1, deep)? {
                return Ok(Some(found));
            }
            if !self.single(s, p, end)? {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn open(&mut self, s: usize, p: usize, kind: Capture, deep: u32) -> Matched {
        *self.captures.get_mut(self.level).ok_or(Stop::Malformed)? = (s, kind);
        self.level += 1;
        let found = self.run(s, p, deep)?;
        self.level -= usize::from(found.is_none());
        Ok(found)
    }

    fn close(&mut self, s: usize, p: usize, deep: u32) -> Matched {
        let open = self.captures[..self.level].iter().rposition(|(_, kind)| *kind == Capture::Open);
        let open = open.ok_or(Stop::Malformed)?;
        self.captures[open].1 = Capture::Length(s - self.captures[open].0);
        let found = self.run(s, p, deep)?;
        if found.is_none() {
            self.captures[open].1 = Capture::Open;
        }
        Ok(found)
    }

    /// The text of a capture, once more.
    fn again(&mut self, s: usize, digit: u8) -> Matched {
        let index = usize::from(digit).checked_sub(usize::from(b'1')).ok_or(Stop::Malformed)?;
        let (start, Capture::Length(length)) =
            self.captures[..self.level].get(index).ok_or(Stop::Malformed)?
        else {
            return Err(Stop::Malformed);
        };
        let same = self.subject[s..].starts_with(&self.subject[*start..*start + *length]);
        let end = s + length;
        self.step(end - s)?;
        Ok(same.then_some(end))
    }

    fn balance(&mut self, s: usize, p: usize) -> Matched {
        let (Some(begin), Some(end)) = (self.at(p), self.at(p + 1)) else { return Err(Stop::Malformed) };
        if self.subject.get(s) != Some(&begin) {
            return Ok(None);
        }
        let mut depth = 1usize;
        for place in s + 1..self.subject.len() {
            self.step(1)?;
            let byte = self.subject[place];
            if byte == end {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(place + 1));
                }
            } else if byte == begin {
                depth += 1;
            }
        }
        Ok(None)
    }

    fn class_end(&self, p: usize) -> Result<usize, Stop> {
        match self.at(p) {
            Some(b'%') if p + 1 >= self.pattern.len() => Err(Stop::Malformed),
            Some(b'%') => Ok(p + 2),
            Some(b'[') => {
                let mut p = p + 1 + usize::from(self.at(p + 1) == Some(b'^'));
                loop {
                    let byte = self.at(p).ok_or(Stop::Malformed)?;
                    p += 1 + usize::from(byte == b'%' && p + 1 < self.pattern.len());
                    if self.at(p) == Some(b']') {
                        return Ok(p + 1);
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    fn single(&mut self, s: usize, p: usize, end: usize) -> Result<bool, Stop> {
        self.step(end - p)?;
        let Some(byte) = self.subject.get(s).copied() else { return Ok(false) };
        Ok(match self.pattern[p] {
            b'.' => true,
            b'%' => in_class(byte, self.pattern[p + 1]),
            b'[' => self.in_set(byte, p, end - 1),
            same => same == byte,
        })
    }

    /// `matchbracketclass` of lstrlib.c: `p` is at the opening bracket, `end` at the closing one.
    fn in_set(&self, byte: u8, mut p: usize, end: usize) -> bool {
        let negated = self.at(p + 1) == Some(b'^');
        p += usize::from(negated) + 1;
        while p < end {
            let first = self.pattern[p];
            if first == b'%' {
                p += 1;
                if in_class(byte, self.pattern[p]) {
                    return !negated;
                }
            } else if self.at(p + 1) == Some(b'-') && p + 2 < end {
                p += 2;
                if (first..=self.pattern[p]).contains(&byte) {
                    return !negated;
                }
            } else if first == byte {
                return !negated;
            }
            p += 1;
        }
        negated
    }
}

fn in_class(byte: u8, class: u8) -> bool {
    let within = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => return class == byte,
    };
    within != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use mlua::Lua;
    use proptest::prelude::*;

    use super::*;

    fn first_end(subject: &[u8], pattern: &[u8]) -> Option<usize> {
        let captures = [(0, Capture::Open); MAX_CAPTURES];
        let mut matcher = Matcher { subject, pattern, steps: 0, max: 1_000_000, level: 0, captures };
        (0..=subject.len()).find_map(|at| {
            matcher.level = 0;
            matcher.run(at, 0, MAX_DEPTH).ok().flatten()
        })
    }

    proptest! {
        /// The count is worth something only if it goes the way that Lua goes.
        #[test]
        fn matches_end_where_lua_s_end(
            subject in "[ab1 ()]{0,12}",
            pattern in proptest::collection::vec(prop_oneof![
                Just("a"), Just("b"), Just("."), Just("%a"), Just("%D"), Just("[ab]"), Just("[^a-b%d]"), Just("(a"),
                Just(")"), Just("()"), Just("%1"), Just("%b()"), Just("%f[%a]"), Just("*"), Just("+"), Just("-"),
                Just("?"), Just("$"), Just("[]a]"), Just("%")], 1..6))
        {
            let pattern = pattern.concat();
            // Lua does not take others for patterns.
            prop_assume!(pattern.contains(['$', '*', '+', '?', '.', '(', '[', '%', '-']));
            let lua = Lua::new();
            let find: mlua::Function = lua.load("local s, p = ... local _, e = s:find(p) return e").into_function()?;
            if let Ok(end) = find.call::<Option<usize>>((subject.as_str(), pattern.as_str())) {
                prop_assert_eq!(first_end(subject.as_bytes(), pattern.as_bytes()), end, "{:?} in {:?}", pattern, subject);
            }
        }
    }
}
