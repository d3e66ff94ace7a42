//! The shape of files: length, names, what they open with, and what no file of ours holds.

use crate::source::is_test;
use crate::{Complaint, House};

/// Above this a file fails whatever the reason.
const TOO_LONG: usize = 800;

/// Above this a file needs a reason in `tidy.toml`.
const LONG: usize = 500;

/// Names under which anything can hide.
const ATTICS: [&str; 6] = ["util", "utils", "common", "helpers", "misc", "stuff"];

/// Kinds of files that people write.
const WRITTEN: [&str; 11] = ["rs", "lua", "mjs", "css", "html", "php", "sh", "md", "j2", "sql", "toml"];

/// Checks every file.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in house.files() {
        let (stem, kind) = name_of(path);
        if !WRITTEN.contains(&kind) && kind != "run" && stem != "Makefile" {
            continue;
        }
        length(path, kind, text, &mut found);
        words(path, text, &mut found);
        if ATTICS.contains(&stem) || path.split('/').rev().skip(1).any(|folder| ATTICS.contains(&folder)) {
            let what = "a name that says what is in it".to_string();
            found.push(Complaint { rule: "attic", path: path.to_string(), line: 0, what });
        }
        if kind == "rs" && !opens_well(path, text) {
            let what = "the file must open with `//!`: what it is, its principal type, what is not here";
            found.push(Complaint {
                rule: "opening",
                path: path.to_string(),
                line: 1,
                what: what.to_string(),
            });
        }
    }
    found
}

fn name_of(path: &str) -> (&str, &str) {
    let name = path.rsplit('/').next().unwrap_or(path);
    if path == ".ci/run" { ("run", "run") } else { name.rsplit_once('.').unwrap_or((name, "")) }
}

fn length(path: &str, kind: &str, text: &str, found: &mut Vec<Complaint>) {
    let lines = text.lines().count();
    if lines > LONG && !matches!(kind, "md" | "toml") {
        let rule = if lines > TOO_LONG { "too_long" } else { "long" };
        let what = format!("{lines} lines: a file does one thing; split it, or give the reason in tidy.toml");
        found.push(Complaint { rule, path: path.to_string(), line: 0, what });
    }
}

fn opens_well(path: &str, text: &str) -> bool {
    let needed = !is_test(path.splitn(3, '/').nth(2).unwrap_or(path)) || path.ends_with("/main.rs");
    !needed || text.starts_with("//!")
}

/// Marks of unfinished work, and of one person's machine; put together here so that this file doesn't hold them.
fn words(path: &str, text: &str, found: &mut Vec<Complaint>) {
    let unfinished = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    let private = ["work", "home", "Users", "root"].map(|folder| format!("/{folder}/"));
    let here = [concat!("/tmp/", "target"), concat!("/tmp/", "unp")];
    for (index, line) in text.lines().enumerate() {
        let mut complain = |rule, what: String| {
            found.push(Complaint { rule, path: path.to_string(), line: index + 1, what });
        };
        if let Some(word) = unfinished.iter().find(|word| holds_word(line, word)) {
            complain("unfinished", format!("`{word}`: finish it, or say in docs/decisions why not"));
        }
        if line.trim_start().starts_with(concat!("#[", "ignore")) {
            complain("ignored", "a test that doesn't run can't fail: mend or delete it".to_string());
        }
        let absolute = |place: &str| {
            let made_up = |at: usize| line[at + place.len()..].starts_with(['{', '$', '<']);
            line.match_indices(place).any(|(at, _)| begins_a_path(line, at) && !made_up(at))
        };
        let machine = private.iter().map(String::as_str).chain(here).find(|place| absolute(place));
        if let Some(place) = machine {
            complain("machine", format!("`{place}` is a path of somebody's machine"));
        }
        if kind_of_test(path, text, index) && fixed_port(line) {
            complain("port", "a fixed port collides; bind port 0 and read which it is".to_string());
        }
    }
}

fn holds_word(line: &str, word: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    line.match_indices(word).any(|(at, _)| {
        !letter(line[..at].chars().next_back()) && !letter(line[at + word.len()..].chars().next())
    })
}

/// A folder's name inside a longer path or a URL is not the beginning of one.
fn begins_a_path(line: &str, at: usize) -> bool {
    !line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "._-}~$".contains(c))
}

fn kind_of_test(path: &str, text: &str, line: usize) -> bool {
    let rest = path.strip_prefix("crates/").and_then(|path| path.split_once('/')).map(|(_, rest)| rest);
    let Some(rest) = rest.filter(|rest| rest.ends_with(".rs")) else { return false };
    let tests_begin = text.lines().position(|line| line == "#[cfg(test)]");
    is_test(rest) || tests_begin.is_some_and(|begin| line > begin)
}

/// `bind("127.0.0.1:8080")` and the like.
fn fixed_port(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("bind(") else { return false };
    let Some((_, port)) = rest.split_once("127.0.0.1:").or_else(|| rest.split_once("localhost:")) else {
        return false;
    };
    port.starts_with(|c: char| ('1'..='9').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        check(&House::of([(path, text)])).into_iter().map(|complaint| complaint.rule).collect()
    }

    #[test]
    fn long_files_need_a_reason_and_very_long_ones_have_none() {
        let lines = |n: usize| format!("//! What.\n{}", "fn a() {}\n".repeat(n));
        assert!(rules("crates/a/src/a.rs", &lines(499)).is_empty());
        assert_eq!(rules("crates/a/src/a.rs", &lines(500)), ["long"]);
        assert_eq!(rules("crates/a/src/a.rs", &lines(800)), ["too_long"]);
        assert!(rules("docs/a.md", &lines(900)).is_empty(), "a document is as long as it must be");
    }

    #[test]
    fn marks_of_unfinished_work_and_of_a_machine_are_found_as_words() {
        let table = [
            (format!("//! A.\n// {}: later", concat!("TO", "DO")), vec!["unfinished"]),
            ("//! A.\nlet xtodos = 1;".to_string(), vec![]),
            (format!("//! A.\n{}", concat!("#[", "ignore]")), vec!["ignored"]),
            (format!("//! A.\nlet a = \"{}me/x\";", concat!("/ho", "me/")), vec!["machine"]),
            (format!("//! A.\nlet a = \"https://example.org{}x\";", concat!("/ho", "me/")), vec![]),
            (format!("//! A.\nformat!(\"{}{{}}\", user);", concat!("/ho", "me/")), vec![]),
        ];
        for (text, expected) in table {
            assert_eq!(rules("crates/a/src/a.rs", &text), expected, "{text}");
        }
    }

    #[test]
    fn a_test_with_a_fixed_port_is_found() {
        let text = |port: &str| format!("//! A.\n#[cfg(test)]\nmod t {{ bind(\"127.0.0.1:{port}\") }}");
        assert_eq!(rules("crates/a/src/a.rs", &text("8080")), ["port"]);
        assert!(rules("crates/a/src/a.rs", &text("0")).is_empty());
    }

    #[test]
    fn files_say_what_they_are_and_are_named_after_it() {
        assert_eq!(rules("crates/a/src/a.rs", "fn a() {}"), ["opening"]);
        assert!(rules("crates/a/tests/it/a.rs", "fn a() {}").is_empty());
        assert_eq!(rules("crates/a/tests/it/main.rs", "mod a;"), ["opening"]);
        assert_eq!(rules("crates/a/src/utils.rs", "//! A."), ["attic"]);
        assert_eq!(rules("crates/a/src/common/a.rs", "//! A."), ["attic"]);
    }
}
