//! Keeps idle CPUs from sleeping while trials are compared.
//!
//! Between two requests a CPU that is hardly busy sleeps. Waking up takes time, and what ran on its core meanwhile has
//! emptied its caches: on a virtual machine, other machines. Both differ from minute to minute, and both are in every
//! response time (`docs/decisions/2026-11-24-cpus-awake.md`).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use model::{Problem, Result};

/// Who holds this open bounds the latency with which CPUs wake up: Documentation/power/pm_qos_interface.rst.
const REQUEST: &str = "/dev/cpu_dma_latency";
const CPUIDLE: &str = "/sys/devices/system/cpu/cpuidle/current_driver";
const STATES: &str = "/sys/devices/system/cpu/cpu0/cpuidle";

/// CPUs that sleep as lightly as they can, as long as this lives: the kernel forgets the wish when the process ends,
/// however it ends.
#[derive(Debug)]
pub struct Awake {
    _request: File,
}

impl Awake {
    /// Keeps the CPUs awake; `None` where the kernel doesn't say how deeply they sleep.
    ///
    /// # Errors
    /// The kernel doesn't let this user.
    pub fn keep() -> Result<Option<Awake>> {
        let driver = fs::read_to_string(CPUIDLE).unwrap_or_default();
        let Some(latency_us) = latency_us(driver.trim(), &states(Path::new(STATES))) else { return Ok(None) };
        match request(latency_us) {
            Ok(request) => Ok(Some(Awake { _request: request })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let problem = Problem::environment(format!("idle CPUs can't be kept awake: {error}"));
                let why = "while they sleep between requests, times vary more from trial to trial";
                Err(problem.file(REQUEST).why(why).remedy("as root, or let this user write there").into())
            }
        }
    }
}

fn request(latency_us: i32) -> io::Result<File> {
    let mut request = File::options().write(true).open(REQUEST)?;
    request.write_all(&latency_us.to_ne_bytes())?;
    Ok(request)
}

/// The latency to ask for: of the lightest state in which a CPU really rests. A guest's one hands the core to other machines,
/// so a guest polls.
fn latency_us(driver: &str, states: &[(String, i32)]) -> Option<i32> {
    match driver {
        "" | "none" => None,
        "haltpoll" => Some(0),
        _ => states.iter().filter(|(name, _)| name != "POLL").map(|(_, latency_us)| *latency_us).min(),
    }
}

/// Names and wake-up latencies of the first CPU's idle states.
fn states(directory: &Path) -> Vec<(String, i32)> {
    let read = |entry: fs::DirEntry| {
        let name = fs::read_to_string(entry.path().join("name")).ok()?;
        let latency_us = fs::read_to_string(entry.path().join("latency")).ok()?.trim().parse().ok()?;
        Some((name.trim().to_string(), latency_us))
    };
    fs::read_dir(directory).into_iter().flatten().flatten().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_guest_polls_and_a_machine_sleeps_as_lightly_as_it_can() {
        let states = [("POLL", 0), ("C1E", 10), ("C1", 2), ("C6", 133)];
        let states = states.map(|(name, latency_us)| (name.to_string(), latency_us));
        let table = [("intel_idle", Some(2)), ("haltpoll", Some(0)), ("none", None), ("", None)];
        for (driver, expected) in table {
            assert_eq!(latency_us(driver, &states), expected, "{driver}");
        }
        assert_eq!(latency_us("acpi_idle", &states[..1]), None, "it has nothing to choose from");
    }

    #[test]
    fn states_are_read_as_the_kernel_lays_them_out() {
        let directory = tempfile::tempdir().expect("a directory");
        for (number, name, latency) in [(0, "POLL\n", "0\n"), (1, "C1\n", "2\n"), (2, "odd\n", "none\n")] {
            let state = directory.path().join(format!("state{number}"));
            fs::create_dir(&state).expect("it is new");
            fs::write(state.join("name"), name).expect("it can be written");
            fs::write(state.join("latency"), latency).expect("it can be written");
        }
        let mut found = states(directory.path());
        found.sort();
        assert_eq!(found, [("C1".to_string(), 2), ("POLL".to_string(), 0)]);
        assert!(states(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn where_the_kernel_lets_us_idle_cpus_only_poll() {
        let times_asleep = || {
            let usage = fs::read_to_string(format!("{STATES}/state1/usage")).unwrap_or_default();
            usage.trim().parse::<u64>().unwrap_or(0)
        };
        let driver = fs::read_to_string(CPUIDLE).unwrap_or_default();
        let kept = Awake::keep();
        if driver.trim() != "haltpoll" || !matches!(kept, Ok(Some(_))) {
            eprintln!("skipped: no guest whose idle CPUs this user may keep awake: {driver:?} {kept:?}");
            return;
        }
        let before = times_asleep();
        // Each of these leaves a CPU with nothing to do for longer than it polls of itself.
        (0..50).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
        assert_eq!(times_asleep(), before, "CPU 0 slept");
    }
}
