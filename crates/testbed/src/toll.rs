//! What a packet costs whoever sends it, in CPU time: a program of the kernel's at the card (`bpf/toll.bpf.c`), which tc(8) loads.

use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::iproute::{output_of, run};
use crate::refusal::HostRefusal;

/// The program, as `scripts/bpf.sh` makes it.
const OBJECT: &[u8] = include_bytes!("../bpf/toll.bpf.o");
/// What stands before its figures.
const MARK: [u8; 8] = *b"Plmptoll";

/// Lets each packet that the card `device` sends to `receiver` (to anybody when absent), in the network behind `door` where one is
/// given, cost `cost_us` of its sender's CPU time.
pub(crate) fn charge(
    device: &str,
    cost_us: u32,
    receiver: Option<Ipv4Addr>,
    door: Option<&OwnedFd>,
) -> Result<(), HostRefusal> {
    let program = program(cost_us, receiver).and_then(|bytes| in_memory(&bytes));
    let program = program.map_err(|error| HostRefusal::Cost(error.to_string()))?;
    // One that is there stays.
    run("tc", &format!("qdisc replace dev {device} clsact"), door).map_err(HostRefusal::Cost)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), program.as_raw_fd());
    let filter = format!("filter add dev {device} egress bpf direct-action object-file {path} section tc");
    let words = ALONE.into_iter().chain(filter.split_ascii_whitespace()).map(Into::into);
    output_of("unshare", words.collect(), door).map(drop).map_err(HostRefusal::Cost)
}

/// `tc` where what it mounts and makes below /sys/fs/bpf is seen by nobody else, and gone with it: it would leave that behind.
const ALONE: [&str; 6] =
    ["--mount", "--propagation=private", "sh", "-c", "mount -t bpf bpf /sys/fs/bpf && exec tc \"$@\"", "tc"];

/// The program with its figures.
fn program(cost_us: u32, receiver: Option<Ipv4Addr>) -> io::Result<Vec<u8>> {
    let mut bytes = OBJECT.to_vec();
    let place = bytes.windows(MARK.len()).position(|window| window == MARK);
    let figures = place.map(|place| place + MARK.len()).filter(|place| place + 12 <= bytes.len());
    let place = figures.ok_or_else(|| io::Error::other("the program has no place for its figures"))?;
    bytes[place..place + 8].copy_from_slice(&(u64::from(cost_us) * 1_000).to_le_bytes());
    let receiver = receiver.map_or([0; 4], |receiver| receiver.octets());
    bytes[place + 8..place + 12].copy_from_slice(&receiver);
    Ok(bytes)
}

/// A file without a name.
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("toll", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_its_figures_where_it_looks_for_them() {
        let bytes = program(30, Some(Ipv4Addr::new(198, 18, 0, 2))).expect("it has a place for them");
        let changed: Vec<u8> =
            bytes.iter().zip(OBJECT).filter(|(new, old)| new != old).map(|(new, _)| *new).collect();
        // 30,000 in its two lowest bytes, then the address but for its third byte, which is 0.
        assert_eq!(changed, [0x30, 0x75, 198, 18, 2]);
    }
}
