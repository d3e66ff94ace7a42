//! Calls in which no thread of some tiers may wait for the disk: the first that does ends its process, and leaves a core.

use aya::Pod;

use super::raw::RawCell;
use crate::abort_on::AbortOn;

/// `struct forbidden`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawForbidden {
    tier: u32,
    call: i32,
}

/// `struct prefix`: how the names of the threads begin.
pub(super) type RawPrefix = [u8; 16];

/// `struct aborted`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RawAborted {
    pub(super) cell: RawCell,
    /// When, by the kernel's monotonic clock; 0 is not yet.
    pub(super) at_ns: u64,
    pub(super) ns: u64,
    pub(super) process: u32,
    pub(super) thread: u32,
}

// SAFETY: `repr(C)`, made of integers without padding, which a test asserts; every pattern of bits is a value.
unsafe impl Pod for RawForbidden {}
// SAFETY: as above.
unsafe impl Pod for RawAborted {}

/// Every wait that is forbidden in the tier with the number `tier`, to threads whose names begin so; to all when empty.
/// The kernel compares one beginning: the first.
pub(super) fn forbidden(wait: &AbortOn, tier: u32, threads: &[String]) -> Vec<(RawForbidden, RawPrefix)> {
    let mut prefix = RawPrefix::default();
    let name = threads.first().map_or(&[][..], |name| name.as_bytes());
    // The last byte of a thread's name is a zero.
    prefix[..15].iter_mut().zip(name).for_each(|(byte, known)| *byte = *known);
    wait.calls().iter().map(|call| (RawForbidden { tier, call: *call }, prefix)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_with_the_kernel_has_no_padding() {
        assert_eq!(size_of::<RawForbidden>(), 2 * 4);
        assert_eq!(size_of::<RawAborted>(), size_of::<RawCell>() + 2 * 8 + 2 * 4);
    }

    #[test]
    fn a_wait_is_forbidden_to_the_threads_whose_name_begins_so() {
        let wait: AbortOn = "openat:disk".parse().expect("a wait");
        let all = forbidden(&wait, 3, &["loop".to_string()]);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].0.tier, &all[0].1[..5]), (3, &b"loop\0"[..]));
        assert_eq!(forbidden(&wait, 3, &[])[0].1, [0; 16], "to all");
    }
}
