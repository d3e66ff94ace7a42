//! Which fleet drives the users, as it is asked for.

use std::fmt;
use std::str::FromStr;

/// More agents than this on one machine are a slip of the hand.
const MAX_LOCAL: u32 = 64;

/// Which fleet drives the users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetChoice {
    /// A number of agents on this machine, which are started for the run and end with it.
    Local(u32),
}

impl FromStr for FleetChoice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<FleetChoice, String> {
        let Some(number) = text.strip_prefix("local:") else {
            return Err(format!(
                "there is no fleet `{text}`: local:N has N agents on this machine, and there is no other kind yet"
            ));
        };
        match number.parse() {
            Ok(agents) if (1..=MAX_LOCAL).contains(&agents) => Ok(FleetChoice::Local(agents)),
            _ => Err(format!("local:N has 1 to {MAX_LOCAL} agents, and `{number}` is no such number")),
        }
    }
}

impl fmt::Display for FleetChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetChoice::Local(agents) => write!(f, "local:{agents}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_on_this_machine_has_a_number_of_agents() {
        assert_eq!("local:2".parse(), Ok(FleetChoice::Local(2)));
        assert_eq!(FleetChoice::Local(2).to_string(), "local:2");
        for (text, said) in [
            ("lab", "no fleet `lab`"),
            ("local:", "`` is no such number"),
            ("local:0", "`0`"),
            ("local:65", "1 to 64"),
            ("local:x", "`x`"),
        ] {
            let refused = text.parse::<FleetChoice>().expect_err(text);
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
