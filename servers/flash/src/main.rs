//! flash: a web server for files, an event loop with helpers (AMPED), after Flash and new Flash. See README.md.

mod answer;
mod connection;
mod events;
mod finder;
mod helper;
mod job;
mod knobs;
mod lru;
mod request;
mod status;
mod sys;
#[cfg(test)]
mod tests;
mod worker;

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitCode, Stdio};
use std::{env, io};

use knobs::Knobs;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let role = words.first().map_or("", String::as_str);
    let ended = match role {
        "helper" => io::stdin().as_fd().try_clone_to_owned().and_then(|socket| helper::run(&socket)),
        "stub" => stub(words.get(1).map_or("", String::as_str)),
        "--version" => say(&format!("flash {}\n", env!("CARGO_PKG_VERSION"))),
        _ => match Knobs::of(words.get(usize::from(role == "worker")..).unwrap_or_default()) {
            Ok(knobs) if role == "worker" => worker::run(knobs),
            Ok(knobs) => run(&knobs, &words),
            Err(what) => {
                eprintln!("flash: {what}; the knobs are in README.md");
                return ExitCode::from(2);
            }
        },
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flash: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the processes of the server, each on the same socket, and another for each that ends.
fn run(knobs: &Knobs, words: &[String]) -> io::Result<()> {
    let at = |what: String| move |error: io::Error| io::Error::new(error.kind(), format!("{what}: {error}"));
    let socket =
        TcpListener::bind(knobs.listen).map_err(at(format!("failed to listen on {}", knobs.listen)))?;
    rustix::net::listen(&socket, 4096)?;
    socket.set_nonblocking(true)?;
    std::fs::read_dir(&knobs.root).map_err(at(format!("failed to read {}", knobs.root.display())))?;
    let counters = rustix::fs::memfd_create("counters", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::ftruncate(&counters, status::BYTES)?;
    let start = || -> io::Result<Child> {
        let (socket, counters) = (OwnedFd::from(socket.try_clone()?), counters.try_clone()?);
        let mut command = Command::new("/proc/self/exe");
        command.arg("worker").args(words).stdin(Stdio::from(socket)).stdout(Stdio::from(counters)).spawn()
    };
    let mut workers: Vec<Child> = (0..knobs.processes).map(|_| start()).collect::<io::Result<_>>()?;
    loop {
        let Some((ended, status)) = rustix::process::wait(rustix::process::WaitOptions::empty())? else {
            continue;
        };
        if let Some(worker) = workers.iter_mut().find(|worker| worker.id() as i32 == ended.as_raw_pid()) {
            let how = match (status.terminating_signal(), status.exit_status()) {
                (Some(signal), _) => format!("signal {signal}"),
                (None, code) => format!("exit code {}", code.unwrap_or_default()),
            };
            eprintln!("flash: a process of the server has ended ({how}), another is started");
            // It may end at once each time: the log shall stay readable.
            std::thread::sleep(std::time::Duration::from_millis(200));
            *worker = start()?;
        }
    }
}

/// The program of `/cgi/`: a page of some 1,000 bytes.
fn stub(query: &str) -> io::Result<()> {
    let query: String = query.chars().filter(char::is_ascii_alphanumeric).take(80).collect();
    let filling = "A program was started for this page and has ended. ".repeat(18);
    say(&format!(
        "<!doctype html><title>stub</title><p>{query}</p><p>{}</p><p>{filling}</p>\n",
        std::process::id()
    ))
}

fn say(text: &str) -> io::Result<()> {
    let mut bytes = text.as_bytes();
    while !bytes.is_empty() {
        bytes = &bytes[rustix::io::write(io::stdout().as_fd(), bytes)?..];
    }
    Ok(())
}
