//! `catalogue/links/NAME.toml`: a way between two hosts, by what it does to packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::tier_setting::OwnHost;
use crate::problem::Problem;

/// A link between a tier's own host and the others (`--set TIER.net.link=NAME`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFile {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The file's name without `.toml`.
    pub name: String,
    /// For people.
    pub title: String,
    /// Where its figures come from.
    pub source: String,
    /// Mbit/s in each direction; as much as this machine can when absent.
    #[schemars(range(min = 1, max = 100_000))]
    pub rate_mbit: Option<u32>,
    /// Microseconds that a packet takes, one way, beside what this machine takes; none when absent.
    #[schemars(range(max = 1_000_000))]
    pub delay_us: Option<u32>,
    /// By how many microseconds that is more or less, each as likely as another. Packets keep their order.
    #[schemars(range(max = 1_000_000))]
    pub jitter_us: Option<u32>,
    /// Of a million packets, how many get lost.
    #[schemars(range(max = 100_000))]
    pub loss_ppm: Option<u32>,
    /// Microseconds of CPU time that a packet costs whoever sends it, in either direction; nothing when absent.
    #[schemars(range(max = 1_000))]
    pub cpu_us: Option<u32>,
}

impl LinkFile {
    /// What is wrong with its figures.
    pub fn mistakes(&self) -> Vec<Problem> {
        let outside = |key: &str, value: Option<u32>, least: u32, most: u32| {
            let value = value.filter(|value| !(least..=most).contains(value))?;
            Some(Problem::recipe(format!("{value} is not between {least} and {most}")).key(key))
        };
        let mut found: Vec<Problem> = [
            outside("rate_mbit", self.rate_mbit, 1, 100_000),
            outside("delay_us", self.delay_us, 0, 1_000_000),
            outside("jitter_us", self.jitter_us, 0, 1_000_000),
            outside("loss_ppm", self.loss_ppm, 0, 100_000),
            outside("cpu_us", self.cpu_us, 0, 1_000),
        ]
        .into_iter()
        .flatten()
        .collect();
        if self.jitter_us > self.delay_us {
            let what = "a packet can't arrive before it was sent: the jitter is more than the delay";
            found.push(Problem::recipe(what).key("jitter_us"));
        }
        found
    }

    /// A host that it leads to.
    pub fn own_host(&self) -> OwnHost {
        let some = |value: Option<u32>| value.filter(|value| *value > 0);
        OwnHost {
            rate_mbit: self.rate_mbit,
            delay_us: some(self.delay_us),
            jitter_us: some(self.jitter_us),
            loss_ppm: some(self.loss_ppm),
            cpu_us: some(self.cpu_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_whose_figures_can_not_be_is_told_of_each() {
        let link = LinkFile {
            format: 1,
            name: "x".into(),
            title: "X".into(),
            source: "a test".into(),
            rate_mbit: Some(0),
            delay_us: Some(100),
            jitter_us: Some(200),
            loss_ppm: None,
            cpu_us: None,
        };
        let keys: Vec<_> = link.mistakes().into_iter().filter_map(|problem| problem.place.key).collect();
        assert_eq!(keys, ["rate_mbit", "jitter_us"]);
        let right = LinkFile { rate_mbit: Some(100), jitter_us: Some(0), ..link };
        assert_eq!(right.mistakes(), Vec::new());
        let host = OwnHost { rate_mbit: Some(100), delay_us: Some(100), ..OwnHost::default() };
        assert_eq!(right.own_host(), host);
    }
}
