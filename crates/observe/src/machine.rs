//! What a run runs on, for its record: results of different machines must not be taken for each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Kernel, CPU, memory, distribution and what is known of virtualisation, name to value. What this machine doesn't
/// tell is left out.
pub fn machine() -> BTreeMap<String, String> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    describe(&Texts {
        cpuinfo: text("/proc/cpuinfo"),
        meminfo: text("/proc/meminfo"),
        os_release: text("/etc/os-release"),
        kernel: text("/proc/sys/kernel/osrelease"),
        architecture: std::env::consts::ARCH.to_string(),
        product: text("/sys/class/dmi/id/product_name"),
        hypervisor: text("/sys/hypervisor/type"),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        clocksource: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        cgroup: text("/proc/self/mountinfo"),
    })
}

#[derive(Default)]
struct Texts {
    cpuinfo: String,
    meminfo: String,
    os_release: String,
    kernel: String,
    architecture: String,
    product: String,
    hypervisor: String,
    governor: String,
    clocksource: String,
    cgroup: String,
}

fn describe(texts: &Texts) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value.map(|value| value.trim().to_string()).filter(|value| !value.is_empty()) {
            found.insert(name.to_string(), value);
        }
    };
    put("kernel", Some(texts.kernel.clone()));
    put("architecture", Some(texts.architecture.clone()));
    put("cpu.model", value(&texts.cpuinfo, "model name", ':'));
    let processors = texts.cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    put("cpu.count", (processors > 0).then(|| processors.to_string()));
    put("cpu.cores", cores(&texts.cpuinfo).map(|cores| cores.to_string()));
    put("cpu.governor", Some(texts.governor.clone()));
    put("clocksource", Some(texts.clocksource.clone()));
    put("memory", value(&texts.meminfo, "MemTotal", ':').and_then(|text| mebibytes(&text)));
    put("swap", value(&texts.meminfo, "SwapTotal", ':').and_then(|text| mebibytes(&text)));
    put(
        "distribution",
        value(&texts.os_release, "PRETTY_NAME", '=').map(|name| name.trim_matches('"').to_string()),
    );
    put("virtualisation", virtualisation(texts));
    put("cgroup", cgroup(&texts.cgroup).map(str::to_string));
    found
}

/// The value of the first line `NAME SEPARATOR VALUE`.
fn value(text: &str, name: &str, separator: char) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().to_string())
    })
}

/// Physical cores: different pairs of (package, core); absent where the kernel doesn't number them.
fn cores(cpuinfo: &str) -> Option<usize> {
    let pair = |block: &str| Some((value(block, "physical id", ':')?, value(block, "core id", ':')?));
    let pairs: BTreeSet<(String, String)> = cpuinfo.split("\n\n").filter_map(pair).collect();
    (!pairs.is_empty()).then_some(pairs.len())
}

fn mebibytes(text: &str) -> Option<String> {
    let kibibytes: u64 = text.strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{} MiB", kibibytes / 1024))
}

/// The hypervisor flag of the CPU, with the product's or the hypervisor's name where there is one.
fn virtualisation(texts: &Texts) -> Option<String> {
    let flagged = value(&texts.cpuinfo, "flags", ':')
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let names = [texts.hypervisor.trim(), texts.product.trim()];
    let name = names.into_iter().find(|name| !name.is_empty());
    match (flagged || !texts.hypervisor.trim().is_empty(), name) {
        (false, _) => None,
        (true, Some(name)) => Some(format!("virtual machine ({name})")),
        (true, None) => Some("virtual machine".to_string()),
    }
}

fn cgroup(mountinfo: &str) -> Option<&'static str> {
    let has = |kind: &str| mountinfo.lines().any(|line| line.contains(&format!(" - {kind} ")));
    match (has("cgroup2"), has("cgroup")) {
        (true, true) => Some("v2 without controllers, beside v1"),
        (true, false) => Some("v2"),
        (false, true) => Some("v1"),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Texts {
        let cpu = |number: u32, core: u32| {
            format!(
                "processor\t: {number}\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: {core}\nflags\t\t: fpu \
                 hypervisor lahf_lm\n"
            )
        };
        Texts {
            cpuinfo: [cpu(0, 0), cpu(1, 0), cpu(2, 1), cpu(3, 1)].join("\n"),
            meminfo: "MemTotal:        8141024 kB\nMemFree: 1 kB\nSwapTotal:             0 kB\n".to_string(),
            os_release: "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
                .to_string(),
            kernel: "6.1.0-25-amd64\n".to_string(),
            product: "KVM\n".to_string(),
            cgroup: "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n".to_string(),
            ..Texts::default()
        }
    }

    #[test]
    fn a_machine_is_described_by_what_makes_results_differ() {
        let expected = [
            ("cgroup", "v2"),
            ("cpu.cores", "2"),
            ("cpu.count", "4"),
            ("cpu.model", "AMD EPYC"),
            ("distribution", "Debian GNU/Linux 12 (bookworm)"),
            ("kernel", "6.1.0-25-amd64"),
            ("memory", "7950 MiB"),
            ("swap", "0 MiB"),
            ("virtualisation", "virtual machine (KVM)"),
        ];
        let found = describe(&texts());
        assert_eq!(found, expected.map(|(name, value)| (name.to_string(), value.to_string())).into());
    }

    #[test]
    fn a_machine_that_tells_nothing_has_no_empty_entries() {
        assert!(describe(&Texts::default()).is_empty());
        let bare = Texts {
            cpuinfo: "processor\t: 0\nflags\t: fpu\n".to_string(),
            product: "PC".into(),
            ..Texts::default()
        };
        assert_eq!(
            describe(&bare).get("virtualisation"),
            None,
            "a product's name alone makes no virtual machine"
        );
    }

    #[test]
    fn this_machine_has_a_kernel_and_cpus() {
        let found = machine();
        assert!(found.contains_key("kernel") && found.contains_key("cpu.count"), "{found:?}");
    }
}
