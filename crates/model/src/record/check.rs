//! The checks that the instrument makes of itself: each is declared here and nowhere else. What a check is called, what
//! it says when it breaks, its place in schemas and in `docs/method/validity.md` follow from its row.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// So begin the identifiers of the checks of a kit's own figures.
const METRIC: &str = "metric:";

/// One check of the instrument by itself. On disk it is its identifier, [`Check::id`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Check {
    /// No tier's main process died or was replaced.
    Tiers,
    /// The run completed, and its steady state is as long as it should be.
    Duration,
    /// The generator's machine had a port, a descriptor and buffers for every connection.
    Room,
    /// The ways to tiers' own hosts hold packets as long as asked for.
    Link,
    /// Operations complete.
    ErrorsAll,
    /// CPU of the process that serves the laboratory's page.
    Viewer,
    /// CPU of the generator's threads.
    GeneratorCpu,
    /// CPU of its busiest thread.
    GeneratorThread,
    /// How late it sent.
    SendLag,
    /// No agent of the fleet was lost.
    FleetAgents,
    /// Each agent of the fleet kept up by itself.
    FleetGenerators,
    /// The fleet's agents began at the same time.
    FleetStart,
    /// Their clocks went alike.
    FleetClock,
    /// Nobody could change the load by hand.
    LoadByHand,
    /// The users asked for were at work.
    Users,
    /// The arrivals asked for began.
    Arrivals,
    /// Sessions were drawn as asked for.
    Mix,
    /// Sessions completed in the shares asked for.
    MixShares,
    /// Think times were as asked for.
    Think,
    /// Cycle times were as asked for.
    Cycle,
    /// Little's law.
    Little,
    /// Each target has the samples that it needs.
    Samples,
    /// What no target sees took no longer than the targets allow.
    Untimed,
    /// No line of a server's log says that the run is spoilt.
    Alarms,
    /// The data is consistent.
    Consistency,
    /// The generator could do far more than the answer.
    Ceiling,
    /// A figure of the kit's own, by its name.
    Metric(String),
    /// One that this version doesn't know: of an older record, or of a newer one.
    Other(String),
}

/// What a check that broke speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckClass {
    /// The generator was the limit.
    Generator,
    /// The generator's machine lacked something.
    Machine,
    /// The stack didn't do the work, or not all the time.
    Stack,
    /// The load was not the one asked for.
    Load,
    /// The measurement itself: too short, too few, or its books don't balance.
    Measurement,
}

/// What an overloaded stack has to do with a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overload {
    /// It doesn't break it.
    Unrelated,
    /// It breaks it, but so may other things.
    Breaks,
    /// It breaks it, and where nothing else is broken that is proof of it, also when no target is missed.
    Shows,
}

/// A check as it is declared.
#[derive(Debug)]
pub struct DeclaredCheck {
    /// The check.
    pub check: Check,
    /// Its identifier in records.
    pub id: &'static str,
    /// What it speaks of.
    pub class: CheckClass,
    /// What an overloaded stack does to it.
    pub overload: Overload,
    /// Its name for people.
    pub title: &'static str,
    /// When it holds, in Markdown.
    pub holds_when: &'static str,
    /// Where its threshold comes from, in Markdown.
    pub source: &'static str,
}

/// All of them, in the order in which they explain: what broke first comes first. Kits' own figures have
/// [`METRIC_CHECK`].
pub static CHECKS: [DeclaredCheck; 26] = [
    DeclaredCheck {
        check: Check::Tiers,
        id: "tiers",
        class: CheckClass::Stack,
        overload: Overload::Unrelated,
        title: "tiers stay alive",
        holds_when: "no tier's main process died or was replaced during the run",
        source: "a restart is another system",
    },
    DeclaredCheck {
        check: Check::Duration,
        id: "duration",
        class: CheckClass::Measurement,
        overload: Overload::Unrelated,
        title: "length of the steady state",
        holds_when: "the run completed, and no more than 2 s of the steady state are missing",
        source: "its ends need not be whole seconds",
    },
    DeclaredCheck {
        check: Check::Room,
        id: "room",
        class: CheckClass::Machine,
        overload: Overload::Unrelated,
        title: "ports and descriptors",
        holds_when: "the generator's machine had a port, a descriptor and buffers for every connection of the steady state",
        source: "what it lacks looks like a server that refuses",
    },
    DeclaredCheck {
        check: Check::Link,
        id: "link",
        class: CheckClass::Machine,
        overload: Overload::Unrelated,
        title: "links as asked for",
        holds_when: "where the way to a tier's own host is to hold packets, or to cost CPU time, the median of messages of one byte, there and back, before the users \
                     and after them, is no more than 5 % (20 µs at least) below what was asked for, and no more than that and 0.2 ms above it",
        source: "5 %: half of what a factor of 1.1 in distance would be; 0.2 ms: what a cable that holds nothing takes here, and more",
    },
    DeclaredCheck {
        check: Check::ErrorsAll,
        id: "errors_all",
        class: CheckClass::Stack,
        overload: Overload::Shows,
        title: "operations that complete",
        holds_when: "at least one operation completed, at least one of each name that occurred, and no more failed than completed",
        source: "percentiles of what is left are those of another workload",
    },
    DeclaredCheck {
        check: Check::Viewer,
        id: "viewer",
        class: CheckClass::Measurement,
        overload: Overload::Unrelated,
        title: "the laboratory's page",
        holds_when: "where the laboratory's page was served meanwhile: CPU of the process that does, as long as it was there, ≤ 5 % of \
                     one CPU on average; more than 1 % is mentioned",
        source: "chosen: 1 % is what a quiet page takes at most, 5 % of a small machine's CPU shows in response times",
    },
    DeclaredCheck {
        check: Check::GeneratorCpu,
        id: "generator_cpu",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "the generator's CPU",
        holds_when: "CPU of the generator's threads ≤ 80 % of its CPUs",
        source: "practice: beyond, its own queueing shows",
    },
    DeclaredCheck {
        check: Check::GeneratorThread,
        id: "generator_thread",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "its busiest thread",
        holds_when: "CPU of the busiest thread ≤ 90 % of one CPU",
        source: "Cosmo 2006: one saturated client thread misled",
    },
    DeclaredCheck {
        check: Check::SendLag,
        id: "send_lag",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "send lag",
        holds_when: "99th percentile of the generator's lateness ≤ 5 ms: of a probe every 10 ms, each one that a stall \
                     swallowed included and weighing as much as the sends that 10 ms usually hold, and of every session's \
                     start, from when it was possible: a server that outlasts a cycle is late, not the generator",
        source: "chosen: small beside targets of 100 ms and more; 1 ms is common where the generator has a machine of its own",
    },
    DeclaredCheck {
        check: Check::FleetAgents,
        id: "fleet_agents",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "the fleet's agents",
        holds_when: "with a fleet: every agent told every second of its slice, and its end; none was silent for 15 s. With \
                     `--tolerate N` up to N were lost: the run is degraded then, and says so",
        source: "without a slice of the users it is another load",
    },
    DeclaredCheck {
        check: Check::FleetGenerators,
        id: "fleet_generators",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "each agent's generator",
        holds_when: "with a fleet: of each agent CPU ≤ 80 % of its CPUs, its busiest thread ≤ 90 % of one, and the median of the \
                     seconds' 99th percentiles of send lag ≤ 5 ms",
        source: "as `generator_cpu`, `generator_thread` and `send_lag`: one late agent of many vanishes in what all of them come to",
    },
    DeclaredCheck {
        check: Check::FleetStart,
        id: "fleet_start",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "one beginning",
        holds_when: "with a fleet: no agent began more than 10 ms after the time that was set, the bound of its clock's offset included",
        source: "chosen: a hundredth of the second that is merged",
    },
    DeclaredCheck {
        check: Check::FleetClock,
        id: "fleet_clock",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "clocks that go alike",
        holds_when: "with a fleet: from before the users to after them no agent's clock moved by more than 50 ms against the controller's",
        source: "chosen: a twentieth of the second that is merged",
    },
    DeclaredCheck {
        check: Check::LoadByHand,
        id: "load_by_hand",
        class: CheckClass::Load,
        overload: Overload::Unrelated,
        title: "a load that nobody changes",
        holds_when: "never: it is there only where users were asked for by hand (`plimsoll explore`)",
        source: "figures over several loads are those of none",
    },
    DeclaredCheck {
        check: Check::Users,
        id: "users",
        class: CheckClass::Load,
        overload: Overload::Breaks,
        title: "users at work",
        holds_when: "closed model: mean users at work within 2 % of those asked for",
        source: "as for Little's law",
    },
    DeclaredCheck {
        check: Check::Arrivals,
        id: "arrivals",
        class: CheckClass::Load,
        overload: Overload::Breaks,
        title: "arrivals as asked for",
        holds_when: "open model: arrivals that began are those intended, within 3.9 standard errors (Poisson) or 1 % and one \
                     (even); random ones are as dispersed by the second as Poisson counts; none had to wait for a free user",
        source: "one false alarm in 10,000 runs",
    },
    DeclaredCheck {
        check: Check::Mix,
        id: "mix",
        class: CheckClass::Load,
        // Sessions count here when they are drawn, which asks no server.
        overload: Overload::Unrelated,
        title: "the mix as asked for",
        holds_when: "sessions were drawn as the weights or the matrix's rows say: Pearson's chi-square below its 0.99995 \
                     quantile, none drawn too rarely (below), and nothing of probability 0 occurred",
        source: "one false alarm in 10,000 runs",
    },
    DeclaredCheck {
        check: Check::MixShares,
        id: "mix_shares",
        class: CheckClass::Load,
        overload: Overload::Breaks,
        title: "shares of the sessions",
        holds_when: "where the kit gives `mix_points`: each session's share of those that completed is within these points of \
                     its share in the long run; where chance does more, within that (below)",
        source: "Faban's 2 points for the Web 2.0 kit",
    },
    DeclaredCheck {
        check: Check::Think,
        id: "think",
        class: CheckClass::Load,
        overload: Overload::Breaks,
        title: "think times as asked for",
        holds_when: "pauses after each session were drawn as declared, and kept: each within 2 % (or the kit's `pause_ratio`), \
                     or within chance (below)",
        source: "Faban's 2 %, as for Little's law",
    },
    DeclaredCheck {
        check: Check::Cycle,
        id: "cycle",
        class: CheckClass::Load,
        overload: Overload::Shows,
        title: "cycle times as asked for",
        holds_when: "as `think`, of cycles: users whose answers outlast their cycles are another load",
        source: "Faban's 2 %, as for Little's law",
    },
    DeclaredCheck {
        check: Check::Little,
        id: "little",
        class: CheckClass::Measurement,
        overload: Overload::Breaks,
        title: "Little's law",
        holds_when: "counted and integrated user time differ by ≤ max(2 %, 3 standard errors)",
        source: "below",
    },
    DeclaredCheck {
        check: Check::Samples,
        id: "samples",
        class: CheckClass::Measurement,
        overload: Overload::Breaks,
        title: "number of samples",
        holds_when: "each target has the samples that it needs",
        source: "below",
    },
    DeclaredCheck {
        check: Check::Untimed,
        id: "untimed",
        class: CheckClass::Stack,
        overload: Overload::Shows,
        title: "what is not timed",
        holds_when: "the 99th percentile of what the session's script abandoned, where there are 100 samples, is not above the \
                     strictest limit on times",
        source: "users waited for it, and no target sees it",
    },
    DeclaredCheck {
        check: Check::Alarms,
        id: "alarms",
        class: CheckClass::Stack,
        overload: Overload::Breaks,
        title: "the servers' logs",
        holds_when: "no log line that its service declares to invalidate a run",
        source: "the server's own words",
    },
    DeclaredCheck {
        check: Check::Consistency,
        id: "consistency",
        class: CheckClass::Stack,
        overload: Overload::Unrelated,
        title: "consistent data",
        holds_when: "every statement of the kit's consistency check holds",
        source: "the stack must have done the work",
    },
    DeclaredCheck {
        check: Check::Ceiling,
        id: "ceiling",
        class: CheckClass::Generator,
        overload: Overload::Unrelated,
        title: "the generator's ceiling",
        holds_when: "of a find: the generator alone, against a server that only answers, makes at least 5 times the requests per second of the answer",
        source: "chosen: an answer near it may be the generator's own",
    },
];

/// The row of all kits' own figures: `metric:NAME`.
pub static METRIC_CHECK: DeclaredCheck = DeclaredCheck {
    check: Check::Metric(String::new()),
    id: "metric:NAME",
    class: CheckClass::Stack,
    overload: Overload::Breaks,
    title: "a figure of the kit's own",
    holds_when: "a kit's own figure lies within its `at_least` and `at_most`; one that is not there is not judged, which its \
                 sentence says",
    source: "the kit's `why`",
};

impl Check {
    /// The check of that identifier.
    pub fn of(id: &str) -> Check {
        match (id.strip_prefix(METRIC), CHECKS.iter().find(|one| one.id == id)) {
            (Some(metric), _) => Check::Metric(metric.to_string()),
            (None, Some(declared)) => declared.check.clone(),
            (None, None) => Check::Other(id.to_string()),
        }
    }

    /// Its stable identifier in records: `send_lag`, `metric:load`.
    pub fn id(&self) -> Cow<'static, str> {
        match (self, self.declared()) {
            (Check::Metric(name), _) => format!("{METRIC}{name}").into(),
            (Check::Other(id), _) => id.clone().into(),
            (_, Some(declared)) => declared.id.into(),
            (_, None) => unreachable!("a test holds every check against its row"),
        }
    }

    /// Its row; absent for one that this version doesn't know.
    pub fn declared(&self) -> Option<&'static DeclaredCheck> {
        match self {
            Check::Metric(_) => Some(&METRIC_CHECK),
            known => CHECKS.iter().find(|one| one.check == *known),
        }
    }

    /// What it speaks of; absent for one that this version doesn't know.
    pub fn class(&self) -> Option<CheckClass> {
        self.declared().map(|declared| declared.class)
    }

    /// Its name for people: of a kit's figure the figure's.
    pub fn title(&self) -> Cow<'static, str> {
        match (self, self.declared()) {
            (Check::Metric(name) | Check::Other(name), _) => name.replace('_', " ").into(),
            (_, Some(declared)) => declared.title.into(),
            (_, None) => self.id(),
        }
    }

    /// An overloaded stack breaks it by itself: users hang over the window's edges, arrivals find no free user, users
    /// wait where nothing is timed, slow operations give few samples, sessions fail or are cut off, the server logs that
    /// it is full.
    pub fn may_be_overload(&self) -> bool {
        self.declared().is_some_and(|declared| declared.overload != Overload::Unrelated)
    }

    /// That it broke shows an overload although no target is missed.
    pub fn shows_overload(&self) -> bool {
        self.declared().is_some_and(|declared| declared.overload == Overload::Shows)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.id())
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.id())
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Check, D::Error> {
        Ok(Check::of(&Cow::<str>::deserialize(deserializer)?))
    }
}

impl JsonSchema for Check {
    fn schema_name() -> Cow<'static, str> {
        "Check".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known = CHECKS.iter().chain([&METRIC_CHECK]).map(|check| check.id);
        let examples: Vec<&str> = known.collect();
        json_schema!({
            "type": "string",
            "description": "Stable identifier of a check (`docs/method/validity.md`). Those that are known are the \
                            examples; other versions may have others.",
            "examples": examples
        })
    }
}

/// The table of `docs/method/validity.md`.
pub fn checks_table() -> String {
    let row = |check: &DeclaredCheck| {
        let DeclaredCheck { id, title, holds_when, source, .. } = check;
        format!("| `{id}` | {title} | {holds_when} | {source} |\n")
    };
    let head = "| check | called | holds when | threshold's source |\n|---|---|---|---|\n".to_string();
    head + &CHECKS.iter().chain([&METRIC_CHECK]).map(row).collect::<String>()
}

#[cfg(test)]
mod tests;
