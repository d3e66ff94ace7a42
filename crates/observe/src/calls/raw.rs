//! What the programs in the kernel and this one share: the layout of `ledger.bpf.c` and `aborts.h`.

use aya::Pod;
use aya::maps::PerCpuValues;

/// What a thread does, as `ledger.bpf.c` numbers it.
pub(super) const READY: u8 = 1;
pub(super) const BLOCKED: u8 = 2;
pub(super) const STATES: u32 = 4;

/// The number of tiers that can be told apart.
pub(super) const MAX_TIERS: usize = 64;

/// `struct cell`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct RawCell {
    pub(super) tier: u32,
    pub(super) role: u32,
    pub(super) call: i32,
    pub(super) state: u8,
    pub(super) marks: u8,
    pub(super) kind: u8,
    pub(super) end: u8,
    pub(super) device: u64,
    pub(super) object: u64,
}

/// `struct sum`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RawSum {
    pub(super) count: u64,
    pub(super) ns: u64,
    pub(super) max_ns: u64,
}

impl RawSum {
    /// The sum of each CPU's.
    pub(super) fn of(each: &PerCpuValues<RawSum>) -> RawSum {
        each.iter().fold(RawSum::default(), |sum, one| RawSum {
            count: sum.count + one.count,
            ns: sum.ns + one.ns,
            max_ns: sum.max_ns.max(one.max_ns),
        })
    }
}

/// `struct call_key`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RawCall {
    pub(super) tier: u32,
    pub(super) role: u32,
    pub(super) call: i32,
}

/// `struct name_key`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NameKey {
    pub(super) kind: u64,
    pub(super) device: u64,
    pub(super) object: u64,
}

/// `struct name`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawName {
    parent: [u8; 32],
    text: [u8; 96],
}

impl RawName {
    /// The name of the directory, where it has one, and the name.
    pub(super) fn parts(&self) -> (String, String) {
        (text(&self.parent), text(&self.text))
    }
}

/// Up to the first zero.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

// SAFETY: each is `repr(C)` and made of integers without padding between or behind them, which a test asserts; every pattern
// of bits is a value.
unsafe impl Pod for RawCell {}
// SAFETY: as above.
unsafe impl Pod for RawSum {}
// SAFETY: as above.
unsafe impl Pod for RawCall {}
// SAFETY: as above.
unsafe impl Pod for NameKey {}
// SAFETY: as above.
unsafe impl Pod for RawName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_with_the_kernel_has_no_padding() {
        assert_eq!(size_of::<RawCell>(), 4 + 4 + 4 + 4 + 8 + 8);
        assert_eq!(size_of::<RawSum>(), 3 * 8);
        assert_eq!(size_of::<RawCall>(), 3 * 4);
        assert_eq!(size_of::<NameKey>(), 3 * 8);
        assert_eq!(size_of::<RawName>(), 32 + 96);
    }
}
