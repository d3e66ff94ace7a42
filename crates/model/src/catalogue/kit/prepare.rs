//! `[prepare]`: what an application wants done before it is used: its installer, an indexer, caches to be filled.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done once the servers stand, before the front page is asked for and users start: a command, or a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    /// What it does, for people: completes "prepare: …".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// *Templates* of a command and its arguments, run in the document root. The first word is an interpreter of a service of
    /// the stack: `php`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// A request to the web tier, instead of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<PrepareRequest>,
    /// It must have ended by then; seconds.
    #[serde(default = "default_within_s")]
    #[schemars(range(min = 1, max = 86_400))]
    pub within_s: f64,
    /// Whether what the database and the file set are afterwards is kept, and later stacks start from that; else it is done for
    /// each stack.
    #[serde(default)]
    pub keep: bool,
}

/// A request that prepares an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrepareRequest {
    /// Its path on the web tier, with the query.
    pub path: String,
    /// The fields of a form that is posted; without one the path is fetched by GET.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub form: BTreeMap<String, String>,
    /// The status of the answer.
    #[serde(default = "ok")]
    #[schemars(range(min = 100, max = 599))]
    pub expect: u16,
}

fn default_within_s() -> f64 {
    300.0
}

fn ok() -> u16 {
    200
}

impl Prepare {
    /// What it does, for people.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or("the application")
    }

    /// What is wrong with it by itself: the key and the sentence.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        match (&self.request, self.run.is_empty()) {
            (None, true) => {
                faults.push(("run", "neither `run` nor `request` says what is to be done".to_string()));
            }
            (Some(_), false) => {
                faults.push(("run", "`run` and `request` exclude each other".to_string()));
            }
            _ => {}
        }
        let path = self.request.as_ref().map(|request| request.path.as_str());
        if let Some(path) = path.filter(|path| !path.starts_with('/') || path.contains(char::is_whitespace)) {
            faults.push((
                "request",
                format!("`{path}` is no path of the web tier: it begins with / and has no blanks"),
            ));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    fn faults(text: &str) -> Vec<&'static str> {
        let prepare: Prepare = document::read("kit.toml", text).expect("a table");
        prepare.faults().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn one_of_a_command_and_a_request_is_done() {
        assert!(faults("run = [\"php\", \"index.php\"]").is_empty());
        assert!(faults("request = { path = \"/install.php?a=b\" }").is_empty());
        assert_eq!(faults("keep = true"), ["run"]);
        assert_eq!(faults("run = [\"php\"]\nrequest = { path = \"install.php\" }"), ["run", "request"]);
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let prepare: Prepare = document::read("kit.toml", "request = { path = \"/\" }").expect("a table");
        assert_eq!((prepare.within_s, prepare.keep, prepare.title()), (300.0, false, "the application"));
        assert_eq!(prepare.request.map(|request| request.expect), Some(200));
    }
}
