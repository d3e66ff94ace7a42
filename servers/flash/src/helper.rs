//! Helpers: processes, or threads, that do what blocks, one job each, and may pass the descriptor of what they have opened.
//!
//! A job is a message: a byte for its kind, one for whether the descriptor is wanted, offset and length, the path. An answer
//! is one: the error or 0, size and time of change, and the descriptor beside it. A program to be started is a message, too:
//! its query, and the descriptor of where its output goes; it has no answer.

use std::collections::VecDeque;
use std::ffi::CString;
use std::io::{Error, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::rc::Rc;

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::job::{self, CHUNK_BYTES, Given, Job, Reply, Task};
use crate::sys;

const OPEN: u8 = 0;
const READ: u8 = 1;
const PROGRAM: u8 = 2;
const HEAD_BYTES: usize = 18;
const MAX_MESSAGE_BYTES: usize = 16_384;
/// A job that this number of helpers have died of is not done.
const MAX_DEATHS: u32 = 2;

/// A helper as the loop has it.
pub struct Helper {
    pub socket: Rc<OwnedFd>,
    busy: Option<(Job, u32)>,
}

/// The helpers, and the jobs that wait for one.
pub struct Helpers {
    pub all: Vec<Helper>,
    queue: VecDeque<(Job, u32)>,
    are_threads: bool,
}

/// Starts a helper: its socket.
pub fn start(as_thread: bool) -> std::io::Result<Rc<OwnedFd>> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    if as_thread {
        std::thread::Builder::new().spawn(move || run(&theirs))?;
    } else {
        let root = format!("/proc/self/fd/{}", job::root().as_raw_fd());
        let mut command = Command::new("/proc/self/exe");
        command.arg("helper").current_dir(root).stdin(theirs).stdout(Stdio::null()).spawn()?;
    }
    Ok(Rc::new(ours))
}

impl Helpers {
    pub fn start(number: usize, are_threads: bool) -> std::io::Result<Helpers> {
        let start = |_| Ok(Helper { socket: start(are_threads)?, busy: None });
        let all = (0..number).map(start).collect::<std::io::Result<_>>()?;
        Ok(Helpers { all, queue: VecDeque::new(), are_threads })
    }

    pub fn submit(&mut self, job: Job) {
        self.queue.push_back((job, 0));
        self.hand_out();
    }

    fn hand_out(&mut self) {
        for helper in self.all.iter_mut().filter(|helper| helper.busy.is_none()) {
            let Some((job, deaths)) = self.queue.pop_front() else { return };
            let (kind, offset) = match job.task {
                Task::Open => (OPEN, 0),
                Task::Read { offset, .. } => (READ, offset),
            };
            let text = message(kind, job.passes, offset, job.task.len() as u64, &job.path);
            // Where it is dead that shows at its socket, and the job is another's.
            _ = send(&helper.socket, &text, None);
            helper.busy = Some((job, deaths));
        }
    }

    /// What the helper that is ready says; where it has died instead another takes its place: `Err`, with its job if that is
    /// given up.
    pub fn answer(
        &mut self,
        index: usize,
    ) -> std::io::Result<Option<std::result::Result<Reply, Option<Job>>>> {
        let helper = &mut self.all[index];
        let mut buffer = [0; 32];
        let answer = match receive(&helper.socket, &mut buffer, RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Ok((24.., file)) => helper.busy.take().map(|(job, _)| {
                let (size, modified_s) = (word(&buffer, 8), word(&buffer, 16) as i64);
                let outcome = match word(&buffer, 0) as i32 {
                    0 => Ok(Given { file, size, modified_s, bytes: Vec::new() }),
                    errno => Err(Errno::from_raw_os_error(errno)),
                };
                Ok(Reply { job, outcome })
            }),
            _ => {
                let (job, deaths) =
                    helper.busy.take().map_or((None, 0), |(job, deaths)| (Some(job), deaths + 1));
                let given_up = if deaths < MAX_DEATHS {
                    self.queue.extend(job.map(|job| (job, deaths)));
                    None
                } else {
                    job
                };
                self.all[index] = Helper { socket: start(self.are_threads)?, busy: None };
                Some(Err(given_up))
            }
        };
        self.hand_out();
        Ok(answer)
    }
}

fn message(kind: u8, passes: bool, offset: u64, len: u64, path: &[u8]) -> Vec<u8> {
    [&[kind, u8::from(passes)], &offset.to_le_bytes()[..], &len.to_le_bytes(), path].concat()
}

fn word(message: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| message[at + byte]))
}

fn send(socket: &OwnedFd, text: &[u8], file: Option<BorrowedFd<'_>>) -> Result<()> {
    let files: Vec<BorrowedFd<'_>> = file.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        beside.push(SendAncillaryMessage::ScmRights(&files));
    }
    sendmsg(socket, &[IoSlice::new(text)], &mut beside, SendFlags::NOSIGNAL).map(|_| ())
}

fn receive(socket: &OwnedFd, buffer: &mut [u8], flags: RecvFlags) -> Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let bytes = recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut beside, flags)?.bytes;
    let files = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok((bytes, files.last()))
}

/// A helper's life: until the loop has closed its end.
pub fn run(socket: &OwnedFd) -> std::io::Result<()> {
    rustix::thread::set_name(c"helper")?;
    let (mut buffer, mut scratch) = (vec![0; MAX_MESSAGE_BYTES], vec![0; CHUNK_BYTES as usize]);
    loop {
        let (length, out) = match receive(socket, &mut buffer, RecvFlags::empty()) {
            Ok((HEAD_BYTES.., out)) => (buffer.len(), out),
            Err(Errno::INTR) => continue,
            _ => return Ok(()),
        };
        let path = buffer[HEAD_BYTES..length].split(|&byte| byte == 0).next().unwrap_or_default();
        if let (PROGRAM, Some(out)) = (buffer[0], &out) {
            if let Err(error) = execute(path, out.as_fd()) {
                eprintln!("flash: failed to start a program: {error}");
            }
            reap();
        } else {
            let outcome = job::open(path).and_then(|given| match &given.file {
                Some(file) if buffer[0] == READ => {
                    read_through(file, word(&buffer, 2), word(&buffer, 10), &mut scratch).map(|()| given)
                }
                _ => Ok(given),
            });
            let errno = outcome.as_ref().map_or_else(|errno| i64::from(errno.raw_os_error()), |_| 0);
            let given = outcome.unwrap_or_default();
            let words = [errno as u64, given.size, given.modified_s as u64];
            let file = given.file.as_ref().filter(|_| buffer[1] == 1).map(AsFd::as_fd);
            send(socket, &words.map(u64::to_le_bytes).concat(), file)?;
        }
        buffer.fill(0);
    }
}

/// Brings a part of a file into memory.
fn read_through(file: &OwnedFd, offset: u64, len: u64, scratch: &mut [u8]) -> Result<()> {
    let (mut at, end) = (offset, offset.saturating_add(len));
    while at < end {
        let wanted = scratch.len().min((end - at) as usize);
        match rustix::io::pread(file, &mut scratch[..wanted], at) {
            Ok(0) => break,
            Ok(number) => at += number as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Lets the helper at `socket`, which is small so that a fork copies little, start the program of `/cgi/`.
pub fn start_program(socket: &OwnedFd, query: &[u8], out: BorrowedFd<'_>) -> Result<()> {
    send(socket, &message(PROGRAM, false, 0, 0, query), Some(out))
}

/// Starts the program of `/cgi/`, which is this one in a role, with the query as its argument.
pub fn execute(query: &[u8], out: BorrowedFd<'_>) -> std::io::Result<()> {
    let program = CString::new(std::env::current_exe()?.as_os_str().as_bytes())?;
    let query = CString::new(query).map_err(Error::other)?;
    sys::fork_exec(&program, &[&program, c"stub", &query], out)
}

/// Takes note of children that have ended.
pub fn reap() {
    while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
}
