//! A question to a server on this machine, asked on a connection of its own, for which nothing waits longer than until a
//! deadline.
//!
//! A connection that is given up stays in the queue of a server that is too full to take it, until it is taken: a question
//! a second would fill that queue with our own. So one that is not answered in time stays open, and the next reading waits
//! for its answer instead of asking again.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use model::catalogue::server_job::StatusPlace;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// More than any status has: 16 kB for each of a thousand threads.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// A question this old is not answered any more: what has it may hang, and another may be asked.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks one server one question after the other: at most one of them waits for its answer.
#[derive(Debug)]
pub(super) struct Asker {
    place: StatusPlace,
    pending: Option<Exchange>,
}

impl Asker {
    pub(super) fn new(place: &StatusPlace) -> Asker {
        Asker { place: place.clone(), pending: None }
    }

    /// The answer to `question`, or to the one before that still waits for its own: all that comes until the server closes
    /// or `enough` says so.
    pub(super) fn ask(
        &mut self,
        question: &[u8],
        enough: impl Fn(&[u8]) -> bool,
        deadline: Instant,
    ) -> io::Result<Vec<u8>> {
        let pending = self.pending.take().filter(|pending| pending.asked.elapsed() < ANSWER_TIMEOUT);
        let mut exchange = match pending {
            Some(pending) => pending,
            None => Exchange::begin(&self.place, question, deadline)?,
        };
        match exchange.receive(enough, deadline) {
            Ok(()) => Ok(exchange.answer),
            Err(error) => {
                self.pending = is_late(&error).then_some(exchange);
                Err(error)
            }
        }
    }
}

/// A question that was asked, and what has come of its answer.
#[derive(Debug)]
struct Exchange {
    stream: Stream,
    asked: Instant,
    answer: Vec<u8>,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Exchange {
    fn begin(place: &StatusPlace, question: &[u8], deadline: Instant) -> io::Result<Exchange> {
        let mut stream = match place {
            StatusPlace::Port(port) => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
                Stream::Tcp(TcpStream::connect_timeout(&address, left(deadline)?)?)
            }
            StatusPlace::Socket(path) => Stream::Unix(connected(path)?),
        };
        // So short a question fits into the socket's buffer, whether anybody takes the connection or not.
        let timeout = Some(ANSWER_TIMEOUT);
        match &mut stream {
            Stream::Tcp(stream) => {
                stream.set_write_timeout(timeout).and_then(|()| stream.write_all(question))?;
            }
            Stream::Unix(stream) => {
                stream.set_write_timeout(timeout).and_then(|()| stream.write_all(question))?;
            }
        }
        Ok(Exchange { stream, asked: Instant::now(), answer: Vec::new() })
    }

    fn receive(&mut self, enough: impl Fn(&[u8]) -> bool, deadline: Instant) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        while !enough(&self.answer) {
            let left = Some(left(deadline)?);
            let read = match &mut self.stream {
                Stream::Tcp(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(&mut buffer)),
                Stream::Unix(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(&mut buffer)),
            };
            match read {
                Ok(0) => break,
                Ok(read) => self.answer.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.answer.len() > MAX_ANSWER_BYTES {
                return Err(wrong("the answer is too long"));
            }
        }
        Ok(())
    }
}

/// A connection to a unix socket, or an error at once where its queue is full: to connect would wait without a limit for a
/// place in it.
fn connected(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Whether the deadline came before the answer; a read that timed out says that it would block.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// What is left of the time; an error when nothing is.
pub(super) fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

pub(super) fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that takes no connection by itself, and who asks it.
    fn full() -> (TcpListener, Asker) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        (listener, Asker::new(&StatusPlace::Port(port)))
    }

    fn ask(asker: &mut Asker, timeout: Duration) -> io::Result<Vec<u8>> {
        asker.ask(b"how are you", |_| false, Instant::now() + timeout)
    }

    /// The number of connections that wait to be taken.
    fn waiting(listener: &TcpListener) -> Vec<TcpStream> {
        listener.set_nonblocking(true).expect("it can be asked without waiting");
        std::iter::from_fn(|| listener.accept().ok().map(|(stream, _)| stream)).collect()
    }

    /// A connection whose question was read: one that is closed before that is broken off, and its answer lost.
    fn heard(mut stream: TcpStream) -> TcpStream {
        let mut question = [0; 11];
        stream.read_exact(&mut question).expect("the question came with the connection");
        stream
    }

    const SHORT: Duration = Duration::from_millis(100);
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn what_is_not_answered_in_time_is_waited_for_and_not_asked_again() {
        let (listener, mut asker) = full();
        for _ in 0..3 {
            assert!(ask(&mut asker, SHORT).is_err_and(|error| is_late(&error)));
        }
        let mut queue = waiting(&listener);
        assert_eq!(queue.len(), 1, "one connection of ours waits, however often it was asked");
        let mut taken = heard(queue.remove(0));
        taken.write_all(b"well").expect("its other end is open");
        drop(taken);
        assert_eq!(ask(&mut asker, LONG).expect("the answer to the first question"), b"well");
        assert!(ask(&mut asker, SHORT).is_err());
        assert_eq!(waiting(&listener).len(), 1, "what was answered is asked anew");
    }

    #[test]
    fn a_part_of_an_answer_is_kept_until_the_rest_comes() {
        let (listener, mut asker) = full();
        assert!(ask(&mut asker, SHORT).is_err());
        let mut taken = heard(waiting(&listener).remove(0));
        taken.write_all(b"very ").expect("its other end is open");
        assert!(ask(&mut asker, SHORT).is_err());
        taken.write_all(b"well").expect("its other end is open");
        drop(taken);
        assert_eq!(ask(&mut asker, LONG).expect("both parts"), b"very well");
    }

    #[test]
    fn a_socket_whose_queue_is_full_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("socket");
        let address = SocketAddrUnix::new(&path).expect("a short path");
        let listener = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
        net::bind(&listener, &address).expect("its path is free");
        net::listen(&listener, 0).expect("it is bound");
        let place = StatusPlace::Socket(path);
        let mut askers: Vec<Asker> = (0..4).map(|_| Asker::new(&place)).collect();
        let errors: Vec<io::Error> =
            askers.iter_mut().map(|asker| ask(asker, SHORT).expect_err("nobody answers")).collect();
        assert!(errors.iter().all(is_late), "{errors:?}");
        let waits = |asker: &Asker| asker.pending.is_some();
        assert!(waits(&askers[0]), "it is in the queue");
        assert!(!waits(&askers[3]), "there is no place for it");
    }

    #[test]
    fn a_question_that_hangs_is_given_up_in_the_end() {
        let (listener, mut asker) = full();
        assert!(ask(&mut asker, SHORT).is_err());
        let pending = asker.pending.as_mut().expect("it waits");
        pending.asked = pending.asked.checked_sub(ANSWER_TIMEOUT).expect("the machine runs for longer");
        assert!(ask(&mut asker, SHORT).is_err());
        assert_eq!(waiting(&listener).len(), 2, "another was asked");
    }
}
