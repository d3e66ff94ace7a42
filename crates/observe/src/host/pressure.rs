//! How long tasks of the whole machine waited for want of something (PSI), from `/proc/pressure`.

use model::{Signal, signals};

use crate::points::Points;
use crate::rates::Rates;
use crate::reread::Reread;

signals! {
    CPU = Signal::of_machine(
        "pressure.cpu_ratio", "ratio", "share of the time in which some task waited for a CPU"
    );
    IO = Signal::of_machine(
        "pressure.io_ratio", "ratio", "share of the time in which some task waited for a disk"
    );
    IO_FULL = Signal::of_machine(
        "pressure.io_full_ratio", "ratio", "share of the time in which all tasks waited for a disk"
    );
    MEMORY = Signal::of_machine(
        "pressure.memory_ratio", "ratio", "share of the time in which some task waited for memory"
    );
}

pub(super) const FILES: [&str; 3] = ["/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory"];

/// Reads the machine's pressure.
#[derive(Debug)]
pub(super) struct Pressure {
    files: [Option<Reread>; 3],
    rates: Rates,
}

impl Pressure {
    pub(super) fn open() -> Pressure {
        Pressure { files: FILES.map(Reread::open), rates: Rates::default() }
    }

    pub(super) fn sample(&mut self, points: &mut Points) {
        let [cpu, io, memory] = self.files.each_mut().map(|file| file.as_mut().and_then(Reread::text));
        let counts =
            [(&CPU, cpu, "some"), (&IO, io, "some"), (&IO_FULL, io, "full"), (&MEMORY, memory, "some")];
        for (signal, text, whose) in counts {
            self.rates.add(signal, text.and_then(|text| stalled_s(text, whose)), points);
        }
    }
}

/// Seconds in all that some (or all) tasks waited (Documentation/accounting/psi.rst: `some avg10=… total=MICROSECONDS`).
pub(crate) fn stalled_s(text: &str, whose: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.split(' ').next() == Some(whose))?;
    let micro: f64 = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(micro / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_some_and_of_all_tasks_is_read_by_name() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 \
                    total=1000000\n";
        assert_eq!((stalled_s(text, "some"), stalled_s(text, "full")), (Some(2.5), Some(1.0)));
    }
}
