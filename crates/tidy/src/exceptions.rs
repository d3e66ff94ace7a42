//! `tidy.toml`: where a rule doesn't hold, and why.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Complaint;

/// The number of circles of files that there may be a reason for.
const MAX_CIRCLES: usize = 5;

/// Reasons by rule and path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Exceptions {
    rules: BTreeMap<String, BTreeMap<String, String>>,
}

impl Exceptions {
    /// Reads `tidy.toml`: a table for each rule, in it `"path" = "reason"`.
    pub fn read(text: &str) -> Result<Exceptions, String> {
        let found: Exceptions = toml::from_str(text).map_err(|error| format!("tidy.toml: {error}"))?;
        for (rule, paths) in &found.rules {
            if rule == "too_long" {
                return Err("tidy.toml: there is no excuse for a file of more than 800 lines".to_string());
            }
            if rule == "circle" && paths.len() > MAX_CIRCLES {
                let number = paths.len();
                return Err(format!(
                    "tidy.toml: {number} circles are excused; there is room for {MAX_CIRCLES}"
                ));
            }
            if let Some((path, _)) = paths.iter().find(|(_, reason)| reason.split(' ').count() < 4) {
                return Err(format!("tidy.toml: {rule}.\"{path}\" needs a reason in a sentence"));
            }
        }
        Ok(found)
    }

    /// The complaints that are left, and in words the exceptions that excuse nothing.
    pub fn apply(&self, complaints: Vec<Complaint>) -> (Vec<Complaint>, Vec<String>) {
        let excused = |complaint: &Complaint| {
            self.rules.get(complaint.rule).is_some_and(|paths| paths.contains_key(&complaint.path))
        };
        let needed = |rule: &str, path: &str| {
            complaints.iter().any(|complaint| complaint.rule == rule && complaint.path == path)
        };
        let entries = self.rules.iter().flat_map(|(rule, paths)| paths.keys().map(move |path| (rule, path)));
        let unneeded = entries
            .filter(|(rule, path)| !needed(rule, path))
            .map(|(rule, path)| format!("tidy.toml: {rule}.\"{path}\" excuses nothing any more: delete it"))
            .collect();
        (complaints.into_iter().filter(|complaint| !excused(complaint)).collect(), unneeded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(rule: &'static str, path: &str) -> Complaint {
        Complaint { rule, path: path.to_string(), line: 1, what: String::new() }
    }

    #[test]
    fn an_exception_excuses_its_rule_in_its_file_only() {
        let exceptions =
            Exceptions::read("[long]\n\"a.rs\" = \"one table that reads as one\"\n").expect("right TOML");
        let complaints =
            vec![complaint("long", "a.rs"), complaint("long", "b.rs"), complaint("unwrap", "a.rs")];
        let (left, unneeded) = exceptions.apply(complaints.clone());
        assert_eq!(left, complaints[1..]);
        assert!(unneeded.is_empty());
        assert_eq!(exceptions.apply(Vec::new()).1.len(), 1, "it excuses nothing");
    }

    #[test]
    fn an_exception_needs_a_reason_and_some_things_have_none() {
        assert!(Exceptions::read("[long]\n\"a.rs\" = \"because\"\n").is_err());
        assert!(Exceptions::read("[too_long]\n\"a.rs\" = \"it is really very long\"\n").is_err());
        let circles = |number: usize| {
            let entries =
                (0..number).map(|at| format!("\"crates/a/src/{at}.rs\" = \"it is taken apart next\"\n"));
            Exceptions::read(&format!("[circle]\n{}", entries.collect::<String>()))
        };
        assert!(circles(5).is_ok());
        assert!(circles(6).expect_err("one too many").contains("6 circles"));
    }
}
