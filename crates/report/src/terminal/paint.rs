//! Colour where it is wanted, and nothing else that steers a terminal.

use crate::Tone;

/// Paints text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) colour: bool,
}

impl Paint {
    /// In the colour of `tone`, bold.
    pub(super) fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "1;32",
            Tone::Bad => "1;31",
            Tone::Doubtful => "1;33",
            Tone::Open => "1;36",
        };
        self.code(code, text)
    }

    /// Red.
    pub(super) fn bad(self, text: &str) -> String {
        self.code("31", text)
    }

    fn code(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

/// `text` on one line without characters that steer a terminal or turn the direction of writing: each becomes `·`.
pub(crate) fn plain(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if hidden(c) => '·',
        c => c,
    };
    let text: String = text.chars().map(harmless).collect();
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether `c` has no shape of its own: it steers a terminal or turns the direction of writing.
pub(crate) fn hidden(c: char) -> bool {
    let format =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || format
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_server_sends_can_steer_the_terminal() {
        assert_eq!(plain("\u{1b}[2J\u{1b}]0;owned\u{7}a\r\n\tb \u{202e}c\u{9b}d"), "·[2J·]0;owned·a b ·c·d");
    }
}
