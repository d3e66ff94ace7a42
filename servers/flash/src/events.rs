//! What is ready: by epoll, or by poll, which is told all connections each time as select() was.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Result;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Only for its end.
    End,
    Read,
    Write,
}

/// Something is ready, or at its end.
pub struct Ready {
    pub token: u64,
    pub ended: bool,
}

pub enum Events {
    Epoll(OwnedFd, Vec<epoll::Event>),
    Poll(Vec<(Rc<OwnedFd>, u64, Interest)>),
}

impl Events {
    pub fn epoll() -> Result<Events> {
        Ok(Events::Epoll(epoll::create(epoll::CreateFlags::CLOEXEC)?, Vec::with_capacity(512)))
    }

    /// From now on `token` tells of `fd`.
    pub fn add(&mut self, fd: &Rc<OwnedFd>, token: u64, interest: Interest) -> Result<()> {
        match self {
            Events::Epoll(set, _) => epoll::add(set, fd, epoll::EventData::new_u64(token), flags(interest)),
            Events::Poll(all) => {
                all.push((Rc::clone(fd), token, interest));
                Ok(())
            }
        }
    }

    pub fn change(&mut self, fd: &Rc<OwnedFd>, token: u64, interest: Interest) -> Result<()> {
        match self {
            Events::Epoll(set, _) => {
                epoll::modify(set, fd, epoll::EventData::new_u64(token), flags(interest))
            }
            Events::Poll(all) => {
                all.iter_mut().filter(|one| one.1 == token).for_each(|one| one.2 = interest);
                Ok(())
            }
        }
    }

    pub fn remove(&mut self, fd: &Rc<OwnedFd>, token: u64) {
        match self {
            // Another process may have it too: closing it alone would leave it in the set.
            Events::Epoll(set, _) => _ = epoll::delete(set, fd),
            Events::Poll(all) => all.retain(|one| one.1 != token),
        }
    }

    /// Waits for a second at most.
    pub fn wait(&mut self) -> Result<Vec<Ready>> {
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        match self {
            Events::Epoll(set, events) => {
                events.clear();
                epoll::wait(set, rustix::buffer::spare_capacity(events), Some(&second))?;
                let ended = epoll::EventFlags::HUP | epoll::EventFlags::ERR;
                let ready = |event: &epoll::Event| {
                    let (data, flags) = (event.data, event.flags);
                    Ready { token: data.u64(), ended: flags.intersects(ended) }
                };
                Ok(events.iter().map(ready).collect())
            }
            Events::Poll(all) => {
                let of = |interest| match interest {
                    Interest::End => PollFlags::empty(),
                    Interest::Read => PollFlags::IN,
                    Interest::Write => PollFlags::OUT,
                };
                let mut fds: Vec<PollFd<'_>> =
                    all.iter().map(|one| PollFd::new(&*one.0, of(one.2))).collect();
                poll(&mut fds, Some(&second))?;
                let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                let ready = all.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
                Ok(ready
                    .map(|(one, fd)| Ready { token: one.1, ended: fd.revents().intersects(ended) })
                    .collect())
            }
        }
    }
}

fn flags(interest: Interest) -> epoll::EventFlags {
    match interest {
        Interest::End => epoll::EventFlags::empty(),
        Interest::Read => epoll::EventFlags::IN,
        Interest::Write => epoll::EventFlags::OUT,
    }
}
