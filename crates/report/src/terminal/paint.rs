//! Colour where it is wanted, and nothing else that steers a terminal.

use model::outside::one_line as plain;

use super::table::wrap;
use crate::{Headline, Tone};

/// Every sequence that a text of this room may have in it, colours and their end: nothing else in it steers a terminal.
pub const PAINT: [&str; 6] =
    ["\u{1b}[1;32m", "\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[1;36m", "\u{1b}[31m", "\u{1b}[0m"];

/// Paints text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) colour: bool,
}

impl Paint {
    /// A headline's word and sentence, and what has to be said before any figure.
    pub(super) fn headline(self, headline: &Headline, width: usize) -> String {
        let caveat = headline.caveat().map(|caveat| wrap(caveat, width, "") + "\n");
        self.answer(headline.tone, headline.word, &headline.sentence, width) + &caveat.unwrap_or_default()
    }

    /// `word` in capitals and in its colour, and the sentence after it.
    pub(super) fn answer(self, tone: Tone, word: &str, sentence: &str, width: usize) -> String {
        let word = word.to_uppercase();
        let text = wrap(&format!("{word}  {}", plain(sentence)), width, "  ");
        let rest = text.strip_prefix(&word).unwrap_or(&text);
        format!("{}{rest}\n", self.tone(tone, &word))
    }

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
