//! Every signal that is worked out here, and every name of one that is looked for.

use model::{Signal, Subject};

use crate::ledger;
use crate::signals::names::{
    CPU, CPU_SYSTEM, CPU_WAIT, FOREIGN, HOST_BUSY, HOST_CPUS, MEMORY, MEMORY_LIMIT, STACK_BUSY, STEAL,
    UNANSWERED,
};
use crate::signals::{derived, run};

/// The signals of tiers and of the run that follow from others or from the users' side.
pub fn signals() -> impl Iterator<Item = Signal> {
    let declared = derived::SIGNALS.iter().chain(run::SIGNALS).copied().cloned();
    declared.chain(run::of_errors()).chain(ledger::declared())
}

/// The names of a tier's signals that the ledger is made of.
pub fn wanted_by_ledger() -> Vec<String> {
    ledger::wanted().chain([CPU, CPU_WAIT].map(str::to_string)).collect()
}

/// The names of others that are looked for: without a declaration what is worked out from one would be silently absent.
pub fn wanted() -> Vec<(Subject, String)> {
    let of_tiers =
        [CPU, CPU_SYSTEM, CPU_WAIT, HOST_BUSY, HOST_CPUS, MEMORY, MEMORY_LIMIT, UNANSWERED].into_iter();
    let of_tiers = of_tiers.chain(derived::wanted()).map(str::to_string).chain(ledger::wanted());
    let of_machine = [STACK_BUSY, STEAL, FOREIGN].map(|name| (Subject::Machine, name.to_string()));
    of_tiers.map(|name| (Subject::Tier, name)).chain(of_machine).collect()
}
