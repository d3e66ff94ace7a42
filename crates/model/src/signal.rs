//! Signals: named figures of a run over time, and those that follow from them. Each is declared once: where it is read
//! from the kernel, where it is derived, or as a counter of the service that tells it.
//!
//! The principal types are [`Signal`], one declaration, and [`SignalRegistry`], all that a run may hold. What checks
//! rules, explains figures or documents signals gets the registry from whoever has all rooms.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::catalogue::service::ServiceManifest;

/// What a signal is about. One name may be declared of a tier and of the machine, as two signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A tier, the generator or the observers.
    Tier,
    /// The machine.
    Machine,
    /// The run as a whole: what its users saw. These names begin with `run.`.
    Run,
}

impl Subject {
    /// What a recorded signal is about, by its tier and its name.
    pub fn of(tier: Option<&str>, name: &str) -> Subject {
        match tier {
            Some(_) => Subject::Tier,
            None if name.starts_with("run.") => Subject::Run,
            None => Subject::Machine,
        }
    }
}

/// The declaration of a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What it is about.
    pub subject: Subject,
    /// `cpu.cores`; the `N` of `cpuN.busy_ratio` stands for any number.
    pub name: Cow<'static, str>,
    /// `cores`, `bytes/s`, `ratio`.
    pub unit: Cow<'static, str>,
    /// What it tells, in a few words.
    pub help: Cow<'static, str>,
    /// Whether it is a key figure, which reports show first.
    pub key: bool,
}

impl Signal {
    /// A signal of every tier, which reports unfold.
    pub const fn of_tier(name: &'static str, unit: &'static str, help: &'static str) -> Signal {
        Signal::new(Subject::Tier, name, unit, help)
    }

    /// A signal of the machine, which reports unfold.
    pub const fn of_machine(name: &'static str, unit: &'static str, help: &'static str) -> Signal {
        Signal::new(Subject::Machine, name, unit, help)
    }

    /// A signal of the run as a whole.
    pub const fn of_run(name: &'static str, unit: &'static str, help: &'static str) -> Signal {
        Signal::new(Subject::Run, name, unit, help)
    }

    const fn new(subject: Subject, name: &'static str, unit: &'static str, help: &'static str) -> Signal {
        let (name, unit, help) = (Cow::Borrowed(name), Cow::Borrowed(unit), Cow::Borrowed(help));
        Signal { subject, name, unit, help, key: false }
    }

    /// The same as a key figure.
    pub const fn shown_first(mut self) -> Signal {
        self.key = true;
        self
    }

    /// The name with `number` for its `N`.
    pub fn numbered(&self, number: usize) -> String {
        self.name.replacen('N', &number.to_string(), 1)
    }

    /// Whether it is the declaration of a signal called `name`.
    fn declares(&self, name: &str) -> bool {
        let Some((before, after)) = self.name.split_once('N') else { return self.name == name };
        let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Declares signals as statics, and `SIGNALS`, the list of all of them: `CORES = Signal::of_tier(…);`.
#[macro_export]
macro_rules! signals {
    ($($visible:vis $name:ident = $declaration:expr;)+) => {
        $($visible static $name: $crate::Signal = $declaration;)+
        /// The signals declared here.
        pub(crate) static SIGNALS: &[&$crate::Signal] = &[$(&$name),+];
    };
}

/// Every signal that a run may hold.
#[derive(Debug, Clone, Default)]
pub struct SignalRegistry {
    built_in: Vec<Signal>,
    of_services: BTreeMap<String, Vec<Signal>>,
}

impl SignalRegistry {
    /// The signals of the rooms, and those that the manifests of `services` declare.
    pub fn new<'a>(
        built_in: impl IntoIterator<Item = Signal>,
        services: impl IntoIterator<Item = &'a ServiceManifest>,
    ) -> SignalRegistry {
        let of_services = services.into_iter().map(|service| (service.name.clone(), service.signals()));
        SignalRegistry { built_in: built_in.into_iter().collect(), of_services: of_services.collect() }
    }

    /// Those of the rooms, in the order in which they were given.
    pub fn built_in(&self) -> &[Signal] {
        &self.built_in
    }

    /// Those of each service, by its name.
    pub fn of_services(&self) -> impl Iterator<Item = (&str, &[Signal])> {
        self.of_services.iter().map(|(service, signals)| (service.as_str(), signals.as_slice()))
    }

    /// The declaration of the signal called `name`; of a tier also one that any service declares.
    pub fn find(&self, subject: Subject, name: &str) -> Option<&Signal> {
        self.declaration(subject, &[], name)
    }

    /// The declaration of the signal called `name` among those of `subject`, as in [`Self::of`].
    pub fn declaration(&self, subject: Subject, services: &[String], name: &str) -> Option<&Signal> {
        self.of(subject, services).find(|signal| signal.declares(name))
    }

    /// Whether a signal called `name` is declared of `subject`, as in [`Self::of`].
    pub fn declares(&self, subject: Subject, services: &[String], name: &str) -> bool {
        self.declaration(subject, services, name).is_some()
    }

    /// All signals of `subject`: of a tier also those of `services`, of all of them when that is empty.
    pub fn of(&self, subject: Subject, services: &[String]) -> impl Iterator<Item = &Signal> {
        let wanted = move |service: &String| services.is_empty() || services.contains(service);
        let own = self.of_services.iter().filter(move |(service, _)| wanted(service));
        let all = self.built_in.iter().chain(own.flat_map(|(_, signals)| signals));
        all.filter(move |signal| signal.subject == subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    signals! {
        CORES = Signal::of_tier("cpu.cores", "cores", "CPU used");
        BUSY = Signal::of_machine("cpuN.busy_ratio", "ratio", "how busy that CPU was").shown_first();
    }

    #[test]
    fn a_name_is_found_by_its_subject_and_a_number_stands_for_n() {
        let registry = SignalRegistry::new(SIGNALS.iter().copied().cloned(), []);
        assert_eq!(registry.find(Subject::Tier, "cpu.cores"), Some(&CORES));
        assert_eq!(registry.find(Subject::Machine, "cpu.cores"), None, "it is a tier's");
        assert_eq!(registry.find(Subject::Machine, &BUSY.numbered(12)), Some(&BUSY));
        for name in ["cpu.busy_ratio", "cpux.busy_ratio", "cpu1.busy_ratios"] {
            assert_eq!(registry.find(Subject::Machine, name), None, "{name}");
        }
        assert!(BUSY.key && !CORES.key);
    }

    #[test]
    fn what_is_recorded_without_a_tier_is_of_the_machine_or_of_the_run() {
        assert_eq!(Subject::of(Some("db"), "cpu.cores"), Subject::Tier);
        assert_eq!(Subject::of(None, "run.failed_ratio"), Subject::Run);
        assert_eq!(Subject::of(None, "run_queue.tasks"), Subject::Machine);
    }
}
