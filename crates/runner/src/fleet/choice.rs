//! Which fleet drives the users, as it is asked for.

use std::fmt;
use std::str::FromStr;

use fleet::bus::Name;

/// More agents than this on one machine are a slip of the hand.
const MAX_LOCAL: u32 = 64;

/// Which fleet drives the users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetChoice {
    /// A number of agents on this machine, which are started for the run and end with it.
    Local(u32),
    /// The fleet of that name, whose agents wait for runs (`plimsoll fleet`).
    Named(Name),
}

impl FromStr for FleetChoice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<FleetChoice, String> {
        let Some(number) = text.strip_prefix("local:") else {
            return Name::of(text).map(FleetChoice::Named).map_err(|why| {
                format!("{why}; a fleet is local:N, for N agents on this machine, or the name of one that was set up")
            });
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
            FleetChoice::Named(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_is_a_number_of_agents_on_this_machine_or_has_a_name() {
        let lab = FleetChoice::Named(Name::of("lab").expect("a name"));
        for (text, choice) in [("local:2", FleetChoice::Local(2)), ("lab", lab)] {
            assert_eq!(text.parse(), Ok(choice.clone()));
            assert_eq!(choice.to_string(), text);
        }
        for (text, said) in [
            ("local:", "`` is no such number"),
            ("local:0", "`0`"),
            ("local:65", "1 to 64"),
            ("local:x", "`x`"),
            ("la_b", "`la_b` is no name"),
        ] {
            let refused = text.parse::<FleetChoice>().expect_err(text);
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
