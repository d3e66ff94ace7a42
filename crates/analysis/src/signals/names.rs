//! Names of signals that are looked for here and by whoever shows results, and declared by whoever reads them: an observer,
//! or a service's manifest.

/// CPU time of a tier, of the generator or of the observers.
pub const CPU: &str = "cpu.cores";
/// Of which in the kernel.
pub const CPU_SYSTEM: &str = "cpu.system_cores";
/// The CPU time that a tier may have.
pub const CPU_QUOTA: &str = "cpu.quota_cores";
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
/// The same of the host of a tier that is on another machine than the run's controller.
pub const HOST_BUSY: &str = "host.busy_ratio";
/// The number of that host's CPUs.
pub const HOST_CPUS: &str = "host.cpus";
/// CPU time that the hypervisor took from the machine.
pub const STEAL: &str = "cpu.steal_ratio";
/// CPU time of what has nothing to do with the run.
pub const FOREIGN: &str = "cpu.foreign_cores";
