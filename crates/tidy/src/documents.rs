//! What people read: links that lead somewhere, and one word for one thing.

use crate::{Complaint, House};

/// Files that a repository of ours has.
const NEEDED: [&str; 9] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    ".ci/run",
    "docs/glossary.md",
    "docs/reference/exit-codes.md",
];

/// Words that `docs/glossary.md` replaces, each with the word that it gives.
const SYNONYMS: [(&str, &str); 8] = [
    ("virtual user", "user"),
    ("VU", "user"),
    ("VUs", "users"),
    ("test suite app", "kit"),
    ("warmup", "ramp-up"),
    ("cool-down", "ramp-down"),
    ("master", "controller"),
    ("slave", "agent"),
];

/// Checks documents, and that they are there.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for path in NEEDED.iter().filter(|path| !house.has(path)) {
        found.push(Complaint {
            rule: "needed",
            path: path.to_string(),
            line: 0,
            what: "the file is missing".into(),
        });
    }
    if house.text("CHANGELOG.md").is_some_and(|text| !text.contains("## Unreleased")) {
        let what = "a user-visible change needs a line under `## Unreleased`".to_string();
        found.push(Complaint { rule: "changelog", path: "CHANGELOG.md".into(), line: 0, what });
    }
    for (path, text) in house.files().filter(|(path, _)| path.ends_with(".md")) {
        let mut fenced = false;
        for (index, line) in text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            for target in links(line).filter(|_| !fenced) {
                if !leads_somewhere(house, path, target) {
                    let what = format!("the link to `{target}` leads nowhere");
                    found.push(Complaint { rule: "link", path: path.to_string(), line: index + 1, what });
                }
            }
            if !fenced && path != "docs/glossary.md" {
                synonyms(path, index + 1, line, &mut found);
            }
        }
    }
    found
}

fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

fn leads_somewhere(house: &House, from: &str, target: &str) -> bool {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            name => parts.push(name),
        }
    }
    house.has(&parts.join("/"))
}

fn synonyms(path: &str, line_number: usize, line: &str, found: &mut Vec<Complaint>) {
    let spaced = format!(" {} ", line.replace(|c: char| !c.is_alphanumeric() && c != '-', " "));
    for (word, say) in SYNONYMS.iter().filter(|(word, _)| spaced.contains(&format!(" {word} "))) {
        let what = format!("say `{say}`, not `{word}` (docs/glossary.md)");
        found.push(Complaint { rule: "word", path: path.to_string(), line: line_number, what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        let house = House::of([(path, text), ("docs/method/validity.md", "")]);
        let complaints = check(&house).into_iter().filter(|complaint| complaint.rule != "needed");
        complaints.map(|complaint| (complaint.rule, complaint.line)).collect()
    }

    #[test]
    fn a_link_must_lead_to_a_file_or_folder_of_the_house() {
        let table = [
            ("see [it](docs/method/validity.md#lag)", vec![]),
            ("see [it](docs/method)", vec![]),
            ("see [it](docs/gone.md)", vec![("link", 1)]),
            ("see [it](https://example.org/gone.md) and [here](#part)", vec![]),
            ("see [it](../outside.md)", vec![("link", 1)]),
        ];
        for (text, expected) in table {
            assert_eq!(found("README.md", text), expected, "{text}");
        }
        assert_eq!(found("docs/reference/a.md", "[it](../method/validity.md)"), []);
    }

    #[test]
    fn a_word_that_the_glossary_replaces_is_found_outside_of_code() {
        assert_eq!(found("README.md", "20 virtual users and a VU"), [("word", 1)]);
        assert_eq!(found("README.md", "```\nmaster\n```\nmastery"), []);
        assert_eq!(found("docs/glossary.md", "user, not VU"), []);
    }

    #[test]
    fn the_changelog_has_a_place_for_what_is_new() {
        assert_eq!(found("CHANGELOG.md", "# Changelog"), [("changelog", 0)]);
        assert_eq!(found("CHANGELOG.md", "# Changelog\n\n## Unreleased"), []);
    }

    #[test]
    fn what_a_repository_needs_is_missed() {
        assert_eq!(check(&House::default()).len(), NEEDED.len());
    }
}
