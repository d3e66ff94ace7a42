//! What the series that every machine has tell, in a few words: a figure is read by its name and these. Those of a
//! server's own are explained by its `service.toml` and kept in the record.

/// Name, what it tells, shown without unfolding.
type Meaning = (&'static str, &'static str, bool);

/// Of tiers, of the generator and of the observers.
const OF_TIERS: [Meaning; 23] = [
    ("cpu.cores", "CPU used", false),
    ("cpu.system_cores", "CPU used in the kernel", false),
    ("cpu.wait_cores", "threads that were ready to run but had no CPU", true),
    ("cpu.throttled_ratio", "share of the time in which its CPU quota held it back", true),
    ("cpu.quota_cores", "its CPU quota", false),
    ("pressure.cpu_ratio", "share of the time in which some task waited for a CPU", false),
    ("pressure.io_ratio", "share of the time in which some task waited for a disk", false),
    ("pressure.memory_ratio", "share of the time in which some task waited for memory", false),
    ("memory.bytes", "anonymous and mapped memory", true),
    ("memory.limit_bytes", "its limit of memory", false),
    ("memory.charged_bytes", "what counts against its limit of memory, page cache included", true),
    ("memory.page_cache_bytes", "page cache that counts against its limit of memory", true),
    ("memory.limit_hits", "how often memory was taken back from it at its limit", false),
    ("processes.count", "processes", false),
    ("threads.count", "threads", false),
    ("descriptors.count", "open files and sockets", false),
    ("descriptors.used_ratio", "open files and sockets of the fullest process, of its limit", false),
    ("io.read_bytes", "read from the disk", false),
    ("io.written_bytes", "written to the disk", false),
    ("listen.queue", "connections that wait to be accepted", true),
    ("status.unanswered", "1 where its status page did not answer in time", false),
    ("opcache.enabled", "1 where compiled scripts are kept", false),
    ("opcache.hit_ratio", "scripts that were compiled already", false),
];

/// What threads do, after `threads.`.
const THREADS: [(&str, &str); 9] = [
    ("running", "threads on a CPU"),
    ("cpu_wait", "threads that are ready to run but have no CPU"),
    ("callee", "threads that wait for the tier behind"),
    ("client", "threads that wait for their client"),
    ("lock", "threads that wait for a lock"),
    ("disk", "threads that wait for a disk"),
    ("sleep", "threads that sleep until a time"),
    ("idle", "threads without work"),
    ("other", "threads that do something else"),
];

/// Of the machine.
const OF_THE_MACHINE: [Meaning; 36] = [
    ("cpu.busy_cores", "CPU used by all", false),
    ("cpu.foreign_cores", "CPU used by neither tiers nor generator nor observers", false),
    ("cpu.user_cores", "CPU used outside the kernel", false),
    ("cpu.system_cores", "CPU used in the kernel", false),
    ("cpu.irq_cores", "CPU used for interrupts", false),
    ("cpu.softirq_cores", "CPU used for network and timers", false),
    ("cpu.iowait_cores", "CPUs idle while a disk was waited for", false),
    ("cpu.steal_ratio", "CPU time taken by the hypervisor", false),
    ("stack.busy_ratio", "how busy the stack's CPUs were, whoever used them", true),
    ("run_queue.tasks", "tasks running or ready to run", true),
    ("switches.per_s", "context switches", false),
    ("forks.per_s", "processes and threads begun", false),
    ("pressure.cpu_ratio", "share of the time in which some task waited for a CPU", false),
    ("pressure.io_ratio", "share of the time in which some task waited for a disk", false),
    ("pressure.io_full_ratio", "share of the time in which all tasks waited for a disk", false),
    ("pressure.memory_ratio", "share of the time in which some task waited for memory", false),
    ("memory.available_bytes", "memory that can be had without reclaiming", false),
    ("swap.pages", "pages swapped in and out", false),
    ("faults.major", "pages that had to be read from disk", false),
    ("disk.busy_ratio", "share of the time in which the busiest disk was busy", true),
    ("disk.queue", "requests at the busiest disk", false),
    ("disk.latency_s", "time of a request at the busiest disk", false),
    ("disk.read_bytes", "read from the busiest disk", false),
    ("disk.written_bytes", "written to the busiest disk", false),
    ("net.bytes", "received over all interfaces", false),
    ("net.packets", "received over all interfaces", false),
    ("net.drops", "packets dropped", false),
    ("tcp.listen_overflows", "connections refused because a queue was full", false),
    ("tcp.listen_drops", "connections dropped before they were accepted", false),
    ("tcp.retransmits", "segments sent again", false),
    ("tcp.time_wait", "closed connections that still hold their port", false),
    ("tcp.ports_used_ratio", "ephemeral ports in use", false),
    ("descriptors.used_ratio", "open files, of the machine's limit", false),
    ("cpuN.busy_ratio", "share of the time in which that CPU was busy", false),
    ("cpuN.softirq_ratio", "that CPU's time for network and timers", false),
    ("net.sent_bytes", "sent over all interfaces", false),
];

/// What the series of that name tells, and whether it is shown without unfolding. `tier` is absent for the machine.
pub(crate) fn of(tier: Option<&str>, name: &str) -> (&'static str, bool) {
    if let Some(doing) = name.strip_prefix("threads.").filter(|_| tier.is_some()) {
        let known = THREADS.iter().find(|(word, _)| *word == doing);
        if let Some((_, help)) = known {
            return (help, false);
        }
    }
    let table: &[Meaning] = if tier.is_some() { &OF_TIERS } else { &OF_THE_MACHINE };
    let name = numbered(name);
    table.iter().find(|(known, ..)| *known == name).map_or(("", false), |(_, help, key)| (help, *key))
}

/// `cpu3.busy_ratio` as `cpuN.busy_ratio`.
fn numbered(name: &str) -> &str {
    let one_cpu = |name: &str| {
        name.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match name.split_once('.') {
        Some((cpu, "busy_ratio")) if one_cpu(cpu) => "cpuN.busy_ratio",
        Some((cpu, "softirq_ratio")) if one_cpu(cpu) => "cpuN.softirq_ratio",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_of_the_reference_has_a_meaning() {
        let reference = include_str!("../../../docs/reference/series.md");
        let mut tier = Some("web");
        let mut known = 0;
        for line in reference.lines() {
            match line {
                "## Of the machine" => tier = None,
                "## Of each server" => break,
                _ => {}
            }
            let Some(names) = line.strip_prefix("| `").and_then(|rest| rest.split('|').next()) else {
                continue;
            };
            let names = names.split(',').map(|name| name.trim_matches([' ', '`']));
            for name in names.filter(|name| *name != "threads.WORD") {
                // A word without a dot is one of what threads do.
                let name = if name.contains('.') { name.to_string() } else { format!("threads.{name}") };
                assert_ne!(
                    of(tier, &name).0,
                    "",
                    "`{name}` is in docs/reference/series.md and has no meaning here"
                );
                known += 1;
            }
        }
        assert!(known > 40, "the reference is read: {known} names");
        assert_eq!(of(None, "cpu12.busy_ratio").0, "share of the time in which that CPU was busy");
        assert_eq!(of(Some("db"), "threads.lock").0, "threads that wait for a lock");
        assert_eq!(of(Some("db"), "sql.unheard_of"), ("", false));
    }
}
