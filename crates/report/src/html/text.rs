//! Text as pages show it: without line breaks inside of numbers, and without characters that nobody sees.

use minijinja::HtmlEscape;
use serde_json::Value;

use crate::terminal::hidden;

/// The colour of a tier; those without one of their own share three.
pub(crate) fn tier_class(tier: &str, index: usize) -> String {
    match tier {
        "web" | "app" | "db" | "cache" | "generator" | "observers" | "viewer" => format!("tier-{tier}"),
        _ => format!("tier-other-{}", index % 3 + 1),
    }
}

/// Groups of digits of the numbers in a sentence stay on one line.
pub(super) fn thin_groups(sentence: &str) -> String {
    let letters: Vec<char> = sentence.chars().collect();
    let digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let thin = |(at, c): (usize, &char)| match c {
        ' ' if at > 0 && digit(at - 1) && digit(at + 1) => '\u{202f}',
        c => *c,
    };
    letters.iter().enumerate().map(thin).collect()
}

/// The markup of a sentence in which options stay on one line: browsers may break `--budget` after either of its hyphens.
pub(super) fn unbroken(sentence: &str) -> String {
    let word = |word: &str| {
        let escaped = HtmlEscape(word);
        let option = word.trim_start_matches(['(', '`', '"']).starts_with("--");
        if option { format!("<span class=\"unbroken\">{escaped}</span>") } else { escaped.to_string() }
    };
    sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The markup of a sentence: what stands between backticks is a command, and options stay on one line.
pub(super) fn sentence(text: &str) -> String {
    let command = text.split_once('`').and_then(|(before, rest)| Some((before, rest.split_once('`')?)));
    match command {
        Some((before, (command, after))) => {
            format!("{}<code>{}</code>{}", unbroken(before), unbroken(command), sentence(after))
        }
        None => unbroken(text),
    }
}

/// Groups of digits and units stay on one line.
pub(super) fn thin(text: &str) -> String {
    text.replace(' ', "\u{202f}")
}

/// `text` with its lines, but with `·` for other control characters and for those that turn the direction of writing.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') || !hidden(c) { c } else { '·' }).collect()
}

/// The view without characters that have no shape of their own and could turn the direction of writing.
pub fn visible_json(view: Value) -> Value {
    match view {
        Value::String(text) => Value::String(visible(&text)),
        Value::Array(values) => values.into_iter().map(visible_json).collect(),
        Value::Object(values) => {
            values.into_iter().map(|(name, value)| (visible(&name), visible_json(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_in_a_headline_is_not_broken_and_all_else_is_escaped_as_ever() {
        let said = "5 < 6: give it more time (--budget), or `--resume` it - as <b> is";
        let expected = "5 &lt; 6: give it more time <span class=\"unbroken\">(--budget),</span> or \
                        <span class=\"unbroken\">`--resume`</span> it - as &lt;b&gt; is";
        assert_eq!(unbroken(said), expected);
    }

    #[test]
    fn a_command_in_a_sentence_is_marked_as_one_and_a_single_backtick_is_a_character() {
        assert_eq!(sentence("`plimsoll find` tells"), "<code>plimsoll find</code> tells");
        let expected = "go on with <code>a <span class=\"unbroken\">--b</span></code>; it`s &lt;i&gt;";
        assert_eq!(sentence("go on with `a --b`; it`s <i>"), expected);
    }
}
