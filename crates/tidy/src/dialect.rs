//! The field's own terms in code: maximum, minimum, timeout, number of; functions named after what they return or do.

use crate::{Complaint, House};

/// Beginnings of constants' names, with the beginning to use instead.
const BEGINNINGS: [(&str, &str); 2] = [("MOST_", "MAX_"), ("LEAST_", "MIN_")];

/// In a constant's name anywhere.
const WAITING: &str = "PATIENCE";

/// Functions whose name says neither what they return nor what they do.
const FUNCTIONS: [&str; 6] = ["told", "seen", "kept", "said", "asked", "place"];

/// In text; put together here so that this file doesn't hold it.
const COUNTING: &str = concat!("so ", "many");

/// Checks all Rust sources, tests too.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in house.matching("", ".rs") {
        for (index, line) in text.lines().enumerate() {
            let complaints = constant(line).into_iter().chain(function(line)).chain(counting(line));
            found.extend(complaints.map(|what| Complaint {
                rule: "dialect",
                path: path.to_string(),
                line: index + 1,
                what,
            }));
        }
    }
    found
}

fn constant(line: &str) -> Option<String> {
    let name = name_after(line, "const ").or_else(|| name_after(line, "static "))?;
    let beginning = BEGINNINGS.iter().find(|(beginning, _)| name.starts_with(beginning));
    if let Some((beginning, instead)) = beginning {
        return Some(format!("`{name}`: begin it with `{instead}` instead of `{beginning}`"));
    }
    name.contains(WAITING).then(|| format!("`{name}`: a time that is waited at the longest is a TIMEOUT"))
}

fn function(line: &str) -> Option<String> {
    let name = name_after(line, "fn ").filter(|name| FUNCTIONS.contains(name))?;
    Some(format!("`fn {name}`: name what it returns, with a noun, or what it does, with a verb"))
}

fn counting(line: &str) -> Option<String> {
    line.to_lowercase().contains(COUNTING).then(|| format!("`{COUNTING}`: say `number of`, or the number"))
}

/// The identifier after a keyword that begins an item.
fn name_after<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let mut rest = line.trim_start();
    for before in ["pub", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(before).unwrap_or(rest);
        if before == "pub" {
            // With or without its reach: `pub(crate) `.
            rest =
                rest.strip_prefix('(').and_then(|reach| reach.split_once(')')).map_or(rest, |(_, rest)| rest);
            rest = rest.trim_start();
        }
    }
    let name =
        rest.strip_prefix("const ").filter(|_| keyword == "fn ").unwrap_or(rest).strip_prefix(keyword)?;
    Some(name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&House::of([(path, text)])).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn each_word_of_our_own_is_found_where_it_names_something() {
        let bad = [
            "const MOST_BYTES: u64 = 1;",
            "    pub(crate) const LEAST_S: f64 = 1.0;",
            "static STOP_PATIENCE: Duration = Duration::from_secs(1);",
            "pub const PATIENCE_S: u64 = 5;",
            "fn told() -> String {",
            "    pub(super) fn place(&self) -> Site {",
            "pub const fn kept<T>(one: T) -> T {",
            concat!("/// Stops after So ", "many seconds."),
        ];
        for line in bad {
            assert_eq!(lines("crates/store/src/a.rs", line), [1], "{line}");
        }
        let good = [
            "const MAX_BYTES: u64 = 1;",
            "let MOST_BYTES = 1;",
            "use crate::MOST_BYTES;",
            "fn told_twice() {}",
            "fn replace() {}",
            "let told = told(place);",
            "const ALMOST_ALL: f64 = 0.99;",
            "// so much, and many more",
        ];
        for line in good {
            assert_eq!(lines("crates/store/src/a.rs", line), [0; 0], "{line}");
        }
    }

    #[test]
    fn every_room_counts_and_its_tests_too() {
        let text = "//! A.\nconst MOST_BYTES: u64 = 1;";
        assert_eq!(lines("crates/store/tests/it/a.rs", text), [2]);
        assert_eq!(lines("benches/src/a.rs", text), [2]);
        assert_eq!(lines("fuzz/a.rs", text), [2]);
    }
}
