//! All that takes `unsafe`: mappings, a fork, memory that processes share, and the ring.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::{ptr, slice};

use io_uring::{IoUring, opcode, types};

use crate::job::{Given, Job, Reply, Task, root};

/// Forks this process, with copies of all its descriptors and mappings, and executes `program` with `out` as its output.
pub fn fork_exec(program: &CStr, args: &[&CStr], out: BorrowedFd<'_>) -> Result<()> {
    let mut words: Vec<*const libc::c_char> = args.iter().map(|word| word.as_ptr()).collect();
    words.push(ptr::null());
    // SAFETY: the child makes system calls only, on values made before the fork, and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last_os_error()),
        // SAFETY: as above; `words` ends with a null pointer, and what it points to lives in `args`.
        0 => unsafe {
            libc::dup2(out.as_raw_fd(), 1);
            libc::execv(program.as_ptr(), words.as_ptr());
            libc::_exit(127)
        },
        _ => Ok(()),
    }
}

/// A file in memory, for reading by the kernel alone: no reference to its bytes is ever made, so that a file that shrinks
/// fails a call and nothing else.
pub struct Mapping {
    at: *mut libc::c_void,
    len: usize,
}

impl Mapping {
    /// Of `len` bytes, more than 0, from `offset`, a multiple of the page size.
    pub fn of(file: &OwnedFd, offset: u64, len: usize) -> Result<Mapping> {
        let (fd, offset) = (file.as_raw_fd(), offset as libc::off_t);
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of ours.
        let at = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, offset) };
        if at == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(Mapping { at, len }) }
    }

    /// What `mincore` says of `len` bytes from `offset`, a multiple of the page size. Since Linux 5.2 that is yes to
    /// whoever may not write the file.
    pub fn is_resident(&self, offset: usize, len: usize) -> bool {
        let len = len.min(self.len.saturating_sub(offset));
        let mut pages = vec![0u8; len.div_ceil(4096)];
        // SAFETY: the range lies within the mapping, and `pages` has a byte for each page of it.
        let done = unsafe { libc::mincore(self.at.byte_add(offset.min(self.len)), len, pages.as_mut_ptr()) };
        done == 0 && pages.iter().all(|page| page & 1 == 1)
    }

    /// Sends some of the bytes from `offset`; the number sent.
    pub fn send(&self, socket: &OwnedFd, offset: usize, len: usize) -> Result<usize> {
        let (offset, fd) = (offset.min(self.len), socket.as_raw_fd());
        let len = len.min(self.len - offset);
        // SAFETY: the range lies within the mapping; the kernel reads it, and says EFAULT where the file has shrunk.
        let sent = unsafe { libc::send(fd, self.at.byte_add(offset), len, libc::MSG_NOSIGNAL) };
        usize::try_from(sent).map_err(|_| Error::last_os_error())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it.
        unsafe { libc::munmap(self.at, self.len) };
    }
}

/// The first `number` counters of a file of memory, which all processes that have it share.
pub fn counters(file: BorrowedFd<'_>, number: usize) -> Result<&'static [AtomicI64]> {
    let (len, access) = (number * size_of::<AtomicI64>(), libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: a new mapping at a place of the kernel's choice touches no memory of ours.
    let at = unsafe { libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    // SAFETY: the mapping is aligned to a page, as long as that, zero at first, never unmapped, and the file never shrinks;
    // everybody changes it by atomic operations only.
    Ok(unsafe { slice::from_raw_parts(at.cast::<AtomicI64>(), number) })
}

/// Opens and reads that the kernel's own threads wait for. It is never dropped: the kernel writes into `started`.
pub struct Ring {
    ring: IoUring,
    started: HashMap<u64, Started>,
    last: u64,
}

struct Started {
    job: Job,
    path: CString,
    buffer: Vec<u8>,
}

impl Ring {
    pub fn start(events: &OwnedFd) -> Result<&'static mut Ring> {
        let ring = IoUring::new(256)?;
        ring.submitter().register_eventfd(events.as_raw_fd())?;
        Ok(Box::leak(Box::new(Ring { ring, started: HashMap::new(), last: 0 })))
    }

    pub fn submit(&mut self, job: Job) -> Result<()> {
        self.last += 1;
        let (len, path) = (job.task.len(), CString::new(&job.path[..])?);
        let started = self.started.entry(self.last).or_insert(Started { job, path, buffer: vec![0; len] });
        let entry = match (&started.job.task, &started.job.file) {
            (Task::Read { offset, .. }, Some(file)) => {
                let (fd, at) = (types::Fd(file.as_raw_fd()), started.buffer.as_mut_ptr());
                opcode::Read::new(fd, at, len as u32).offset(*offset).build()
            }
            _ => {
                let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
                opcode::OpenAt::new(types::Fd(root().as_raw_fd()), started.path.as_ptr()).flags(flags).build()
            }
        };
        let entry = entry.user_data(self.last);
        // SAFETY: path, buffer and file stay where they are in `started` until the kernel has answered.
        while unsafe { self.ring.submission().push(&entry) }.is_err() {
            self.ring.submit()?;
        }
        self.ring.submit().map(|_| ())
    }

    /// What the kernel has answered.
    pub fn replies(&mut self) -> Vec<Reply> {
        let done: Vec<(u64, i32)> =
            self.ring.completion().map(|done| (done.user_data(), done.result())).collect();
        let reply = |(id, result): (u64, i32)| {
            let Started { job, mut buffer, .. } = self.started.remove(&id)?;
            let outcome = match job.task {
                _ if result < 0 => Err(rustix::io::Errno::from_raw_os_error(-result)),
                Task::Open => {
                    // SAFETY: the kernel has just opened it for this operation, and nobody else knows it.
                    Given::of_file(unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(result) })
                }
                Task::Read { .. } => {
                    buffer.truncate(result as usize);
                    Ok(Given { bytes: buffer, ..Given::default() })
                }
            };
            Some(Reply { job, outcome })
        };
        done.into_iter().filter_map(reply).collect()
    }
}

/// Keeps a file that an operation of the kernel's reads.
pub type File = Arc<OwnedFd>;
