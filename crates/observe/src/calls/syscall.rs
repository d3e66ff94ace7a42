//! System calls: their names, and where each has what it waits for.

use libc::c_long;
use syscalls::Sysno;

/// Where a call has its object, as `ledger.bpf.c` numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Shape {
    /// The first argument is a descriptor.
    Descriptor = 1,
    /// The first argument is a path.
    Path = 2,
    /// The second argument is a path.
    SecondPath = 3,
    /// The first argument is a list of descriptors, the second its length.
    Poll = 4,
    /// The first two arguments are descriptors: to and from.
    BothDescriptors = 5,
    /// The first argument is an address in memory, the second what is done there.
    Address = 6,
}

/// Every call that has an object, with where it is.
pub(super) fn shapes() -> impl Iterator<Item = (u32, Shape)> {
    let of = |shape: Shape| move |call: &c_long| (*call as u32, shape);
    let descriptor = DESCRIPTOR.iter().map(of(Shape::Descriptor));
    let path = PATH.iter().map(of(Shape::Path));
    let second = SECOND_PATH.iter().map(of(Shape::SecondPath));
    let poll = POLL.iter().map(of(Shape::Poll));
    let one = [(libc::SYS_sendfile as u32, Shape::BothDescriptors), (libc::SYS_futex as u32, Shape::Address)];
    descriptor.chain(path).chain(second).chain(poll).chain(one)
}

/// The name of a call; of one that is newer than this program its number.
pub(super) fn name(call: i32) -> String {
    if call < 0 {
        return PAGE_FAULT.to_string();
    }
    let known = usize::try_from(call).ok().and_then(Sysno::new);
    known.map_or_else(|| format!("call {call}"), |known| known.name().to_string())
}

/// Blocked without a call: a page was not there.
pub(super) const PAGE_FAULT: &str = "page fault";

const DESCRIPTOR: [c_long; 38] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_ioctl,
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmmsg,
    libc::SYS_shutdown,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_sync_file_range,
    libc::SYS_fadvise64,
    libc::SYS_getdents64,
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_splice,
    libc::SYS_copy_file_range,
    libc::SYS_readahead,
];

#[cfg(target_arch = "x86_64")]
const PATH: [c_long; 16] = [
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_execve,
    libc::SYS_truncate,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_creat,
    libc::SYS_link,
    libc::SYS_unlink,
    libc::SYS_readlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_symlink,
];
#[cfg(not(target_arch = "x86_64"))]
const PATH: [c_long; 0] = [];

const SECOND_PATH: [c_long; 11] = [
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_mkdirat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
];

#[cfg(target_arch = "x86_64")]
const POLL: [c_long; 2] = [libc::SYS_poll, libc::SYS_ppoll];
#[cfg(not(target_arch = "x86_64"))]
const POLL: [c_long; 1] = [libc::SYS_ppoll];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_call_has_one_place_for_its_object_and_a_name() {
        let calls: Vec<u32> = shapes().map(|(call, _)| call).collect();
        assert_eq!(calls.iter().collect::<HashSet<_>>().len(), calls.len(), "{calls:?}");
        assert!(calls.iter().all(|call| *call < 512), "the kernel's table has 512 rows");
        let named = |call: c_long| name(call as i32);
        assert_eq!([named(libc::SYS_openat), named(libc::SYS_futex)], ["openat", "futex"]);
        assert_eq!([name(-1), name(9_999)], ["page fault", "call 9999"]);
    }
}
