//! The texts of statuses, as figures by name.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a server says about itself, by the names that it gives.
pub(super) type Figures = BTreeMap<String, f64>;

/// The slots of Apache's and the connections of lighttpd's scoreboard: letters that are absent count as nothing.
const LETTERS: &str = "_SRWKDCLGI.EkrhqQs";

/// Lines `Name: value`; values that are no numbers are left out. The letters of a `Scoreboard` line, which may go on
/// over several lines, are counted as `Scoreboard.X`.
pub(super) fn lines(text: &str) -> Figures {
    let mut figures = Figures::new();
    let mut in_board = false;
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("Scoreboard", board)) => {
                in_board = true;
                figures.extend(LETTERS.chars().map(|letter| (format!("Scoreboard.{letter}"), 0.0)));
                count(board, &mut figures);
            }
            Some((name, value)) => {
                in_board = false;
                figures.extend(value.trim().parse().ok().map(|value| (name.to_string(), value)));
            }
            None if in_board => count(line, &mut figures),
            None => {}
        }
    }
    figures
}

fn count(board: &str, figures: &mut Figures) {
    for letter in board.chars().filter(|letter| !letter.is_whitespace()) {
        *figures.entry(format!("Scoreboard.{letter}")).or_default() += 1.0;
    }
}

/// The numbers of a JSON object; true is 1 and false 0, fields within fields have dots between. Nothing where the text
/// is no object.
pub(super) fn json(text: &[u8]) -> Option<Figures> {
    let value: Value = serde_json::from_slice(text).ok()?;
    let mut figures = Figures::new();
    flatten("", value.as_object()?, &mut figures);
    Some(figures)
}

fn flatten(at: &str, object: &serde_json::Map<String, Value>, figures: &mut Figures) {
    for (name, value) in object {
        let name = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        match value {
            Value::Object(inner) => flatten(&name, inner, figures),
            Value::Bool(yes) => _ = figures.insert(name, f64::from(u8::from(*yes))),
            value => figures.extend(value.as_f64().map(|value| (name, value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scoreboard_is_counted_by_its_letters_over_all_its_lines() {
        let text = "localhost\nServerVersion: Apache/2.4.62 (Debian)\nBusyWorkers: 3\nLoad1: 0.25\n\
                    Scoreboard: _WWK..\n__R\n\n";
        let figures = lines(text);
        assert_eq!(figures.get("BusyWorkers"), Some(&3.0));
        assert_eq!(figures.get("Load1"), Some(&0.25));
        assert_eq!(figures.get("ServerVersion"), None);
        let board = |letter: char| figures.get(&format!("Scoreboard.{letter}")).copied();
        assert_eq!(
            [board('_'), board('W'), board('K'), board('R'), board('L')].map(Option::unwrap),
            [3.0, 2.0, 1.0, 1.0, 0.0]
        );
    }

    #[test]
    fn fields_within_fields_have_dots_and_truth_is_a_number() {
        let figures = json(br#"{"a":1.5,"on":true,"off":false,"in":{"n":2,"s":"text","l":[1]},"null":null}"#);
        let expected = [("a", 1.5), ("in.n", 2.0), ("off", 0.0), ("on", 1.0)];
        assert_eq!(figures, Some(expected.map(|(name, value)| (name.to_string(), value)).into()));
        assert_eq!(json(b"false"), None, "a page that has nothing to say");
        assert_eq!(json(b"<html>"), None);
    }
}
