//! The words of a Lua text, without comments.

/// A word, a text or a sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, a keyword or a number.
    Word(String),
    /// What stands between quotes.
    Text(String),
    Sign(char),
}

impl Token {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if own == word)
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Token::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if let Some(comment) = rest.strip_prefix("--") {
            long(comment).map_or_else(|| rest.find('\n').unwrap_or(rest.len()), |end| end + 2)
        } else if let Some(end) = long(rest) {
            tokens.push(Token::Text(rest[..end].to_string()));
            end
        } else if first == '"' || first == '\'' {
            let end = quoted(rest, first);
            tokens.push(Token::Text(rest[1..end].trim_end_matches(first).to_string()));
            end
        } else if first.is_alphanumeric() || first == '_' {
            // A number's point belongs to it, a table's does not.
            let is_number = first.is_ascii_digit();
            let within = |c: char| c.is_alphanumeric() || c == '_' || (is_number && c == '.');
            let end = rest.find(|c: char| !within(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_string()));
            end
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[end..];
    }
    tokens
}

/// The end of `[[…]]` or `[==[…]==]` that the text begins with; that of the text where it is never closed.
fn long(text: &str) -> Option<usize> {
    let signs = text.strip_prefix('[')?.bytes().take_while(|byte| *byte == b'=').count();
    text[1 + signs..].strip_prefix('[')?;
    let close = format!("]{}]", "=".repeat(signs));
    Some(text.find(&close).map_or(text.len(), |at| at + close.len()))
}

/// The end of a quoted text, its quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
}
