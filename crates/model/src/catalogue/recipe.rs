//! What the user asks for, in a file or by flags; it resolves into a [`crate::Plan`] before anything starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::load::{Arriving, Pattern, StageRequest};
use crate::catalogue::setting::Values;
use crate::{Problem, Result};

/// A request for one run. Every part but the kit may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The kit's name.
    pub kit: String,
    /// The stack's name; the kit's default when absent.
    pub stack: Option<String>,
    /// The hosts that its tiers are on, of the catalogue's `topologies`; each tier is where its own settings say when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// How many guests there are, each with a whole copy of the stack and of its data; one stack on the bare machine when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub guests: Option<u32>,
    /// The data set's size: a name, bytes such as `30mb`, or its numbers: `items=1000,browsers=20`.
    pub size: Option<String>,
    /// One of the kit's `mixes` instead of its `default`.
    pub mix: Option<String>,
    /// Emulated users; with `rate` the most that may be there at once.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub users: Option<u32>,
    /// Arrivals instead of a number of users: `200/s`, or `50/s:400/s` for a rate that rises over the steady state.
    pub rate: Option<String>,
    /// How arrivals follow each other; at random (`poisson`) when absent.
    pub arrivals: Option<Pattern>,
    /// What arrives: new users with their `sessions` (the default), or `operations` for users who stay.
    pub arriving: Option<Arriving>,
    /// How long a user lives before a new one takes its place, instead of the kit's: `15min`, `20 operations`,
    /// `3 sessions`.
    pub lifetime: Option<String>,
    /// Whether users' caches take what doesn't say for how long it is fresh to be so for a while, as browsers do; as the kit says
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heuristic_freshness: Option<bool>,
    /// Levels one after another instead of one.
    #[serde(default, rename = "stage")]
    pub stages: Vec<StageRequest>,
    /// Length of the ramp-up: `20s`.
    pub ramp_up: Option<String>,
    /// Length of the steady state, the only phase that counts: `60s`.
    pub steady: Option<String>,
    /// Length of the ramp-down.
    pub ramp_down: Option<String>,
    /// The number of sessions of all users together (with `rate`: of arrivals) instead of a length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub sessions: Option<u64>,
    /// Seed of all random streams.
    pub seed: Option<u64>,
    /// QoS targets, instead of the kit's: `["p95 < 2s"]`.
    #[serde(default)]
    pub qos: Vec<String>,
    /// The kit's parameters.
    #[serde(default)]
    pub param: Values,
    /// Knobs by `tier.knob` or `service.knob`.
    #[serde(default)]
    pub set: Values,
    /// The URL of a server that somebody else started, instead of a stack: `http://127.0.0.1:8080`.
    pub target: Option<String>,
    /// The web tier's TCP port; a free one when absent.
    pub port: Option<u16>,
    /// A fault of the catalogue that is injected on purpose: `plimsoll faults` shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Servers that are killed in the middle of the run: `db-3@10s` is the third instance of the tier `db`, 10 s after the steady
    /// state began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kill: Vec<String>,
    /// Servers whose host of their own is cut off from all others for a while: `db-3@10s..15s`, from 10 to 15 s after the steady
    /// state began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

impl Recipe {
    /// The recipe as a file's text; what it leaves open is not in it.
    ///
    /// # Errors
    /// A value that TOML has no words for.
    pub fn to_toml(&self) -> Result<String> {
        let failed =
            |error: toml::ser::Error| Problem::recipe(format!("it can't be written as TOML: {error}"));
        let mut table = toml::Table::try_from(self).map_err(failed)?;
        table.retain(|_, value| match value {
            toml::Value::Array(values) => !values.is_empty(),
            toml::Value::Table(values) => !values.is_empty(),
            _ => true,
        });
        Ok(toml::to_string(&table).map_err(failed)?)
    }

    /// This recipe, with what it leaves open as `defaults` say. Settings are joined one by one; of lists one stands.
    pub fn or(self, defaults: &Recipe) -> Recipe {
        let text = |own: Option<String>, other: &Option<String>| own.or_else(|| other.clone());
        let joined = |own: Values, other: &Values| {
            let mut values = other.clone();
            values.extend(own);
            values
        };
        // Users and arrivals exclude each other as a choice of how to load.
        let loads = self.users.is_some() || self.rate.is_some() || !self.stages.is_empty();
        // So do a length and a number of sessions as a choice of how long.
        let has_length = self.steady.is_some() || self.ramp_down.is_some() || !self.stages.is_empty();
        let has_sessions = self.sessions.is_some();
        let length = |own: Option<String>, other: &Option<String>| {
            if has_sessions { own } else { text(own, other) }
        };
        Recipe {
            stack: text(self.stack, &defaults.stack),
            topology: text(self.topology, &defaults.topology),
            guests: self.guests.or(defaults.guests),
            size: text(self.size, &defaults.size),
            mix: text(self.mix, &defaults.mix),
            users: if loads { self.users } else { defaults.users },
            rate: if loads { self.rate } else { defaults.rate.clone() },
            stages: if loads || has_sessions { self.stages } else { defaults.stages.clone() },
            arrivals: self.arrivals.or(defaults.arrivals),
            arriving: self.arriving.or(defaults.arriving),
            lifetime: text(self.lifetime, &defaults.lifetime),
            heuristic_freshness: self.heuristic_freshness.or(defaults.heuristic_freshness),
            ramp_up: text(self.ramp_up, &defaults.ramp_up),
            steady: length(self.steady, &defaults.steady),
            ramp_down: length(self.ramp_down, &defaults.ramp_down),
            sessions: self.sessions.or(if has_length { None } else { defaults.sessions }),
            seed: self.seed.or(defaults.seed),
            qos: if self.qos.is_empty() { defaults.qos.clone() } else { self.qos },
            param: joined(self.param, &defaults.param),
            set: joined(self.set, &defaults.set),
            target: text(self.target, &defaults.target),
            port: self.port.or(defaults.port),
            fault: text(self.fault, &defaults.fault),
            cut: if self.cut.is_empty() { defaults.cut.clone() } else { self.cut },
            kill: if self.kill.is_empty() { defaults.kill.clone() } else { self.kill },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn a_recipe_as_a_file_is_read_as_the_same_recipe_and_has_only_what_it_says() {
        let set = [("web.MaxRequestWorkers".to_string(), Value::Int(8))].into();
        let recipe = Recipe {
            format: 1,
            kit: "dvdstore".into(),
            users: Some(20),
            qos: vec!["p95 < 2s".into()],
            arrivals: Some(Pattern::Constant),
            set,
            ..Recipe::default()
        };
        let text = recipe.to_toml().expect("it has words for it");
        assert_eq!(
            text,
            "arrivals = \"constant\"\nformat = 1\nkit = \"dvdstore\"\nqos = [\"p95 < 2s\"]\nusers = 20\n\n\
             [set]\n\"web.MaxRequestWorkers\" = 8\n"
        );
        let read: Recipe = toml::from_str(&text).expect("it is a recipe");
        assert_eq!(read.to_toml().expect("again"), text);
    }

    #[test]
    fn what_a_recipe_says_wins_over_its_defaults_setting_by_setting() {
        let set = |pairs: &[(&str, i64)]| {
            pairs.iter().map(|(name, value)| (name.to_string(), Value::Int(*value))).collect::<Values>()
        };
        let defaults = Recipe {
            kit: "other".into(),
            users: Some(60),
            steady: Some("20s".into()),
            set: set(&[("web.MaxRequestWorkers", 4), ("db.max_connections", 10)]),
            ..Recipe::default()
        };
        let own = Recipe {
            kit: "dvdstore".into(),
            rate: Some("5/s".into()),
            set: set(&[("web.MaxRequestWorkers", 8)]),
            ..Recipe::default()
        };
        let both = own.or(&defaults);
        assert_eq!((both.kit.as_str(), both.steady.as_deref()), ("dvdstore", Some("20s")));
        assert_eq!((both.users, both.rate.as_deref()), (None, Some("5/s")), "a load is one choice");
        let counted = Recipe { sessions: Some(50), ..Recipe::default() };
        let both_lengths = counted.clone().or(&defaults);
        assert_eq!((both_lengths.sessions, both_lengths.steady), (Some(50), None), "so is how long it takes");
        assert_eq!(defaults.clone().or(&counted).sessions, None);
        assert_eq!(both.set, set(&[("web.MaxRequestWorkers", 8), ("db.max_connections", 10)]));
    }
}
