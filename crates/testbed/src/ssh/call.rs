//! One `ssh` that runs a script on the far side, from its start to its answer or its end at the deadline.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use model::{Problem, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use super::failure::Failure;
use super::host::SshHost;
use super::script::{BEGIN, END, command_line};

/// Of what the far side prints: scripts print less than this, so that more is not theirs.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// The end of what is written as errors.
const ERROR_BYTES: usize = 16 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// For the rest of the output of an `ssh` that has ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// A call to be made.
pub(super) struct Call<'a> {
    /// Completes "failed to …" in messages.
    pub(super) operation: &'a str,
    /// Of [`super::script::script`].
    pub(super) script: String,
    /// What the script reads from its input.
    pub(super) content: Option<Content<'a>>,
    /// Longest time without an answer, or without that a piece of the content could be sent.
    pub(super) timeout: Duration,
}

/// What is sent after the script.
pub(super) struct Content<'a> {
    pub(super) reader: Box<dyn Read + Send>,
    /// Hears how many bytes have gone out; false ends the call.
    pub(super) progress: &'a mut dyn FnMut(u64) -> bool,
}

enum Event {
    Sent(u64),
    Unread(io::Error),
    Output(Vec<u8>),
    Errors(Vec<u8>),
}

/// A client that runs. Dropping it kills it and what it has started, such as a `ProxyCommand`.
struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            // Not waited for yet, so that its number, which is its group's, is still its own.
            let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
            group.map(|group| kill_process_group(group, Signal::KILL));
            _ = self.0.wait();
        }
    }
}

impl Call<'_> {
    /// Makes it; what the script printed.
    ///
    /// # Errors
    /// No `ssh` on this machine, no connection, a script that failed, no answer in time: as [`Failure`] says it.
    pub(super) fn run(self, host: &SshHost) -> Result<String> {
        self.run_while(host, &|| true)
    }

    /// The same, and ended as soon as it isn't wanted any more.
    ///
    /// # Errors
    /// As [`Call::run`].
    pub(super) fn run_while(mut self, host: &SshHost, is_wanted: &dyn Fn() -> bool) -> Result<String> {
        let mut client = self.spawn(host)?;
        let inbox = self.serve(&mut client)?;
        let mut heard = Heard::default();
        let result = self.follow(&mut client, &inbox, &mut heard, is_wanted);
        drop(client);
        if result.is_err() {
            heard.rest(&inbox);
        }
        let output = heard.output.unwrap_or_default();
        let outcome = result.and_then(|status| match (status.success(), answer(&output)) {
            (true, Some(answer)) => Ok(answer),
            (true, None) => Err(Failure::Garbled),
            (false, _) => Err(Failure::Ended(status, find(&output, BEGIN.as_bytes()).is_some())),
        });
        outcome.map_err(|failure| failure.problem(host, self.operation, &heard.errors.unwrap_or_default()))
    }

    fn spawn(&self, host: &SshHost) -> Result<Client> {
        let mut command = host.client();
        command.arg(command_line(&self.script));
        // A group of its own: it can be killed with its helpers, and Ctrl-C leaves the decision to us.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn().map_err(|error| {
            let problem = Problem::environment(format!(
                "failed to start ssh to {} on {}: {error}",
                self.operation,
                host.destination()
            ));
            match error.kind() {
                ErrorKind::NotFound => problem.remedy("apt-get install openssh-client"),
                _ => problem,
            }
        })?;
        Ok(Client(child))
    }

    /// Threads that write its input and read its outputs, and what they tell.
    fn serve(&mut self, client: &mut Client) -> Result<Receiver<Event>> {
        let (events, inbox) = mpsc::channel();
        let child = &mut client.0;
        if let Some(input) = child.stdin.take() {
            let script = self.script.clone().into_bytes();
            let content: Box<dyn Read + Send> = match &mut self.content {
                Some(content) => std::mem::replace(&mut content.reader, Box::new(io::empty())),
                None => Box::new(io::empty()),
            };
            let events = events.clone();
            in_thread(move || write_all(input, &script, content, &events))?;
        }
        if let Some(output) = child.stdout.take() {
            let events = events.clone();
            in_thread(move || _ = events.send(Event::Output(read_start(output))))?;
        }
        if let Some(errors) = child.stderr.take() {
            in_thread(move || _ = events.send(Event::Errors(read_end(errors))))?;
        }
        Ok(inbox)
    }

    fn follow(
        &mut self,
        client: &mut Client,
        inbox: &Receiver<Event>,
        heard: &mut Heard,
        is_wanted: &dyn Fn() -> bool,
    ) -> std::result::Result<ExitStatus, Failure> {
        let mut last = Instant::now();
        let mut ended: Option<(Instant, ExitStatus)> = None;
        loop {
            match inbox.recv_timeout(LOOK_EVERY) {
                Ok(Event::Sent(bytes)) => {
                    last = Instant::now();
                    let goes_on = self.content.as_mut().is_none_or(|content| (content.progress)(bytes));
                    if !goes_on {
                        return Err(Failure::Cancelled);
                    }
                }
                Ok(Event::Unread(error)) => return Err(Failure::Unread(error)),
                Ok(event) => heard.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK_EVERY),
            }
            if ended.is_none() {
                ended = client.0.try_wait().ok().flatten().map(|status| (Instant::now(), status));
            }
            if let Some((since, status)) = ended
                && (heard.is_whole() || since.elapsed() > OUTPUT_TIMEOUT)
            {
                return Ok(status);
            }
            if !is_wanted() {
                return Err(Failure::Cancelled);
            }
            if last.elapsed() > self.timeout {
                return Err(Failure::TimedOut(self.timeout));
            }
        }
    }
}

/// What was printed so far: each is there as soon as it has ended.
#[derive(Default)]
struct Heard {
    output: Option<Vec<u8>>,
    errors: Option<Vec<u8>>,
}

impl Heard {
    fn take(&mut self, event: Event) {
        match event {
            Event::Output(bytes) => self.output = Some(bytes),
            Event::Errors(bytes) => self.errors = Some(bytes),
            Event::Sent(_) | Event::Unread(_) => {}
        }
    }

    fn is_whole(&self) -> bool {
        self.output.is_some() && self.errors.is_some()
    }

    /// After the client was killed its outputs end.
    fn rest(&mut self, inbox: &Receiver<Event>) {
        let start = Instant::now();
        while !self.is_whole() && start.elapsed() < OUTPUT_TIMEOUT {
            match inbox.recv_timeout(LOOK_EVERY) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

fn in_thread(body: impl FnOnce() + Send + 'static) -> Result<()> {
    let made = thread::Builder::new().name("ssh".to_string()).spawn(body);
    made.map_err(|error| Problem::environment(format!("failed to start a thread: {error}")))?;
    Ok(())
}

/// An input that is closed early is told by how the client ends, so writing has no errors of its own.
fn write_all(
    mut input: ChildStdin,
    script: &[u8],
    mut content: Box<dyn Read + Send>,
    events: &Sender<Event>,
) {
    if input.write_all(script).is_err() {
        return;
    }
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut sent = 0;
    loop {
        let count = match content.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                _ = events.send(Event::Unread(error));
                return;
            }
        };
        if input.write_all(&chunk[..count]).is_err() {
            return;
        }
        sent += count as u64;
        if events.send(Event::Sent(sent)).is_err() {
            return;
        }
    }
}

/// The beginning, and no more than the limit; the rest is read and forgotten, so that nobody waits for its reader.
fn read_start(mut output: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    _ = output.by_ref().take(MAX_ANSWER_BYTES as u64).read_to_end(&mut bytes);
    _ = io::copy(&mut output, &mut io::sink());
    bytes
}

/// The end, and no more than the limit.
fn read_end(mut output: impl Read) -> Vec<u8> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match output.read(&mut chunk) {
            Ok(0) => return bytes,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return bytes,
        }
        bytes.drain(..bytes.len().saturating_sub(ERROR_BYTES));
    }
}

/// What is between the two marks; the last one counts, since a log may hold the same words.
fn answer(output: &[u8]) -> Option<String> {
    let start = find(output, BEGIN.as_bytes())? + BEGIN.len();
    let body = &output[start..];
    let end = body.windows(END.len()).rposition(|window| window == END.as_bytes())?;
    Some(String::from_utf8_lossy(&body[..end]).into_owned())
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}
