//! What can be set for any tier, whatever its service: `--set web.cgroup.memory=1G`, `--set cache.instances=4`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ServiceManifest;
use crate::catalogue::setting::{Apply, Setting, Type, Value, Values};
use crate::problem::Problem;

/// How many processes of the server program a tier has.
pub const INSTANCES: &str = "instances";
/// What a tier's processes may take together, the page cache that they filled included.
pub const MEMORY: &str = "cgroup.memory";

/// How many cores' time a tier's processes may use together.
pub const CPU: &str = "cgroup.cpu";
/// How many reads a second a tier's processes may have from the disk.
pub const READ_IOPS: &str = "cgroup.read_iops";

/// Whose network the tier has: this host's, or that of a host of its own.
pub const HOST: &str = "net.host";
/// What the cable to that host carries.
pub const RATE: &str = "net.rate_mbit";
/// How long that cable holds a packet.
pub const DELAY: &str = "net.delay_us";
/// A link of the catalogue, instead of what the cable carries and how long it holds a packet.
pub const LINK: &str = "net.link";
/// The value of [`LINK`] for none.
pub const NO_LINK: &str = "none";

/// The value of [`HOST`] for a host of its own.
const OWN: &str = "own";

/// A host of its own that a tier is on, as far as the network goes, and the cable to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnHost {
    /// What the cable carries in each direction, in Mbit/s; as much as the kernel can when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mbit: Option<u32>,
    /// How long the cable holds each packet, in each direction, in microseconds; no longer than it takes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_us: Option<u32>,
    /// By how much that differs from packet to packet, in microseconds; not at all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_us: Option<u32>,
    /// Of a million packets, how many get lost; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ppm: Option<u32>,
    /// The CPU time that a packet costs whoever sends it, in either direction, in microseconds; nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<u32>,
}

impl OwnHost {
    /// What the cable adds to the way of a message there and back; seconds.
    pub fn adds_s(&self) -> f64 {
        2.0 * f64::from(self.delay_us.unwrap_or(0) + self.cpu_us.unwrap_or(0)) * 1e-6
    }
}

/// The settings of a tier whose service allows `max_instances`.
pub fn all(max_instances: u32) -> Vec<Setting> {
    let setting = |name: &str, kind, default, min, max, help: &str| Setting {
        name: name.to_string(),
        kind,
        default,
        min: Some(min),
        max,
        values: Vec::new(),
        apply: Apply::Restart,
        help: help.to_string(),
    };
    let instances = "processes of the server program, each with ports and sockets of its own";
    let memory = "memory of the tier's processes together, page cache included; 0 is no limit";
    let cpu = "cores whose time the tier's processes may use together: 0.5 is half of one; 0 is no limit";
    let reads = "reads a second that the tier's processes may have from the disk together; 0 is no limit";
    let host = "own: a network of its own, joined to this host's by a cable; shared: this host's";
    let words = ["shared", OWN].map(str::to_string).to_vec();
    let rate = "Mbit/s that the cable of net.host=own carries in each direction; 0 is no limit";
    let delay = "microseconds that the cable of net.host=own holds each packet, in each direction; 0 is none";
    let link =
        "a link of the catalogue (`plimsoll list`) to a network of its own, instead of the three above";
    let none = || Value::Int(0);
    vec![
        setting(INSTANCES, Type::Int, Value::Int(1), 1.0, Some(f64::from(max_instances)), instances),
        setting(MEMORY, Type::Size, Value::Int(0), 0.0, None, memory),
        setting(CPU, Type::Float, Value::Float(0.0), 0.0, None, cpu),
        setting(READ_IOPS, Type::Int, none(), 0.0, Some(f64::from(u32::MAX)), reads),
        Setting {
            values: words.clone(),
            min: None,
            ..setting(HOST, Type::Choice, Value::Text(words[0].clone()), 0.0, None, host)
        },
        setting(RATE, Type::Int, none(), 0.0, Some(100_000.0), rate),
        setting(DELAY, Type::Int, none(), 0.0, Some(1_000_000.0), delay),
        Setting { min: None, ..setting(LINK, Type::Text, Value::Text(NO_LINK.to_string()), 0.0, None, link) },
    ]
}

/// What the settings of a tier ask for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) instances: u32,
    pub(crate) memory_limit_bytes: Option<u64>,
    pub(crate) cpu_limit_cores: Option<f64>,
    pub(crate) read_limit_per_s: Option<u64>,
    pub(crate) own_host: Option<OwnHost>,
    /// The name of a link that says what the host of its own is.
    pub(crate) link: Option<String>,
}

/// From values that [`all`] accepted.
pub(crate) fn read(values: &Values) -> Asked {
    let whole = |name: &str| match values.get(name) {
        Some(Value::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => 0,
    };
    let cpu_limit_cores = match values.get(CPU) {
        Some(Value::Float(cores)) if *cores > 0.0 => Some(*cores),
        _ => None,
    };
    let some = |name: &str| u32::try_from(whole(name)).ok().filter(|value| *value > 0);
    let own_host = is_own(values).then(|| OwnHost {
        rate_mbit: some(RATE),
        delay_us: some(DELAY),
        ..OwnHost::default()
    });
    Asked {
        instances: u32::try_from(whole(INSTANCES)).unwrap_or(1).max(1),
        memory_limit_bytes: Some(whole(MEMORY)).filter(|bytes| *bytes > 0),
        cpu_limit_cores,
        read_limit_per_s: Some(whole(READ_IOPS)).filter(|per_s| *per_s > 0),
        own_host,
        link: link(values).map(str::to_string),
    }
}

/// The link that is asked for.
fn link(values: &Values) -> Option<&str> {
    match values.get(LINK) {
        Some(Value::Text(name)) if name != NO_LINK => Some(name),
        _ => None,
    }
}

fn is_own(values: &Values) -> bool {
    matches!(values.get(HOST), Some(Value::Text(word)) if word == OWN)
}

/// What is wrong with settings together, or for this service, each of which [`all`] accepted; `prefix` is what their keys
/// begin with.
pub(crate) fn mistakes(values: &Values, service: &ServiceManifest, prefix: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(name) = link(values) {
        let own = is_own(values).then_some(HOST);
        let set = |name: &&str| matches!(values.get(*name), Some(Value::Int(value)) if *value > 0);
        for key in own.into_iter().chain([RATE, DELAY].into_iter().filter(set)) {
            let what = format!("{LINK}={name} says it already");
            problems
                .push(Problem::recipe(what).key(format!("{prefix}{key}")).remedy("leave one of the two out"));
        }
        if !service.own_host {
            let what = format!("{} can't be on a host of its own, and a link leads to one", service.title);
            problems.push(
                Problem::recipe(what).key(format!("{prefix}{LINK}")).remedy(format!("{LINK}={NO_LINK}")),
            );
        }
        return problems;
    }
    if is_own(values) && !service.own_host {
        let place = "it listens on this host's loopback, or on unix sockets, only";
        let problem = Problem::recipe(format!("{} can't be on a host of its own: {place}", service.title));
        problems.push(problem.key(format!("{prefix}{HOST}")).remedy(format!("{HOST}=shared")));
    }
    let asked = |name: &str| matches!(values.get(name), Some(Value::Int(value)) if *value > 0);
    for name in [RATE, DELAY].into_iter().filter(|name| !is_own(values) && asked(name)) {
        let what = "there is no cable that could have it: the tier has this host's network";
        let problem = Problem::recipe(what).key(format!("{prefix}{name}"));
        problems.push(problem.remedy(format!("{HOST}=own beside it, or {name}=0")));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::setting;

    fn values(given: &Values, problems: &mut Vec<Problem>) -> Values {
        setting::resolve(&all(4), given, "set.cache.", problems)
    }

    #[test]
    fn a_tier_has_one_instance_and_no_limit_unless_it_is_said() {
        let resolved = |given: Values| {
            let mut problems = Vec::new();
            (read(&values(&given, &mut problems)), problems.len())
        };
        let none = Asked {
            instances: 1,
            memory_limit_bytes: None,
            cpu_limit_cores: None,
            read_limit_per_s: None,
            own_host: None,
            link: None,
        };
        assert_eq!(resolved(Values::new()), (none.clone(), 0));
        let given = [
            (INSTANCES.to_string(), Value::Int(4)),
            (MEMORY.to_string(), Value::Text("1G".to_string())),
            (CPU.to_string(), Value::Text("0.5".to_string())),
            (READ_IOPS.to_string(), Value::Int(50)),
        ];
        let (memory_limit_bytes, cpu_limit_cores) = (Some(1 << 30), Some(0.5));
        let read_limit_per_s = Some(50);
        let some = Asked { instances: 4, memory_limit_bytes, cpu_limit_cores, read_limit_per_s, ..none };
        assert_eq!(resolved(given.into()), (some, 0));
        let given = [(INSTANCES.to_string(), Value::Int(5))];
        assert_eq!(resolved(given.into()).1, 1, "more than the service allows");
    }

    const SERVICE: &str = r#"format = 1
name = "x"
title = "X"
logs = []
packages = { why = "a test" }
program = { binary = "x", args = [], version_args = [], known_versions = [] }
ready = { probe = "accept", within_s = 1 }
stop = { signal = "TERM", within_s = 1 }
"#;

    fn keys(given: &[(&str, &str)], own_host: bool) -> (Option<OwnHost>, Vec<String>) {
        let text = SERVICE.replace("logs", &format!("own_host = {own_host}\nlogs"));
        let service: ServiceManifest = crate::document::read("service.toml", &text).expect("a manifest");
        let given = given.iter().map(|(name, value)| (name.to_string(), Value::Text(value.to_string())));
        let mut problems = Vec::new();
        let values = values(&given.collect(), &mut problems);
        problems.extend(mistakes(&values, &service, "set.cache."));
        let keys = problems.into_iter().map(|problem| problem.place.key.unwrap_or_default());
        (read(&values).own_host, keys.collect())
    }

    #[test]
    fn a_cable_has_a_rate_and_a_delay_where_there_is_one() {
        let rate = ("net.rate_mbit", "1000");
        let some = OwnHost { rate_mbit: Some(1000), ..OwnHost::default() };
        assert_eq!(keys(&[("net.host", "own"), rate, ("net.delay_us", "0")], true), (Some(some), Vec::new()));
        assert_eq!(keys(&[("net.host", "own")], true), (Some(OwnHost::default()), Vec::new()));
        assert_eq!(keys(&[rate], true), (None, vec!["set.cache.net.rate_mbit".to_string()]));
        let none = keys(&[("net.host", "shared"), ("net.rate_mbit", "0")], false);
        assert_eq!(none, (None, Vec::new()), "what is set to nothing is not asked for");
    }

    #[test]
    fn a_link_says_alone_what_the_host_is() {
        let link = ("net.link", "metro-2ms");
        assert_eq!(keys(&[link], true), (None, Vec::new()), "the catalogue says the rest");
        assert_eq!(keys(&[link], false).1, ["set.cache.net.link"]);
        let both = [link, ("net.host", "own"), ("net.rate_mbit", "100")];
        assert_eq!(keys(&both, true).1, ["set.cache.net.host", "set.cache.net.rate_mbit"]);
    }

    #[test]
    fn a_server_that_nobody_could_reach_from_another_host_is_refused_one() {
        assert_eq!(keys(&[("net.host", "own")], false).1, ["set.cache.net.host"]);
    }
}
