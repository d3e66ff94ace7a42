//! The event loop: connections, helpers and programs, whichever is ready.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::EventfdFlags;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustix::pipe::PipeFlags;

use crate::answer::{Answer, http_date, kind, now_s, reason};
use crate::connection::{Connection, Doing, Sending};
use crate::events::{Events, Interest};
use crate::finder::{Finder, Lookup, Part, Pool};
use crate::helper::{self, Helpers};
use crate::job::{self, Reply};
use crate::knobs::{Cgi, Files, Hears, Knobs};
use crate::request::{MAX_HEAD_BYTES, Method, Parsed, parse};
use crate::status::{Count, Counts};
use crate::sys::Ring;

const LISTEN: u64 = 0;
const DONE: u64 = 1;
const FIRST_HELPER: u64 = 2;
const FIRST_CONNECTION: u64 = 1_000_000;
/// After this number of steps of one connection others are served.
const MAX_STEPS: usize = 32;
const MAX_ACCEPTS: usize = 64;
const MAX_PROGRAM_BYTES: usize = 65_536;
const SECOND: Duration = Duration::from_secs(1);

/// What comes of a step.
enum Step {
    On,
    Until(Interest),
    Close,
}

/// The output of a program, for a connection.
struct Program {
    connection: u64,
    pipe: Rc<OwnedFd>,
    text: Vec<u8>,
}

struct Worker {
    listen: Rc<OwnedFd>,
    is_accepting: bool,
    events: Events,
    finder: Finder,
    counts: Counts,
    programs: Rc<OwnedFd>,
    running: HashMap<u64, Program>,
    connections: HashMap<u64, Connection>,
    last_id: u64,
    date: String,
    ticked: Instant,
}

/// Serves until it is ended; its input is the listening socket, its output the counters' file.
pub fn run(knobs: Knobs) -> io::Result<()> {
    rustix::thread::set_name(c"loop")?;
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    job::set_root(&knobs.root)?;
    let listen = Rc::new(io::stdin().as_fd().try_clone_to_owned()?);
    let counts = Counts::open(io::stdout().as_fd())?;
    let done = Arc::new(rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let mut events = if knobs.events == Hears::Poll { Events::Poll(Vec::new()) } else { Events::epoll()? };
    let pool = match knobs.files {
        Files::Uring => Pool::Ring(Ring::start(&done)?),
        files => Pool::Helpers(Helpers::start(knobs.helpers, files == Files::Nowait)?),
    };
    if let Pool::Helpers(helpers) = &pool {
        for (helper, token) in helpers.all.iter().zip(FIRST_HELPER..) {
            events.add(&helper.socket, token, Interest::Read)?;
        }
    }
    events.add(&Rc::new(rustix::io::dup(&done)?), DONE, Interest::Read)?;
    events.add(&listen, LISTEN, Interest::Read)?;
    let mut worker = Worker {
        listen,
        is_accepting: true,
        events,
        finder: Finder::new(knobs, pool, counts),
        counts,
        programs: helper::start(false)?,
        running: HashMap::new(),
        connections: HashMap::new(),
        last_id: FIRST_CONNECTION,
        date: http_date(now_s()),
        ticked: Instant::now(),
    };
    loop {
        let ready = match worker.events.wait() {
            Err(Errno::INTR) => Vec::new(),
            ready => ready?,
        };
        for one in ready {
            match one.token {
                LISTEN => worker.accept(),
                DONE => worker.take_replies(&done),
                token if token < FIRST_CONNECTION => worker.hear((token - FIRST_HELPER) as usize)?,
                token if worker.running.contains_key(&token) => worker.read_program(token),
                token => match worker.connections.remove(&token) {
                    Some(connection) if one.ended => worker.close(connection),
                    Some(connection) => worker.advance(connection),
                    None => {}
                },
            }
        }
        if worker.ticked.elapsed() >= SECOND {
            worker.tick();
        }
    }
}

impl Worker {
    fn accept(&mut self) {
        for _ in 0..MAX_ACCEPTS {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(&self.listen, flags) {
                Ok(socket) => self.open(socket),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return,
                Err(errno) => {
                    let what =
                        if errno == Errno::MFILE { "Too many open files" } else { "no connection is taken" };
                    eprintln!("flash: {what} ({errno}): others wait until one ends");
                    self.events.remove(&self.listen, LISTEN);
                    self.is_accepting = false;
                    return;
                }
            }
        }
    }

    fn open(&mut self, socket: OwnedFd) {
        _ = rustix::net::sockopt::set_tcp_nodelay(&socket, true);
        self.last_id += 1;
        let connection = Connection::new(self.last_id, Rc::new(socket));
        if self.events.add(&connection.socket, connection.id, Interest::Read).is_ok() {
            self.counts.add(Count::accepted, 1);
            self.counts.add(Count::connections, 1);
            self.advance(connection);
        }
    }

    fn close(&mut self, connection: Connection) {
        self.events.remove(&connection.socket, connection.id);
        self.counts.add(Count::connections, -1);
    }

    fn advance(&mut self, mut connection: Connection) {
        let mut step = Step::Until(Interest::Write);
        for _ in 0..MAX_STEPS {
            step = match connection.doing {
                Doing::Read => self.read(&mut connection),
                Doing::Find => self.find(&mut connection),
                Doing::Send => self.send(&mut connection),
                Doing::Wait => Step::Until(Interest::End),
                Doing::Drain => drain(&connection),
            };
            if !matches!(step, Step::On) {
                break;
            }
        }
        let interest = match step {
            Step::Close => return self.close(connection),
            Step::On => Interest::Write,
            Step::Until(interest) => interest,
        };
        if connection.interest != interest {
            connection.interest = interest;
            if self.events.change(&connection.socket, connection.id, interest).is_err() {
                return self.close(connection);
            }
        }
        self.connections.insert(connection.id, connection);
    }

    fn read(&mut self, connection: &mut Connection) -> Step {
        match parse(&connection.input) {
            Parsed::Whole(request, length) => {
                connection.input.drain(..length);
                connection.keep = request.keep;
                connection.request = Some(request);
                connection.doing = Doing::Find;
                return Step::On;
            }
            Parsed::Bad => return self.refuse(connection, 400),
            Parsed::Part => {}
        }
        let mut buffer = [0; MAX_HEAD_BYTES];
        match rustix::io::read(&connection.socket, &mut buffer) {
            Ok(number @ 1..) => {
                connection.input.extend_from_slice(&buffer[..number]);
                connection.moved = Instant::now();
                Step::On
            }
            Err(Errno::AGAIN) => Step::Until(Interest::Read),
            _ => Step::Close,
        }
    }

    fn find(&mut self, connection: &mut Connection) -> Step {
        let Some(request) = connection.request.as_ref() else { return Step::Close };
        if request.method == Method::Other {
            return self.refuse(connection, 405);
        }
        if request.path == b"plimsoll-status" {
            let text = self.counts.json().into_bytes();
            return self.say(connection, 200, "application/json", &text);
        }
        if request.path.starts_with(b"cgi/") {
            let query = request.query.clone();
            return self.start_program(connection, &query);
        }
        let path: Arc<[u8]> = Arc::from(&request.path[..]);
        match self.finder.find(&path, connection.id) {
            Lookup::Asked => {
                connection.doing = Doing::Wait;
                Step::On
            }
            Lookup::Failed(errno) => self.fail(connection, errno),
            Lookup::Ready(data) => {
                let is_same = request.since_s.is_some_and(|since_s| data.modified_s <= since_s);
                let answer = Answer {
                    status: if is_same { 304 } else { 200 },
                    kind: kind(&path),
                    length: data.size,
                    modified_s: Some(data.modified_s),
                    keep: connection.keep,
                };
                connection.out = answer.head(&self.date);
                let has_body = request.method == Method::Get && !is_same && data.size > 0;
                connection.sending = has_body.then(|| Sending::new(path, data));
                connection.doing = Doing::Send;
                Step::On
            }
        }
    }

    fn send(&mut self, connection: &mut Connection) -> Step {
        if let Some(sending) = connection.sending.as_mut().filter(|sending| !sending.has_ended())
            && sending.at >= sending.until()
        {
            match self.finder.part(&sending.path, &sending.data, sending.at, connection.id) {
                Lookup::Ready(part) => (sending.part, sending.from) = (part, sending.at),
                Lookup::Failed(errno) => return self.fail(connection, errno),
                Lookup::Asked => {
                    connection.doing = Doing::Wait;
                    return Step::On;
                }
            }
        }
        let sent = connection.flush().and_then(|()| connection.transfer());
        match (sent, &connection.sending) {
            (Err(Errno::AGAIN), _) => Step::Until(Interest::Write),
            (Err(errno), _) => self.fail(connection, errno),
            (Ok(()), Some(sending)) if !sending.has_ended() => Step::On,
            (Ok(()), _) => self.end(connection),
        }
    }

    /// An answer has been sent whole.
    fn end(&mut self, connection: &mut Connection) -> Step {
        self.counts.add(Count::requests, 1);
        connection.sending = None;
        connection.out.clear();
        connection.out_at = 0;
        let was_read = connection.request.take().is_some();
        connection.doing = if connection.keep { Doing::Read } else { Doing::Drain };
        if connection.keep || !was_read {
            return Step::On;
        }
        Step::Close
    }

    /// What can't be sent: an error, or where a part of the file is out already, the connection's end.
    fn fail(&mut self, connection: &mut Connection, errno: Errno) -> Step {
        if matches!(errno, Errno::PIPE | Errno::CONNRESET) {
            return Step::Close;
        }
        self.counts.add(Count::errors, 1);
        if let Some(sending) = connection.sending.take() {
            self.finder.forget(&sending.path);
        }
        if connection.out_at > 0 {
            return Step::Close;
        }
        let status = match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::NAMETOOLONG | Errno::LOOP => 404,
            Errno::ACCESS | Errno::PERM => 403,
            Errno::MFILE | Errno::NFILE => 503,
            _ => 500,
        };
        self.say(connection, status, "text/plain", reason(status).as_bytes())
    }

    /// Answers what is no request for a file, and ends the connection: what follows may be its body.
    fn refuse(&mut self, connection: &mut Connection, status: u16) -> Step {
        connection.keep = false;
        let step = self.say(connection, status, "text/plain", reason(status).as_bytes());
        connection.request = None;
        step
    }

    fn say(&mut self, connection: &mut Connection, status: u16, kind: &str, text: &[u8]) -> Step {
        let length = text.len() as u64;
        let answer = Answer { status, kind, length, modified_s: None, keep: connection.keep };
        connection.out = answer.head(&self.date);
        if connection.request.as_ref().is_none_or(|request| request.method != Method::Head) {
            connection.out.extend_from_slice(text);
        }
        connection.doing = Doing::Send;
        Step::On
    }

    fn start_program(&mut self, connection: &mut Connection, query: &[u8]) -> Step {
        self.counts.add(Count::programs, 1);
        let mut start = || -> io::Result<OwnedFd> {
            let (pipe, out) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&pipe, true)?;
            if self.finder.knobs.cgi == Cgi::Loop {
                helper::execute(query, out.as_fd())?;
            } else if helper::start_program(&self.programs, query, out.as_fd()).is_err() {
                self.counts.add(Count::helpers_replaced, 1);
                self.programs = helper::start(false)?;
                helper::start_program(&self.programs, query, out.as_fd())?;
            }
            Ok(pipe)
        };
        let Ok(pipe) = start().map(Rc::new) else { return self.fail(connection, Errno::NOMEM) };
        self.last_id += 1;
        if self.events.add(&pipe, self.last_id, Interest::Read).is_err() {
            return self.fail(connection, Errno::NOMEM);
        }
        self.running.insert(self.last_id, Program { connection: connection.id, pipe, text: Vec::new() });
        connection.doing = Doing::Wait;
        Step::On
    }

    fn read_program(&mut self, token: u64) {
        let Some(program) = self.running.get_mut(&token) else { return };
        let mut buffer = [0; 4096];
        match rustix::io::read(&program.pipe, &mut buffer) {
            Err(Errno::AGAIN | Errno::INTR) => return,
            Ok(number @ 1..) if program.text.len() < MAX_PROGRAM_BYTES => {
                return program.text.extend_from_slice(&buffer[..number]);
            }
            _ => {}
        }
        let Some(Program { connection, pipe, text }) = self.running.remove(&token) else { return };
        self.events.remove(&pipe, token);
        if let Some(mut connection) = self.connections.remove(&connection) {
            let step = match text.is_empty() {
                true => self.fail(&mut connection, Errno::IO),
                false => self.say(&mut connection, 200, "text/html", &text),
            };
            match step {
                Step::Close => self.close(connection),
                _ => self.advance(connection),
            }
        }
    }

    /// Hears a helper.
    fn hear(&mut self, index: usize) -> io::Result<()> {
        let Pool::Helpers(helpers) = &mut self.finder.pool else { return Ok(()) };
        let socket = Rc::clone(&helpers.all[index].socket);
        match helpers.answer(index)? {
            None => {}
            Some(Ok(reply)) => self.resume(reply),
            Some(Err(job)) => {
                eprintln!("flash: a helper has ended, another takes its place");
                self.counts.add(Count::helpers_replaced, 1);
                let token = FIRST_HELPER + index as u64;
                self.events.remove(&socket, token);
                self.events.add(&helpers.all[index].socket, token, Interest::Read)?;
                if let Some(job) = job {
                    self.resume(Reply { job, outcome: Err(Errno::IO) });
                }
            }
        }
        Ok(())
    }

    /// Hears the kernel.
    fn take_replies(&mut self, done: &OwnedFd) {
        _ = rustix::io::read(done, &mut [0; 8]);
        let Pool::Ring(ring) = &mut self.finder.pool else { return };
        ring.replies().into_iter().for_each(|reply| self.resume(reply));
    }

    /// Goes on with all who have waited for it.
    fn resume(&mut self, reply: Reply) {
        let from = match reply.job.task {
            crate::job::Task::Read { offset, .. } => offset,
            crate::job::Task::Open => 0,
        };
        let (waited, outcome) = self.finder.finish(reply);
        for id in waited {
            let Some(mut connection) = self.connections.remove(&id) else { continue };
            connection.doing = if connection.sending.is_some() { Doing::Send } else { Doing::Find };
            let step = match (&outcome, &mut connection.sending) {
                (Err(errno), _) => self.fail(&mut connection, *errno),
                (Ok(Some(part)), Some(sending)) => {
                    sending.from = from;
                    sending.part = match part {
                        Part::Until(end) => Part::Until(*end),
                        Part::Bytes(bytes) => Part::Bytes(Rc::clone(bytes)),
                    };
                    Step::On
                }
                _ => Step::On,
            };
            match step {
                Step::Close => self.close(connection),
                _ => self.advance(connection),
            }
        }
    }

    /// What is done each second.
    fn tick(&mut self) {
        self.ticked = Instant::now();
        self.date = http_date(now_s());
        self.finder.count();
        helper::reap();
        let timeout = Duration::from_secs(self.finder.knobs.idle_timeout_s);
        let is_idle = |one: &Connection| one.doing != Doing::Wait && one.moved.elapsed() >= timeout;
        let idle: Vec<u64> = self.connections.values().filter(|one| is_idle(one)).map(|one| one.id).collect();
        for id in idle {
            self.connections.remove(&id).into_iter().for_each(|connection| self.close(connection));
        }
        if !self.is_accepting {
            self.is_accepting = self.events.add(&self.listen, LISTEN, Interest::Read).is_ok();
        }
    }
}

/// Drops what comes until the client has ended the connection.
fn drain(connection: &Connection) -> Step {
    _ = rustix::net::shutdown(&connection.socket, rustix::net::Shutdown::Write);
    match rustix::io::read(&connection.socket, &mut [0; MAX_HEAD_BYTES]) {
        Ok(1..) => Step::On,
        Err(Errno::AGAIN) => Step::Until(Interest::Read),
        _ => Step::Close,
    }
}
