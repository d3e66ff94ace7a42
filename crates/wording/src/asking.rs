//! Who asks for a load, and with which flags it can be made another.

/// Who asks for the load, which says with which flags it can be made another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A run.
    Run,
    /// A trial of a study: its window has a length of its own, and its ramp-up is found.
    Trial,
    /// `hit`, which has no kit and no ramp-up.
    Hit,
}

impl Asking {
    /// The flag that makes the steady state longer.
    pub(crate) fn longer(self) -> &'static str {
        match self {
            Asking::Run => "--steady",
            Asking::Trial => "--window",
            Asking::Hit => "-d",
        }
    }

    /// The flag that allows more users.
    pub(crate) fn more_users(self) -> &'static str {
        match self {
            Asking::Run | Asking::Trial => "--users",
            Asking::Hit => "-c",
        }
    }

    /// To lengthen the ramp-up, called `what`, where that can be done.
    pub(crate) fn longer_ramp_up(self, what: &str) -> String {
        match self {
            Asking::Run => format!("; lengthen {what} (--ramp-up)"),
            Asking::Trial | Asking::Hit => String::new(),
        }
    }

    /// To look at one user, where there is a kit, after `before`.
    pub(crate) fn one_user(self, before: &str) -> String {
        match self {
            Asking::Run | Asking::Trial => format!("{before}look at one user with `plimsoll try`"),
            Asking::Hit => String::new(),
        }
    }
}
