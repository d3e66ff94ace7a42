//! What else the machine tells: kinds of CPU time, switches, pressure, memory, disks, network, descriptors.

use std::collections::BTreeMap;

use crate::points::Points;
use crate::process::ticks_per_s;
use crate::reread::Reread;
use crate::tier::stalled_s;
use crate::watch::CPUS_SHOWN;

/// Reads the machine once a second.
#[derive(Debug)]
pub(crate) struct HostMore {
    files: Vec<(&'static str, Reread)>,
    /// CPUs that the tiers may use; all when empty.
    stack: Vec<usize>,
    last: Option<(f64, Counts)>,
}

/// Counts since the machine started, by name.
type Counts = BTreeMap<String, f64>;

const FILES: [&str; 12] = [
    "/proc/stat",
    "/proc/vmstat",
    "/proc/meminfo",
    "/proc/diskstats",
    "/proc/net/dev",
    "/proc/net/netstat",
    "/proc/net/snmp",
    "/proc/net/sockstat",
    "/proc/sys/fs/file-nr",
    "/proc/pressure/cpu",
    "/proc/pressure/io",
    "/proc/pressure/memory",
];

/// Rates of counts: the series, the count and the unit.
const RATES: [(&str, &str, &str); 19] = [
    ("switches.per_s", "stat.ctxt", "1/s"),
    ("forks.per_s", "stat.processes", "1/s"),
    ("cpu.user_cores", "cpu.user", "cores"),
    ("cpu.system_cores", "cpu.system", "cores"),
    ("cpu.irq_cores", "cpu.irq", "cores"),
    ("cpu.softirq_cores", "cpu.softirq", "cores"),
    ("cpu.iowait_cores", "cpu.iowait", "cores"),
    ("pressure.cpu_ratio", "pressure.cpu", "ratio"),
    ("pressure.io_ratio", "pressure.io", "ratio"),
    ("pressure.io_full_ratio", "pressure.io_full", "ratio"),
    ("pressure.memory_ratio", "pressure.memory", "ratio"),
    ("swap.pages", "vm.swap", "pages/s"),
    ("faults.major", "vm.pgmajfault", "faults/s"),
    ("net.bytes", "net.bytes", "bytes/s"),
    ("net.packets", "net.packets", "packets/s"),
    ("net.drops", "net.drops", "packets/s"),
    ("tcp.listen_overflows", "TcpExt.ListenOverflows", "1/s"),
    ("tcp.listen_drops", "TcpExt.ListenDrops", "1/s"),
    ("tcp.retransmits", "Tcp.RetransSegs", "1/s"),
];

impl HostMore {
    /// What of the machine can be read.
    pub(crate) fn open(stack: &[usize]) -> HostMore {
        let files = FILES.iter().filter_map(|path| Some((*path, Reread::open(path)?))).collect();
        HostMore { files, stack: stack.to_vec(), last: None }
    }

    /// What this kernel doesn't have.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let missing = FILES.iter().filter(|path| !self.files.iter().any(|(open, _)| open == *path));
        missing.map(|path| format!("of the machine: this kernel has no {path}")).collect()
    }

    /// Adds what was seen at `at_s` seconds of the run.
    pub(crate) fn sample(&mut self, at_s: f64, points: &mut Points) {
        let mut counts = Counts::new();
        for (path, file) in &mut self.files {
            if let Some(text) = file.text() {
                read(path, text, &mut counts);
            }
        }
        levels(&counts, points);
        if let Some((last_s, last)) = &self.last {
            let elapsed_s = at_s - last_s;
            let rate = |count: &str| Some((counts.get(count)? - last.get(count)?).max(0.0) / elapsed_s);
            for (name, count, unit) in RATES {
                let most = if unit == "ratio" { 1.0 } else { f64::INFINITY };
                points.add_known(name, None, unit, rate(count).map(|rate| rate.min(most)));
            }
            self.cpus(&counts, &rate, points);
            disk(&counts, &rate, points);
        }
        self.last = Some((at_s, counts));
    }

    fn cpus(&self, counts: &Counts, rate: &impl Fn(&str) -> Option<f64>, points: &mut Points) {
        let (mut busy, mut of) = (0.0, 0);
        let few = counts.keys().filter(|name| name.starts_with("busy.")).count() <= CPUS_SHOWN;
        for number in counts.keys().filter_map(|name| name.strip_prefix("busy.")) {
            let softirq = rate(&format!("softirq.{number}")).filter(|_| few).map(|ratio| ratio.min(1.0));
            points.add_known(&format!("cpu{number}.softirq_ratio"), None, "ratio", softirq);
            let ours = |number: usize| self.stack.is_empty() || self.stack.contains(&number);
            if let (Some(true), Some(cores)) =
                (number.parse().ok().map(ours), rate(&format!("busy.{number}")))
            {
                busy += cores;
                of += 1;
            }
        }
        let ratio = (of > 0).then(|| (busy / f64::from(of)).min(1.0));
        points.add_known("stack.busy_ratio", None, "ratio", ratio);
    }
}

/// What is no rate.
fn levels(counts: &Counts, points: &mut Points) {
    let level = |name: &str| counts.get(name).copied();
    points.add_known("run_queue.tasks", None, "tasks", level("stat.procs_running"));
    points.add_known(
        "memory.available_bytes",
        None,
        "bytes",
        level("mem.MemAvailable").map(|kib| kib * 1024.0),
    );
    points.add_known("tcp.time_wait", None, "sockets", level("TCP.tw"));
    let share = |part: Option<f64>, whole: Option<f64>| Some(part? / whole.filter(|whole| *whole > 0.0)?);
    points.add_known(
        "descriptors.used_ratio",
        None,
        "ratio",
        share(level("files.open"), level("files.most")),
    );
    let used = level("TCP.inuse").zip(level("TCP.tw")).map(|(used, waiting)| used + waiting);
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut range = range.split_ascii_whitespace().map_while(|port| port.parse::<f64>().ok());
    let ports = range.next().zip(range.next()).map(|(first, last)| last - first + 1.0);
    points.add_known("tcp.ports_used_ratio", None, "ratio", share(used, ports));
}

/// The busiest disk (Documentation/admin-guide/iostats.rst).
fn disk(counts: &Counts, rate: &impl Fn(&str) -> Option<f64>, points: &mut Points) {
    let busy = |name: &str| rate(&format!("disk.busy.{name}")).unwrap_or(0.0);
    let names = counts.keys().filter_map(|name| name.strip_prefix("disk.busy."));
    let Some(name) = names.max_by(|one, other| busy(one).total_cmp(&busy(other))) else { return };
    let of = |what: &str| rate(&format!("disk.{what}.{name}"));
    points.add("disk.busy_ratio", None, "ratio", busy(name).min(1.0));
    points.add_known("disk.queue", None, "requests", of("queue"));
    points.add_known("disk.read_bytes", None, "bytes/s", of("read"));
    points.add_known("disk.written_bytes", None, "bytes/s", of("written"));
    if let (Some(waited), Some(done)) = (of("waited"), of("done")) {
        points.add("disk.latency_s", None, "s", if done > 0.0 { waited / done } else { 0.0 });
    }
}

fn read(path: &str, text: &str, counts: &mut Counts) {
    match path {
        "/proc/stat" => stat(text, counts),
        "/proc/vmstat" => {
            let field = |name: &str| crate::cgroup::field(text, name).map(|value| value as f64);
            put(counts, "vm.pgmajfault", field("pgmajfault"));
            put(counts, "vm.swap", field("pswpin").zip(field("pswpout")).map(|(one, other)| one + other));
        }
        "/proc/meminfo" => {
            let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
            put(
                counts,
                "mem.MemAvailable",
                line.and_then(|line| number(line.split_ascii_whitespace().next())),
            );
        }
        "/proc/diskstats" => disks(text, counts),
        "/proc/net/dev" => net(text, counts),
        "/proc/net/netstat" => pairs(text, "TcpExt", &["ListenOverflows", "ListenDrops"], counts),
        "/proc/net/snmp" => pairs(text, "Tcp", &["RetransSegs"], counts),
        "/proc/net/sockstat" => sockstat(text, counts),
        "/proc/sys/fs/file-nr" => {
            let mut fields = text.split_ascii_whitespace();
            put(counts, "files.open", number(fields.next()));
            put(counts, "files.most", number(fields.nth(1)));
        }
        _ => {
            let name = path.rsplit('/').next().unwrap_or_default();
            put(counts, &format!("pressure.{name}"), stalled_s(text, "some"));
            put(counts, &format!("pressure.{name}_full"), stalled_s(text, "full"));
        }
    }
}

fn put(counts: &mut Counts, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        counts.insert(name.to_string(), value);
    }
}

fn number(field: Option<&str>) -> Option<f64> {
    field?.parse().ok()
}

/// `cpuN user nice system idle iowait irq softirq steal …` in ticks; then counters by name (proc(5)).
fn stat(text: &str, counts: &mut Counts) {
    let ticks = ticks_per_s();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        if matches!(name, "ctxt" | "processes" | "procs_running") {
            put(counts, &format!("stat.{name}"), number(Some(rest.trim())));
        }
        let Some(cpu) = name.strip_prefix("cpu") else { continue };
        let s: Vec<f64> =
            rest.split_ascii_whitespace().map_while(|one| number(Some(one))).map(|t| t / ticks).collect();
        let at = |index: usize| s.get(index).copied().unwrap_or(0.0);
        if cpu.is_empty() {
            let kinds = [
                ("user", at(0) + at(1)),
                ("system", at(2)),
                ("iowait", at(4)),
                ("irq", at(5)),
                ("softirq", at(6)),
            ];
            kinds.into_iter().for_each(|(kind, s)| put(counts, &format!("cpu.{kind}"), Some(s)));
        } else {
            put(counts, &format!("busy.{cpu}"), Some(at(0) + at(1) + at(2) + at(5) + at(6)));
            put(counts, &format!("softirq.{cpu}"), Some(at(6)));
        }
    }
}

/// Whether `name` is a partition of `disk`: `sda1`, `nvme0n1p1`; `dm-10` is none of `dm-1`.
fn is_part(name: &str, disk: &str) -> bool {
    let Some(rest) = name.strip_prefix(disk) else { return false };
    let rest = if disk.ends_with(|c: char| c.is_ascii_digit()) {
        rest.strip_prefix('p').unwrap_or("")
    } else {
        rest
    };
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whole disks only: a partition's name is its disk's with a number, and would count twice.
fn disks(text: &str, counts: &mut Counts) {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(name), Some(_)) = (fields.get(2), fields.get(13)) else { continue };
        let of_another = names.iter().any(|disk| is_part(name, disk));
        if of_another || name.starts_with("loop") || name.starts_with("ram") {
            continue;
        }
        names.push((*name).to_string());
        let at = |index: usize| number(fields.get(index).copied()).unwrap_or(0.0);
        let figures = [
            ("done", at(3) + at(7)),
            ("read", at(5) * 512.0),
            ("written", at(9) * 512.0),
            ("waited", (at(6) + at(10)) / 1e3),
            ("busy", at(12) / 1e3),
            ("queue", at(13) / 1e3),
        ];
        figures
            .into_iter()
            .for_each(|(what, value)| put(counts, &format!("disk.{what}.{name}"), Some(value)));
    }
}

fn net(text: &str, counts: &mut Counts) {
    let mut sums = [0.0; 3];
    for line in text.lines().skip(2) {
        let Some((_, rest)) = line.split_once(':') else { continue };
        let fields: Vec<f64> = rest.split_ascii_whitespace().map_while(|one| number(Some(one))).collect();
        for (sum, index) in sums.iter_mut().zip([0, 1, 3]) {
            *sum += fields.get(index).copied().unwrap_or(0.0);
        }
    }
    for (name, sum) in ["net.bytes", "net.packets", "net.drops"].into_iter().zip(sums) {
        put(counts, name, Some(sum));
    }
}

/// A line of names and one of values, each with the same word before it.
fn pairs(text: &str, word: &str, wanted: &[&str], counts: &mut Counts) {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(':'));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return };
    let both = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    both.filter(|(name, _)| wanted.contains(name))
        .for_each(|(name, value)| put(counts, &format!("{word}.{name}"), number(Some(value))));
}

/// `TCP: inuse 5 orphan 0 tw 12 …`
fn sockstat(text: &str, counts: &mut Counts) {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("TCP:")) else { return };
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    for pair in fields.chunks_exact(2).filter(|pair| matches!(pair[0], "inuse" | "tw")) {
        put(counts, &format!("TCP.{}", pair[0]), number(Some(pair[1])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Counts {
        let mut counts = Counts::new();
        read(path, text, &mut counts);
        counts
    }

    #[test]
    fn a_partition_is_told_from_a_disk_whose_name_is_longer() {
        for (name, disk) in [("sda1", "sda"), ("nvme0n1p2", "nvme0n1")] {
            assert!(is_part(name, disk), "{name} is a part of {disk}");
        }
        for (name, disk) in [("dm-10", "dm-1"), ("sdaa", "sda"), ("nvme0n10", "nvme0n1"), ("sda", "sda")] {
            assert!(!is_part(name, disk), "{name} is no part of {disk}");
        }
    }

    #[test]
    fn each_file_gives_its_counts_by_name() {
        let disks =
            "254 0 vda 10 0 8 40 20 0 16 60 1 500 700 0\n254 1 vda1 9 0 8 40 20 0 16 60 1 500 700 0\n";
        let disks = found("/proc/diskstats", disks);
        assert_eq!(disks.get("disk.busy.vda"), Some(&0.5));
        assert_eq!(
            (disks.get("disk.written.vda"), disks.get("disk.waited.vda")),
            (Some(&8192.0), Some(&0.1))
        );
        assert!(!disks.contains_key("disk.busy.vda1"), "a part of a disk is no disk");
        let net = "Inter-|\n face |bytes\n  lo: 100 2 0 1 0 0 0 0 100 2\neth0: 50 1 0 0 0 0 0 0 9 9\n";
        let net = found("/proc/net/dev", net);
        assert_eq!((net["net.bytes"], net["net.packets"], net["net.drops"]), (150.0, 3.0, 1.0));
        let tcp = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 7 8\nIpExt: A\nIpExt: 3\n";
        assert_eq!(found("/proc/net/netstat", tcp).get("TcpExt.ListenOverflows"), Some(&7.0));
        let sockets =
            found("/proc/net/sockstat", "sockets: used 5\nTCP: inuse 5 orphan 0 tw 12 alloc 9 mem 1\n");
        assert_eq!((sockets["TCP.inuse"], sockets["TCP.tw"]), (5.0, 12.0));
        let files = found("/proc/sys/fs/file-nr", "1024\t0\t4096\n");
        assert_eq!((files["files.open"], files["files.most"]), (1024.0, 4096.0));
    }

    #[test]
    fn this_machine_tells_its_rates_with_the_second_reading() {
        let mut more = HostMore::open(&[]);
        let mut first = Points::at(0.0);
        more.sample(0.0, &mut first);
        assert!(first.found.iter().all(|one| one.name != "switches.per_s"), "{:?}", first.found);
        let mut second = Points::at(1.0);
        more.sample(1.0, &mut second);
        for name in
            ["switches.per_s", "cpu.user_cores", "stack.busy_ratio", "net.bytes", "memory.available_bytes"]
        {
            assert!(second.found.iter().any(|one| one.name == name), "{name}: {:?}", second.found);
        }
    }
}
