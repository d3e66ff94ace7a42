//! Samples of waits and of moments on a CPU, as the kernel's programs leave them in their ring.

use aya::Pod;
use aya::maps::{MapData, RingBuf};

use super::classify::kind::FUTEX;
use super::raw::{MAX_TIERS, RawCell};

const MAX_FRAMES: usize = 20;

/// `struct class`: the waits that have one limit from which on they are long.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RawClass {
    tier: u32,
    call: i32,
    marks: u8,
    kind: u8,
    end: u8,
    unused: [u8; 5],
    address: u64,
}

impl RawClass {
    /// The class of a wait.
    pub(super) fn of(cell: &RawCell) -> RawClass {
        let RawCell { tier, call, marks, kind, end, object, .. } = *cell;
        let address = if kind == FUTEX { object } else { 0 };
        RawClass { tier, call, marks, kind, end, unused: [0; 5], address }
    }
}

/// `struct sample`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawSample {
    /// What the thread did.
    pub(super) cell: RawCell,
    /// When, by the kernel's monotonic clock.
    pub(super) at_ns: u64,
    /// How long the wait was.
    pub(super) ns: u64,
    /// The time that it stands for; 0 for a long wait that wasn't drawn, and for a moment on a CPU.
    pub(super) weight_ns: u64,
    /// Where in its own program a thread on a CPU was; 0 in the kernel.
    pub(super) address: u64,
    /// Its process.
    pub(super) process: u32,
    frame_bytes: u32,
    waker_tier: u32,
    /// The call that the one was in who ended the wait; below 0 is none.
    pub(super) waker_call: i32,
    waker: [u8; 16],
    frames: [u64; MAX_FRAMES],
}

impl RawSample {
    /// Addresses in the kernel, the innermost first.
    pub(super) fn frames(&self) -> &[u64] {
        let count = self.frame_bytes as usize / size_of::<u64>();
        &self.frames[..count.min(MAX_FRAMES)]
    }

    /// The number of the tier of the one who ended the wait.
    pub(super) fn waker_tier(&self) -> Option<usize> {
        Some(self.waker_tier as usize).filter(|tier| *tier < MAX_TIERS)
    }

    /// The name of the thread that ended the wait.
    pub(super) fn waker(&self) -> String {
        super::raw::text(&self.waker)
    }
}

// SAFETY: `repr(C)` and made of integers without padding between or behind them, which a test asserts; every pattern of bits
// is a value.
unsafe impl Pod for RawClass {}

/// What is in the ring, which is empty afterwards. No more is taken than has room in it: it may be filled meanwhile.
pub(super) fn drain(ring: &mut RingBuf<MapData>) -> Vec<RawSample> {
    const ROOM: usize = (4 << 20) / size_of::<RawSample>();
    let mut found = Vec::new();
    while found.len() < ROOM {
        let Some(item) = ring.next() else { break };
        if item.len() >= size_of::<RawSample>() {
            // SAFETY: there are as many bytes as it has, and every pattern of them is a value.
            found.push(unsafe { item.as_ptr().cast::<RawSample>().read_unaligned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_with_the_kernel_has_no_padding() {
        assert_eq!(size_of::<RawClass>(), 4 + 4 + 3 + 5 + 8);
        assert_eq!(size_of::<RawSample>(), size_of::<RawCell>() + 4 * 8 + 4 * 4 + 16 + MAX_FRAMES * 8);
    }
}
