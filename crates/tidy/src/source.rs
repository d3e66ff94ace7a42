//! What may stand in which room's code.

use crate::{Complaint, House};

/// A rule about words in code outside tests.
struct Rule {
    name: &'static str,
    /// The rooms it is about: names, or `*` for all but those after `!`.
    rooms: &'static str,
    words: &'static [&'static str],
    what: &'static str,
}

const CODE: [Rule; 7] = [
    Rule {
        name: "pure",
        rooms: "analysis model experiment",
        words: &[
            "std::fs",
            "std::net",
            "std::env",
            "std::process",
            "std::thread",
            "Instant::now",
            "SystemTime",
        ],
        what: "this room has no file, clock, network, process or thread",
    },
    Rule {
        name: "print",
        rooms: "* !plimsoll",
        words: &["println!(", "print!(", "eprintln!(", "eprint!(", "dbg!(", "process::exit("],
        what: "only `plimsoll` prints or exits; return a value or a Problem",
    },
    Rule {
        name: "settings",
        rooms: "runner",
        words: &["std::env", "env::var", "current_exe("],
        what: "what the environment says is read by `plimsoll` and passed in as a fact",
    },
    Rule {
        name: "spawn",
        rooms: "* !testbed",
        words: &["process::Command", "Command::new(\"", "posix_spawn", "libc::fork"],
        what: "only `testbed` starts processes",
    },
    Rule {
        name: "cgroup",
        rooms: "* !testbed",
        words: &["\"cgroup.kill\"", "\"cgroup.subtree_control\"", "\"cpuset.cpus\"", "\"cpu.max\""],
        what: "only `testbed` writes to cgroups",
    },
    Rule {
        name: "unwrap",
        rooms: "*",
        words: &[".unwrap()", "unreachable!()", "todo!(", "unimplemented!("],
        what: "say the invariant with `expect(\"…\")`, or return a Problem",
    },
    Rule {
        name: "silence",
        rooms: "*",
        words: &["#![allow(", "#[allow(clippy::too_many_lines)]", "#[rustfmt::skip]"],
        what: "mend it instead of silencing the check",
    },
];

/// The rooms that give facts, of which `wording` makes the words.
const FACTS: [&str; 2] = ["analysis", "experiment"];

/// Checks the code of every room, tests left out.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in house.matching("crates/", ".rs") {
        let Some((room, rest)) = path.trim_start_matches("crates/").split_once('/') else { continue };
        if is_test(rest) || matches!(room, "tidy" | "testkit") {
            continue;
        }
        let code = code(text);
        if FACTS.contains(&room) {
            let code = without_declarations(&code);
            let lines = (0..code.len()).filter(|index| has_prose(&code, *index));
            let what = "text for people is made in `wording`: return an enum with the figures".to_string();
            found.extend(lines.map(|index| Complaint {
                rule: "prose",
                path: path.to_string(),
                line: index + 1,
                what: what.clone(),
            }));
        }
        for rule in CODE.iter().filter(|rule| applies(rule.rooms, room)) {
            for (index, line) in code.iter().enumerate() {
                if let Some(word) = rule.words.iter().find(|word| line.contains(**word)) {
                    let what = format!("`{word}`: {}", rule.what);
                    found.push(Complaint { rule: rule.name, path: path.to_string(), line: index + 1, what });
                }
            }
        }
    }
    found
}

/// The lines of code without those in which signals are declared, each with its help.
fn without_declarations<'a>(code: &[&'a str]) -> Vec<&'a str> {
    let mut declares = false;
    let keep = |line: &&'a str| {
        declares = if declares { *line != "}" } else { line.starts_with("signals! {") };
        if declares { "" } else { *line }
    };
    code.iter().map(keep).collect()
}

/// Whether a line of code has a literal of several words, which no name of a signal or a key is. Invariants of `expect`
/// are for programmers.
fn has_prose(code: &[&str], index: usize) -> bool {
    let before = index.checked_sub(1).map_or("", |before| code[before]);
    let is_invariant = code[index].contains(".expect(") || before.trim_end().ends_with(".expect(");
    let is_prose =
        |literal: &str| literal.contains(' ') && literal.contains(|letter: char| letter.is_ascii_lowercase());
    !is_invariant && code[index].split('"').skip(1).step_by(2).any(is_prose)
}

fn applies(rooms: &str, room: &str) -> bool {
    let mut words = rooms.split(' ');
    match words.next() {
        Some("*") => !words.any(|word| word.strip_prefix('!') == Some(room)),
        Some(first) => first == room || words.any(|word| word == room),
        None => false,
    }
}

/// Whether a path inside a room holds only tests, examples or benches.
pub(crate) fn is_test(path: &str) -> bool {
    ["tests/", "examples/", "benches/"].iter().any(|folder| path.starts_with(folder))
        || path.ends_with("/tests.rs")
        || path.contains("/tests/")
}

/// The lines of `text`, those of comments and of items under `#[cfg(test)]` empty. rustfmt puts the end of an item at
/// the indentation of its beginning, which is what this relies on.
pub(crate) fn code(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut skipping: Option<(usize, bool)> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        let mut keep = !trimmed.starts_with("//");
        match skipping {
            None if trimmed.starts_with("#[cfg(test)]") => {
                skipping = Some((indent, false));
                keep = false;
            }
            None => {}
            Some((start, begun)) => {
                keep = false;
                let attribute = trimmed.starts_with("#[");
                let ends = indent == start && !attribute && (begun && trimmed.starts_with(['}', ')']));
                let single = !begun && !attribute && (trimmed.ends_with(';') || trimmed.ends_with('}'));
                skipping = if ends || single { None } else { Some((start, begun || !attribute)) };
            }
        }
        lines.push(if keep { line } else { "" });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        check(&House::of([(path, text)]))
            .into_iter()
            .map(|complaint| (complaint.rule, complaint.line))
            .collect()
    }

    #[test]
    fn each_rule_finds_its_words_where_they_are_not_allowed() {
        let table = [
            ("crates/analysis/src/a.rs", "use std::fs;", vec![("pure", 1)]),
            ("crates/store/src/a.rs", "use std::fs;", vec![]),
            ("crates/engine/src/a.rs", "fn a() {\n    println!(\"a\");\n}", vec![("print", 2)]),
            ("crates/plimsoll/src/a.rs", "println!(\"a\");", vec![]),
            ("crates/runner/src/a.rs", "std::env::var(\"CI\")", vec![("settings", 1)]),
            ("crates/store/src/a.rs", "Command::new(\"rm\")", vec![("spawn", 1)]),
            ("crates/testbed/src/a.rs", "Command::new(\"sh\")", vec![]),
            ("crates/kit/src/a.rs", "x.unwrap()", vec![("unwrap", 1)]),
            ("crates/kit/src/a.rs", "// x.unwrap()", vec![]),
            ("crates/kit/tests/it/a.rs", "x.unwrap()", vec![]),
            ("crates/kit/src/a/tests.rs", "x.unwrap()", vec![]),
            ("crates/analysis/src/a.rs", "format!(\"it took {time}\")", vec![("prose", 1)]),
            ("crates/experiment/src/a.rs", "let why = \"too few\";", vec![("prose", 1)]),
            ("crates/analysis/src/a.rs", "format!(\"run.{name}\")", vec![]),
            ("crates/analysis/src/a.rs", "x.expect(\"it is there\")", vec![]),
            ("crates/analysis/src/a.rs", "x.expect(\n    \"it is there\",\n)", vec![]),
            (
                "crates/analysis/src/a.rs",
                "signals! {\n    BUSY = of(\"how busy\");\n}\nf(\"too few\")",
                vec![("prose", 4)],
            ),
            ("crates/wording/src/a.rs", "format!(\"it took {time}\")", vec![]),
        ];
        for (path, text, expected) in table {
            assert_eq!(rules(path, text), expected, "{path}: {text}");
        }
    }

    #[test]
    fn code_after_a_test_only_item_counts_again() {
        let text = "\
fn a() {}

#[cfg(test)]
#[derive(Debug)]
struct Fake {
    x: u32,
}

#[cfg(test)]
use std::fs;

fn b() {
    x.unwrap();
}

#[cfg(test)]
mod tests {
    fn c() {
        x.unwrap();
    }
}
";
        assert_eq!(rules("crates/kit/src/a.rs", text), [("unwrap", 13)]);
    }
}
