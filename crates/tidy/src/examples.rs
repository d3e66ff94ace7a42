//! The worked examples of CONTRIBUTING.md: what is added where, held against the code, so that it stays true.
//!
//! `<!-- example: Untimed -->` (or several texts, with ` | ` between them) stands before a table whose first column has
//! the files to touch. The first file is the example's own; the others are exactly those whose code has one of the texts.

use std::collections::BTreeSet;

use crate::source::{code, is_test};
use crate::{Complaint, House};

/// Where examples stand.
const PAGE: &str = "CONTRIBUTING.md";

/// More files than this for one addition, and the design is to be mended.
const MAX_FILES: usize = 4;

/// Checks every example of the page.
pub fn check(house: &House) -> Vec<Complaint> {
    let text = house.text(PAGE).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let begins = |line: &str| line.strip_prefix("<!-- example: ")?.strip_suffix(" -->").map(str::to_string);
    let examples = lines.iter().enumerate().filter_map(|(index, line)| Some((index, begins(line)?)));
    examples.flat_map(|(index, texts)| of_example(house, index + 1, &texts, &lines[index + 1..])).collect()
}

fn of_example(house: &House, line: usize, texts: &str, after: &[&str]) -> Vec<Complaint> {
    let texts: Vec<&str> = texts.split(" | ").collect();
    let listed: Vec<&str> = after
        .iter()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let complaint = |what: String| Complaint { rule: "examples", path: PAGE.to_string(), line, what };
    let mut found = Vec::new();
    if listed.is_empty() || listed.len() > MAX_FILES {
        found.push(complaint(format!("an example lists 1 to {MAX_FILES} files, this one {}", listed.len())));
    }
    let named: BTreeSet<&str> = house
        .matching("crates/", ".rs")
        .filter(|(path, _)| !is_test(path) && path.contains("/src/") && !path.starts_with("crates/tidy/"))
        .filter(|(_, text)| code(text).iter().any(|line| texts.iter().any(|text| has_word(line, text))))
        .map(|(path, _)| path)
        .collect();
    let own = listed.first().copied().unwrap_or_default();
    let others: BTreeSet<&str> = listed.iter().copied().filter(|path| *path != own).collect();
    found.extend(
        listed.iter().filter(|path| !house.has(path)).map(|path| complaint(format!("there is no `{path}`"))),
    );
    let unnamed = others.difference(&named);
    found.extend(unnamed.map(|path| complaint(format!("`{path}` says nothing of the example any more"))));
    let unlisted = named.iter().filter(|path| **path != own && !others.contains(**path));
    found
        .extend(unlisted.map(|path| complaint(format!("`{path}` has to be touched too, and is not listed"))));
    found
}

/// Whether `text` stands in `line` and is no part of a longer name.
fn has_word(line: &str, text: &str) -> bool {
    let of_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(text).any(|(at, _)| {
        !of_name(line[..at].chars().next_back()) && !of_name(line[at + text.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(page: &str) -> Vec<String> {
        let house = House::of([
            (PAGE, page),
            ("crates/model/src/check.rs", "pub enum Check {\n    Untimed,\n}"),
            ("crates/analysis/src/validity.rs", "Check::Untimed"),
            ("crates/analysis/src/validity/tests.rs", "Check::Untimed"),
            ("crates/report/src/words.rs", "fn of(one: &UntimedResult) {}"),
        ]);
        check(&house).into_iter().map(|complaint| complaint.what).collect()
    }

    #[test]
    fn an_example_lists_just_the_files_that_have_it() {
        let table =
            |rows: &str| format!("<!-- example: Untimed -->\n\n| file | what |\n|---|---|\n{rows}\nMore.\n");
        let model = "| `crates/model/src/check.rs` | its row |\n";
        let analysis = "| `crates/analysis/src/validity.rs` | judges it |\n";
        assert_eq!(complaints(&table(&format!("{model}{analysis}"))), [""; 0]);
        assert!(complaints(&table(model))[0].contains("validity.rs` has to be touched too"));
        let third = "| `crates/report/src/words.rs` | no more |\n";
        assert!(complaints(&table(&format!("{model}{analysis}{third}")))[0].contains("says nothing"));
        let gone = "| `crates/model/src/gone.rs` | its row |\n";
        assert!(complaints(&table(&format!("{gone}{model}{analysis}")))[0].contains("there is no"));
        assert!(complaints(&table(""))[0].contains("lists 1 to 4 files"));
    }
}
