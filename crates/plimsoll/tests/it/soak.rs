//! A run of a quarter of an hour: what may not grow with time does not. Run by `scripts/test-long.sh soak`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::tool::{Home, have};

const STACK: &str = "apache-prefork-modphp-mariadb";
const STEADY: Duration = Duration::from_secs(15 * 60);
/// By then everything that a run needs has been allocated.
const SETTLED: Duration = Duration::from_secs(3 * 60);

/// Resident memory and open descriptors of a process.
#[derive(Debug, Clone, Copy)]
struct Size {
    resident_kb: u64,
    descriptors: usize,
}

fn size(pid: u32) -> Option<Size> {
    let folder = Path::new("/proc").join(pid.to_string());
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let resident_kb = resident.trim().trim_end_matches(" kB").parse().ok()?;
    Some(Size { resident_kb, descriptors: fs::read_dir(folder.join("fd")).ok()?.count() })
}

#[test]
fn a_long_run_is_valid_and_neither_memory_nor_descriptors_grow() {
    if !have(STACK) {
        return;
    }
    let words = format!(
        "run dvdstore --stack {STACK} --users 20 --ramp-up 10s --steady {}s --json",
        STEADY.as_secs()
    );
    let running = Home::shared().plimsoll(&words).start();
    let (pid, over, begun) = (running.pid(), AtomicBool::new(false), Instant::now());
    let (ended, settled, last) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let (mut settled, mut last) = (None, None);
            while !over.load(Ordering::Relaxed) {
                let steady = (SETTLED..STEADY).contains(&begun.elapsed());
                if let Some(size) = size(pid).filter(|_| steady) {
                    settled.get_or_insert(size);
                    last = Some(size);
                }
                std::thread::sleep(Duration::from_secs(1));
            }
            (settled, last)
        });
        let ended = running.wait();
        over.store(true, Ordering::Relaxed);
        let (settled, last) = watching.join().expect("the watcher ends");
        (ended, settled, last)
    });
    let record = ended.expect(0).json();
    assert_eq!(record["verdict"]["valid"], true, "{:#}", record["validity"]);
    let (settled, last) = (settled.expect("it ran for minutes"), last.expect("it ran for minutes"));
    assert!(
        last.resident_kb <= settled.resident_kb + settled.resident_kb / 10 + 4096,
        "{settled:?}, then {last:?}"
    );
    assert!(last.descriptors <= settled.descriptors + 4, "{settled:?}, then {last:?}");
    Home::shared().expect_nothing_left();
}
