//! What a rule finds.

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// The rule: a key of `tidy.toml`.
    pub rule: &'static str,
    /// The file.
    pub path: String,
    /// 1-based; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, and what is wanted instead.
    pub what: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {} [{}]", self.path, self.line, self.what, self.rule)
    }
}
