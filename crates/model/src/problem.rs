//! One kind of message for everything that can go wrong: where, what, why it matters for the result, what to try.

use std::fmt;

use serde::Serialize;

/// Whose fault it is, and so the exit code (`docs/reference/exit-codes.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Text that the user wrote: a recipe, a flag, a kit. Exit 2.
    Recipe,
    /// A missing package, privilege, port or disk space. Exit 2.
    Environment,
    /// The instrument or the bench: no number is printed as a result. Exit 3.
    Invalid,
    /// The system under test answered "no". Exit 99.
    Qos,
    /// Ended by the user; what was measured is kept. Exit 105.
    Interrupted,
    /// Ours. Exit 1.
    Bug,
}

impl Kind {
    /// The process exit code of this kind: public, stable.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Recipe | Kind::Environment => 2,
            Kind::Invalid => 3,
            Kind::Qos => 99,
            Kind::Interrupted => 105,
            Kind::Bug => 1,
        }
    }
}

/// Where a problem is. Every part is optional; the parts that are known are printed in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// A file as the user knows it: `recipes/shop.toml`, `catalogue/kits/dvdstore/kit.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based line in `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Dotted key in `file`, or a command-line flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Tier of the stack: `db`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Operation of the session: `Browse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match (&self.file, self.line) {
            (Some(file), Some(line)) => parts.push(format!("{file}:{line}")),
            (Some(file), None) => parts.push(file.clone()),
            _ => {}
        }
        parts.extend(self.key.clone());
        parts.extend(self.tier.as_ref().map(|tier| format!("tier {tier}")));
        parts.extend(self.operation.as_ref().map(|operation| format!("operation {operation}")));
        f.write_str(&parts.join(": "))
    }
}

/// One thing that is wrong. Build it with [`Problem::recipe`] and friends, then add what is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Whose fault it is.
    pub kind: Kind,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What is wrong: a lower-case fragment in the present tense.
    pub what: String,
    /// Why it matters for the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The first remedy that is not yet in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Problem {
    /// A problem of the given kind with nothing but the fact.
    pub fn new(kind: Kind, what: impl Into<String>) -> Problem {
        Problem { kind, place: Place::default(), what: what.into(), why: None, remedy: None }
    }

    /// The user's text is wrong.
    pub fn recipe(what: impl Into<String>) -> Problem {
        Problem::new(Kind::Recipe, what)
    }

    /// The machine lacks something.
    pub fn environment(what: impl Into<String>) -> Problem {
        Problem::new(Kind::Environment, what)
    }

    /// The measurement can't be trusted.
    pub fn invalid(what: impl Into<String>) -> Problem {
        Problem::new(Kind::Invalid, what)
    }

    /// Our own mistake.
    pub fn bug(what: impl Into<String>) -> Problem {
        Problem::new(Kind::Bug, what)
    }

    /// Names the file.
    pub fn file(mut self, file: impl Into<String>) -> Problem {
        self.place.file = Some(file.into());
        self
    }

    /// Names the 1-based line.
    pub fn line(mut self, line: u32) -> Problem {
        self.place.line = Some(line);
        self
    }

    /// Names the key or flag.
    pub fn key(mut self, key: impl Into<String>) -> Problem {
        self.place.key = Some(key.into());
        self
    }

    /// Names the tier.
    pub fn tier(mut self, tier: impl Into<String>) -> Problem {
        self.place.tier = Some(tier.into());
        self
    }

    /// Names the operation.
    pub fn operation(mut self, operation: impl Into<String>) -> Problem {
        self.place.operation = Some(operation.into());
        self
    }

    /// Says why it matters for the result.
    pub fn why(mut self, why: impl Into<String>) -> Problem {
        self.why = Some(why.into());
        self
    }

    /// Says what to try.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Problem {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.what)?;
        if let Some(why) = &self.why {
            write!(f, "\n  why it matters: {why}")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, "\n  try: {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Everything that is wrong, at once; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// `Ok` when the list is empty, all of it as an error otherwise.
    pub fn check(list: Vec<Problem>) -> Result<()> {
        if list.is_empty() { Ok(()) } else { Err(Problems(list)) }
    }

    /// Each problem, in the order in which it was found.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// The list itself, to be joined with others.
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }

    /// The same with its first problem changed.
    pub fn with_first(mut self, change: impl FnOnce(&mut Problem)) -> Problems {
        if let Some(first) = self.0.first_mut() {
            change(first);
        }
        self
    }

    /// The exit code of the first problem.
    pub fn exit_code(&self) -> u8 {
        self.0.first().map_or(1, |problem| problem.kind.exit_code())
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// What every fallible function of every room returns.
pub type Result<T, E = Problems> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_where_what_why_and_what_to_try() {
        let problem = Problem::recipe("unknown knob `MaxRequestWorker`")
            .file("shop.toml")
            .line(14)
            .key("set.web")
            .why("the setting would be silently ignored")
            .remedy("`MaxRequestWorkers`");
        assert_eq!(
            problem.to_string(),
            "shop.toml:14: set.web: unknown knob `MaxRequestWorker`\n  why it matters: the setting would be silently \
             ignored\n  try: `MaxRequestWorkers`"
        );
    }

    #[test]
    fn every_kind_has_the_exit_code_that_the_documentation_promises() {
        let codes = [Kind::Recipe, Kind::Environment, Kind::Invalid, Kind::Qos, Kind::Interrupted, Kind::Bug]
            .map(Kind::exit_code);
        assert_eq!(codes, [2, 2, 3, 99, 105, 1]);
    }

    #[test]
    fn an_empty_list_of_problems_is_success() {
        assert!(Problems::check(Vec::new()).is_ok());
        assert!(Problems::check(vec![Problem::bug("x")]).is_err());
    }
}
