//! Text that somebody else wrote - a server's answer, its log, a header - as it can be shown without steering what shows it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether `c` has no shape of its own: it steers a terminal or turns the direction of writing.
pub fn hidden(c: char) -> bool {
    let format =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || format
}

/// `text` on one line; each [`hidden`] character becomes `·`.
pub fn one_line(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if hidden(c) => '·',
        c => c,
    };
    let text: String = text.chars().map(shown).collect();
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `text` with its lines and tabs. Each other [`hidden`] character is written as JSON writes it, `\u001b`, so that JSON says
/// the same as before. `own` are sequences of the tool's own, which stay.
pub fn harmless<'a>(text: &'a str, own: &[&str]) -> Cow<'a, str> {
    let plain = |c: char| matches!(c, '\n' | '\t') || !hidden(c);
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let kept = own.iter().find(|own| rest.starts_with(**own));
        let length = kept.map_or(c.len_utf8(), |own| own.len());
        match c {
            _ if kept.is_some() || plain(c) => shown.push_str(&rest[..length]),
            // The other half of a line's end as HTTP has it.
            '\r' if rest.starts_with("\r\n") => {}
            // Writing to a String can't fail.
            c => _ = write!(shown, "\\u{:04x}", u32::from(c)),
        }
        rest = &rest[length..];
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}a\r\n\tb \u{202e}c\u{9b}d";

    #[test]
    fn nothing_that_a_server_sends_can_steer_the_terminal() {
        assert_eq!(one_line(EVIL), "·[2J·]0;owned·a b ·c·d");
        assert_eq!(harmless(EVIL, &[]), "\\u001b[2J\\u001b]0;owned\\u0007a\n\tb \\u202ec\\u009bd");
        assert_eq!(harmless("half\rover", &[]), "half\\u000dover");
    }

    #[test]
    fn sequences_of_our_own_stay_and_no_others() {
        let own = ["\u{1b}[31m", "\u{1b}[0m"];
        assert_eq!(harmless("\u{1b}[31mred\u{1b}[0m\u{1b}[8m", &own), "\u{1b}[31mred\u{1b}[0m\\u001b[8m");
        assert!(matches!(harmless("nothing · to\n\tdo", &own), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_the_same_as_before() {
        let json = serde_json::to_string(EVIL).expect("a text");
        let shown = harmless(&json, &[]);
        assert!(!shown.chars().any(hidden), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), EVIL);
    }
}
