//! Colour where it is wanted, and nothing else that steers a terminal.

use crate::Tone;

/// Every sequence that a text of this room may have in it, colours and their end: nothing else in it steers a terminal.
pub const PAINT: [&str; 6] =
    ["\u{1b}[1;32m", "\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[1;36m", "\u{1b}[31m", "\u{1b}[0m"];

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
