//! `[file_set]`: files that belong to the data set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files that belong to the data set. They are made once on all cores and kept beside the database's snapshot; templates
/// see their directory as `file_set`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSet {
    /// The script that says which files there are, and what is in them: `files.lua`.
    pub script: String,
    /// Whether a run changes files, and how: then each run has a directory of its own.
    #[serde(default)]
    pub writable: Writable,
    /// The parameter that says what the server finds in the page cache when users start: `cold` nothing of the file
    /// set, `warm` all of it that fits, read from inside the web tier's cgroup, the last file of the script first.
    /// Nothing is done when absent.
    pub page_cache: Option<String>,
}

/// What servers may do to the files of a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Said", into = "Said")]
#[schemars(with = "Said")]
pub enum Writable {
    /// Read the kept ones.
    #[default]
    No,
    /// Add files and replace them, in a directory of links to the kept ones; to write into one that is there fails.
    Link,
    /// All, in a directory of copies that are their own.
    Copy,
}

/// How a manifest says it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Said {
    /// `true` is `link`.
    Flag(bool),
    Way(Way),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Way {
    Link,
    Copy,
}

impl From<Said> for Writable {
    fn from(said: Said) -> Writable {
        match said {
            Said::Flag(false) => Writable::No,
            Said::Flag(true) | Said::Way(Way::Link) => Writable::Link,
            Said::Way(Way::Copy) => Writable::Copy,
        }
    }
}

/// What there was before `copy` is said as it was then: records stay comparable.
impl From<Writable> for Said {
    fn from(writable: Writable) -> Said {
        match writable {
            Writable::No => Said::Flag(false),
            Writable::Link => Said::Flag(true),
            Writable::Copy => Said::Way(Way::Copy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    #[test]
    fn a_set_is_read_linked_or_copied_and_another_word_is_refused_with_its_line() {
        let read = |said: &str| {
            document::read::<FileSet>("kit.toml", &format!("script = \"files.lua\"\n{said}"))
                .map(|set| set.writable)
        };
        assert_eq!(read(""), Ok(Writable::No));
        assert_eq!(read("writable = false"), Ok(Writable::No));
        assert_eq!(read("writable = true"), Ok(Writable::Link));
        assert_eq!(read("writable = \"link\""), Ok(Writable::Link));
        assert_eq!(read("writable = \"copy\""), Ok(Writable::Copy));
        let refused = read("writable = \"clone\"").expect_err("no such way").to_string();
        assert!(refused.contains("kit.toml:2") && refused.contains("copy"), "{refused}");
    }

    #[test]
    fn a_record_says_it_as_before_there_was_a_choice() {
        let said = [Writable::No, Writable::Link, Writable::Copy]
            .map(|writable| serde_json::to_string(&writable).unwrap_or_default());
        assert_eq!(said, ["false", "true", "\"copy\""]);
    }
}
