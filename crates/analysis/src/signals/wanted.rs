//! Names of signals that are looked for here and by whoever shows results, and declared by whoever reads them: an observer,
//! or a service's manifest.

use model::Subject;

use super::derived;
use crate::ledger;

/// CPU time of a tier, of the generator or of the observers.
pub const CPU: &str = "cpu.cores";
/// Of which in the kernel.
pub const CPU_SYSTEM: &str = "cpu.system_cores";
/// Threads of theirs that had no CPU.
pub const CPU_WAIT: &str = "cpu.wait_cores";
/// Their memory.
pub const MEMORY: &str = "memory.bytes";
/// The limit of a tier's memory.
pub const MEMORY_LIMIT: &str = "memory.limit_bytes";
/// Whether a tier's status page did not answer.
pub const UNANSWERED: &str = "status.unanswered";
/// How busy the CPUs are that the tiers may use.
pub const STACK_BUSY: &str = "stack.busy_ratio";
/// CPU time that the hypervisor took from the machine.
pub const STEAL: &str = "cpu.steal_ratio";
/// CPU time of what has nothing to do with the run.
pub const FOREIGN: &str = "cpu.foreign_cores";

/// Every such name: without a declaration of it what is worked out from it would be silently absent.
pub fn wanted() -> Vec<(Subject, String)> {
    let of_tiers =
        [CPU, CPU_SYSTEM, CPU_WAIT, MEMORY, MEMORY_LIMIT, UNANSWERED].into_iter().chain(derived::wanted());
    let of_tiers = of_tiers.map(str::to_string).chain(ledger::wanted());
    let of_machine = [STACK_BUSY, STEAL, FOREIGN].map(|name| (Subject::Machine, name.to_string()));
    of_tiers.map(|name| (Subject::Tier, name)).chain(of_machine).collect()
}
