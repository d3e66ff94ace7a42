//! A statement without its values, so that those which differ in nothing else are one.

/// Longer digests are cut: what follows hardly tells statements apart.
const MAX_CHARS: usize = 400;

/// `select  * from T where id in (1, 2) and name = 'x'` as `select * from T where id in (?) and name = ?`: values are `?`, lists
/// of them are one, white space and comments are one blank.
pub(super) fn digest(statement: &str) -> String {
    let mut rest = statement.trim();
    let mut digest = String::new();
    while let Some(first) = rest.chars().next() {
        let (piece, after) = rest.split_at(length(rest, first));
        if is_blank(piece, first) {
            if !digest.is_empty() && !digest.ends_with(' ') {
                digest.push(' ');
            }
        } else if is_value(piece, first) && !in_name(&digest) {
            push_value(&mut digest);
        } else {
            digest.push_str(piece);
        }
        if digest.len() > MAX_CHARS {
            digest = digest.chars().take(MAX_CHARS).chain(['…']).collect();
            break;
        }
        rest = after;
    }
    digest.trim_end().to_string()
}

/// How long the piece is that the text begins with.
fn length(text: &str, first: char) -> usize {
    let until = |end: Option<usize>| end.unwrap_or(text.len());
    match first {
        '\'' | '"' | '`' => quoted(text, first),
        _ if text.starts_with("/*") => until(text.find("*/").map(|at| at + 2)),
        _ if text.starts_with("-- ") || first == '#' => until(text.find('\n')),
        _ if first.is_whitespace() => until(text.find(|c: char| !c.is_whitespace())),
        _ if first.is_ascii_digit() => until(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.')),
        _ if first.is_alphanumeric() || first == '_' => {
            until(text.find(|c: char| !c.is_alphanumeric() && c != '_'))
        }
        _ => first.len_utf8(),
    }
}

/// A text in quotes: a doubled quote and one behind a backslash are part of it.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote != '`' {
            escaped = true;
        } else if c == quote {
            match chars.peek() {
                Some((_, next)) if *next == quote => _ = chars.next(),
                _ => return at + quote.len_utf8(),
            }
        }
    }
    text.len()
}

fn is_blank(piece: &str, first: char) -> bool {
    first.is_whitespace() || piece.starts_with("/*") || piece.starts_with("-- ") || first == '#'
}

fn is_value(piece: &str, first: char) -> bool {
    matches!(first, '\'' | '"') || first.is_ascii_digit() && !piece.is_empty()
}

/// A digit behind a letter belongs to a name: `t1`.
fn in_name(digest: &str) -> bool {
    digest.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Of a list of values one is enough.
fn push_value(digest: &mut String) {
    let list = digest.trim_end().strip_suffix(',').map(str::trim_end);
    match list.filter(|before| before.ends_with('?')) {
        Some(before) => digest.truncate(before.len()),
        None => digest.push('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_differ_in_values_only_are_one() {
        let one =
            digest("SELECT  *\n FROM t1 WHERE id IN (1, 2,3) AND name = 'O''Brien \\' x' -- why\n LIMIT 10");
        assert_eq!(one, "SELECT * FROM t1 WHERE id IN (?) AND name = ? LIMIT ?");
        assert_eq!(one, digest("SELECT * FROM t1 WHERE id IN (7) AND name = \"b\" LIMIT 5"));
    }

    #[test]
    fn names_stay_as_they_are_and_comments_are_blanks() {
        assert_eq!(digest("/* page 7 */ UPDATE `a``1`.b2 SET c=-1.5e3"), "UPDATE `a``1`.b2 SET c=-?");
        assert_eq!(digest("insert into t values (1,'a'),(2,'b')"), "insert into t values (?),(?)");
    }

    #[test]
    fn whatever_a_program_sends_has_a_digest() {
        for text in ["", "'", "\"\\", "/*", "`", "0x", "é'ü"] {
            digest(text);
        }
        let long = digest(&"x, ".repeat(1_000));
        assert!(long.chars().count() <= MAX_CHARS + 1 && long.ends_with('…'), "{long}");
    }
}
