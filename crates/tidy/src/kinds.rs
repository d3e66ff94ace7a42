//! Kinds of studies are told apart where they are listed and in their own verbs; everything else asks `Kind` or `View`.

use crate::source::{code, is_test};
use crate::{Complaint, House};

/// Files that list every kind.
const LISTS: [&str; 2] = ["crates/model/src/record/study.rs", "crates/report/src/study/view.rs"];

/// Checks that `Question::KIND` stands in no other room's code.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in house.matching("crates/", ".rs") {
        let Some((room, rest)) = path.trim_start_matches("crates/").split_once('/') else { continue };
        if is_test(rest) || matches!(room, "tidy" | "testkit") || LISTS.contains(&path) {
            continue;
        }
        for (index, line) in code(text).iter().enumerate() {
            let named = line
                .split("Question::")
                .skip(1)
                .map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
            let foreign = |kind: &&str| {
                let verb = format!("crates/plimsoll/src/verbs/{}", kind.to_lowercase());
                kind.starts_with(char::is_uppercase) && !path.starts_with(&verb)
            };
            complaints.extend(named.filter(foreign).map(|kind| Complaint {
                rule: "kinds",
                path: path.to_string(),
                line: index + 1,
                what: format!("`Question::{kind}`: ask `Question::kind` (model) or `view` (report) instead"),
            }));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_stands_in_the_lists_and_in_its_own_verb() {
        let text = "if let Question::Find(find) = &record.question {}";
        let complaints = |path: &str| check(&House::of([(path, text)])).len();
        for path in ["crates/model/src/record/study.rs", "crates/plimsoll/src/verbs/find/limit.rs"] {
            assert_eq!(complaints(path), 0, "{path}");
        }
        for path in ["crates/analysis/src/line.rs", "crates/plimsoll/src/verbs/compare.rs"] {
            assert_eq!(complaints(path), 1, "{path}");
        }
    }
}
