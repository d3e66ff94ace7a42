//! Why a tier can't be on a host of its own, and what it takes.

use std::fmt;

use model::Problem;
use model::catalogue::tier_setting::{DELAY, HOST, LINK};
use model::record::plan::PlanTier;

use crate::switch::MIN_DELAY_US;

/// What making a network takes: root of a container has not always the right to.
const NETWORK_TAKES: &str =
    "run as root, in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN, with the package iproute2";

/// Why a tier can't be on a host of its own here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRefusal {
    /// Its network, or the cable to it, can't be made.
    Network(String),
    /// The kernel doesn't have, or doesn't let us use, what slows the cable down.
    Discipline {
        /// What was asked for: `net.rate_mbit`.
        setting: &'static str,
        /// What it takes: `tbf`.
        name: &'static str,
        /// What tc said.
        said: String,
    },
    /// Packets can't be made to cost their senders CPU time; what was said.
    Cost(String),
    /// Nothing here holds packets for as long as was asked.
    Delay {
        /// What tc said of the queueing discipline that would.
        said: String,
        /// Why a switch of the tool's can't; absent where the delay is too short for one.
        switch: Option<String>,
    },
}

impl fmt::Display for HostRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostRefusal::Network(said) => write!(f, "no network of its own can be made: {said}"),
            HostRefusal::Discipline { setting, name, said } => {
                write!(f, "{setting} takes the queueing discipline {name}: {said}")
            }
            HostRefusal::Cost(said) => {
                write!(
                    f,
                    "CPU time for each packet takes the kernel's clsact and BPF, and tc with libbpf: {said}"
                )
            }
            HostRefusal::Delay { said, switch: None } => {
                write!(f, "{DELAY} below {MIN_DELAY_US} takes the queueing discipline netem: {said}")
            }
            HostRefusal::Delay { said, switch: Some(why) } => {
                write!(
                    f,
                    "{DELAY} takes the queueing discipline netem ({said}) or network devices without hardware: {why}"
                )
            }
        }
    }
}

impl HostRefusal {
    /// What it takes.
    pub fn remedy(&self) -> String {
        match self {
            HostRefusal::Network(_) => NETWORK_TAKES.to_string(),
            HostRefusal::Discipline { name, .. } => format!("a kernel with sch_{name}"),
            HostRefusal::Cost(_) => {
                "a kernel with CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS, and CAP_BPF or CAP_SYS_ADMIN"
                    .to_string()
            }
            HostRefusal::Delay { switch: None, .. } => {
                format!("a kernel with sch_netem, or {DELAY}={MIN_DELAY_US} or more")
            }
            HostRefusal::Delay { switch: Some(_), .. } => {
                "a kernel with sch_netem, or with tun and /dev/net/tun".to_string()
            }
        }
    }

    /// As a problem of no tier.
    pub(crate) fn alone(self) -> Problem {
        Problem::environment(format!("there can be no such host here: {self}")).remedy(self.remedy())
    }

    /// As a problem of a tier that asked for it.
    pub(crate) fn of_tier(self, tier: &PlanTier) -> Problem {
        let by_topology = !tier.hosts.is_empty();
        let (tier, link) = (&tier.name, tier.link.as_ref());
        let without = match &self {
            _ if by_topology => "without --topology, or with another link".to_string(),
            _ if link.is_some() => format!("--set {tier}.{LINK}=none"),
            // Only a link can ask for the latter.
            HostRefusal::Network(_) | HostRefusal::Cost(_) => format!("--set {tier}.{HOST}=shared"),
            HostRefusal::Discipline { setting, .. } => format!("--set {tier}.{setting}=0"),
            HostRefusal::Delay { .. } => format!("--set {tier}.{DELAY}=0"),
        };
        let remedy = format!("{} (`plimsoll doctor` says what there is); or {without}", self.remedy());
        Problem::environment(format!("tier {tier} can't be on a host of its own as asked: {self}"))
            .why("with another network between the tiers this would be another measurement")
            .remedy(remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tier;

    #[test]
    fn a_refusal_names_what_is_missing_and_how_to_run_without() {
        let said = "`tc …` ended with exit status: 2: Error: Specified qdisc kind is unknown.".to_string();
        let short = HostRefusal::Delay { said, switch: None };
        let text = short.clone().of_tier(&tier("db")).to_string();
        let parts = ["netem", "net.delay_us=1000 or more", "--set db.net.delay_us=0"];
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        let linked = PlanTier { link: Some("metro-2ms".to_string()), ..tier("db") };
        let text = short.of_tier(&linked).to_string();
        assert!(text.contains("--set db.net.link=none"), "{text}");
        let text =
            HostRefusal::Network("Operation not permitted".to_string()).of_tier(&tier("db")).to_string();
        assert!(text.contains("root") && text.contains("--set db.net.host=shared"), "{text}");
    }
}
