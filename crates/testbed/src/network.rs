//! Networks of their own (network namespaces, network_namespaces(7)): made, and entered.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

/// The way into a network that nobody is in yet.
pub(crate) fn network() -> io::Result<OwnedFd> {
    let apart = || -> io::Result<OwnedFd> {
        // SAFETY: with this flag alone it is the network of the calling thread that becomes another; memory, descriptors
        // and directories stay shared with the others.
        let moved = unsafe { unshare_unsafe(UnshareFlags::NEWNET) };
        moved?;
        File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
    };
    on_a_thread(apart)
}

/// Does `work` in the network behind `door`, on a thread that ends with it: no other may be left in there.
pub(crate) fn inside<T: Send + 'static>(
    door: &OwnedFd,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let door = door.try_clone()?;
    on_a_thread(move || enter(&door).and_then(|()| work()))
}

fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    let thread = thread::Builder::new().name("network".to_string()).spawn(work)?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that does it has ended")))
}

/// Moves the calling thread into the network behind `door`. Safe between fork and exec: a system call, and no memory.
pub(crate) fn enter(door: &OwnedFd) -> io::Result<()> {
    move_into_link_name_space(door.as_fd(), Some(LinkNameSpaceType::Network)).map_err(io::Error::from)
}
