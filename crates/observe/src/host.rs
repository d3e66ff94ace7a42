//! The machine, one file an observer: each reads one source of the kernel and gives its series.

mod cpu;
mod descriptors;
mod disk;
mod far;
mod memory;
mod network;
mod number;
mod pressure;
mod steal;

use std::fs::File;

use model::Signal;

use crate::points::Points;
use cpu::Cpu;
use descriptors::Descriptors;
use disk::Disk;
use memory::Memory;
use network::Network;
use pressure::Pressure;

pub(crate) use far::FarHost;
pub(crate) use pressure::stalled_s;
pub use steal::StealSince;

/// Every signal of the machine of tiers that are on another one.
pub(crate) fn signals_of_far() -> impl Iterator<Item = &'static Signal> {
    far::SIGNALS.iter().copied()
}

/// Every signal of the machine.
pub(crate) fn signals() -> impl Iterator<Item = &'static Signal> {
    let all = [
        cpu::SIGNALS,
        pressure::SIGNALS,
        memory::SIGNALS,
        disk::SIGNALS,
        network::SIGNALS,
        descriptors::SIGNALS,
    ];
    all.into_iter().flatten().copied()
}

/// Reads the machine once a second.
#[derive(Debug)]
pub(crate) struct Host {
    cpu: Option<Cpu>,
    memory: Memory,
    disk: Option<Disk>,
    network: Network,
    descriptors: Option<Descriptors>,
    pressure: Pressure,
}

impl Host {
    /// What of the machine can be read. `stack` are the CPUs that the tiers may use; all when empty.
    pub(crate) fn open(stack: &[usize]) -> Host {
        Host {
            cpu: Cpu::open(stack),
            memory: Memory::open(),
            disk: Disk::open(),
            network: Network::open(),
            descriptors: Descriptors::open(),
            pressure: Pressure::open(),
        }
    }

    /// What this kernel doesn't have, for people.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let one = [cpu::FILE, disk::FILE, descriptors::FILE];
        let several = memory::FILES.iter().chain(&network::FILES).chain(&pressure::FILES);
        let missing = one.iter().chain(several).filter(|path| File::open(path).is_err());
        missing.map(|path| format!("of the machine: this kernel has no {path}")).collect()
    }

    /// Adds what is seen now. `known_cores` is the CPU time a second that tiers, generator and observers used since the
    /// last sample.
    pub(crate) fn sample(&mut self, known_cores: f64, points: &mut Points) {
        if let Some(cpu) = &mut self.cpu {
            cpu.sample(known_cores, points);
        }
        self.pressure.sample(points);
        self.memory.sample(points);
        if let Some(disk) = &mut self.disk {
            disk.sample(points);
        }
        self.network.sample(points);
        if let Some(descriptors) = &mut self.descriptors {
            descriptors.sample(points);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_tells_its_rates_with_the_second_reading() {
        let mut host = Host::open(&[]);
        let mut first = Points::at(0.0);
        host.sample(0.0, &mut first);
        assert!(first.found.iter().all(|one| one.name != "switches.per_s"), "{:?}", first.found);
        let mut second = Points::at(1.0);
        host.sample(0.0, &mut second);
        for name in
            ["switches.per_s", "cpu.user_cores", "stack.busy_ratio", "net.bytes", "memory.available_bytes"]
        {
            assert!(second.found.iter().any(|one| one.name == name), "{name}: {:?}", second.found);
        }
    }
}
