//! Cases on real sockets, by hand: the server is another process, so that each has all of its descriptors and its own
//! memory.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};

use engine::null_server::NullServer;
use engine::preflight::{Needs, prepare};
use engine::{Audience, Control, RunOptions, Second, Target, run};
use model::record::interval::{Interval, OperationKind, OperationName};
use model::record::plan::Load;
use model::{Problem, Result};

use crate::{cases, resident};

/// The server's process: it says where it answers, and ends when its input does.
#[allow(clippy::print_stdout)]
pub(crate) fn serve() -> ExitCode {
    raise_descriptors();
    let _ = rustix::process::setpriority_process(None, -20);
    let server = NullServer::start(Some(1)).expect("a loopback port");
    println!("{}", server.address());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}

/// Adds a run's steady seconds up and tells memory, CPU and lag on the way.
struct Ledger {
    before_bytes: u64,
    steady_from_s: u32,
    every_s: u32,
    whole: Interval,
    names: Vec<OperationName>,
    seconds: u32,
}

impl Audience for Ledger {
    #[allow(clippy::print_stdout)]
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        let number = second.interval.second;
        if number.is_multiple_of(self.every_s) {
            let grown = resident::now_bytes().saturating_sub(self.before_bytes);
            let (lag, cpu_s) = (&second.interval.lag, second.interval.generator_cpu_s);
            println!(
                "{number:>5} s  {:>9.1} kB  CPU {cpu_s:.2} s  {} connects, lag p99 {} max {} µs",
                grown as f64 / 1e3,
                second.interval.connects,
                lag.value_at_quantile(0.99),
                lag.max()
            );
        }
        if number >= self.steady_from_s {
            self.whole.merge(second.interval);
            self.seconds += 1;
        }
        self.names = second.names.to_vec();
        Ok(())
    }
}

/// Real connections, one a user: memory, CPU and lag.
pub(crate) fn sockets(users: u32, think_s: &str, seconds: u32) -> ExitCode {
    let own = std::env::current_exe().expect("this program has a path");
    let mut server = Command::new(own)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be run again");
    let mut line = String::new();
    let mut words = BufReader::new(server.stdout.take().expect("stdout is piped"));
    words.read_line(&mut line).expect("the server tells its address");
    let address: SocketAddr = line.trim().parse().expect("an address");
    let think_s: f64 = think_s.parse().expect("seconds");
    let told = measured(users, think_s, seconds, address);
    drop(server.stdin.take());
    let _ = server.wait();
    report(told)
}

/// Memory over a long run against a null server of this process.
pub(crate) fn flat(users: u32, seconds: u32) -> ExitCode {
    let server = NullServer::start(None).expect("a loopback port");
    report(measured(users, 5.0, seconds, server.address()))
}

fn measured(users: u32, think_s: f64, seconds: u32, target: SocketAddr) -> Result<String> {
    let ramp_up_s = (2.0 * think_s).max(5.0);
    let load = Load { users, ramp_up_s, steady_s: f64::from(seconds), seed: 5, ..Load::default() };
    let mut target = Target::from(target);
    target.sources = prepare(&Needs::of_connections(u64::from(users)), &target)?.sources;
    let options = RunOptions { drain_s: 5.0, ..RunOptions::of(cases::scenario(think_s), load, target) };
    let mut ledger = Ledger {
        before_bytes: resident::now_bytes(),
        steady_from_s: ramp_up_s.ceil() as u32 + 1,
        every_s: if seconds > 60 { 10 } else { 1 },
        whole: Interval::empty(0),
        names: Vec::new(),
        seconds: 0,
    };
    let totals = run(&options, &Control::default(), &mut ledger)?;
    let grown_bytes = resident::peak_bytes() - ledger.before_bytes;
    let sessions = OperationName { kind: OperationKind::Operation, name: "Look".to_string() };
    let row =
        ledger.names.iter().position(|name| *name == sessions).ok_or_else(|| Problem::bug("no session"))?;
    let (whole, length_s) = (&ledger.whole, f64::from(ledger.seconds));
    let lag_us = |q: f64| whole.lag.value_at_quantile(q);
    Ok(format!(
        "{:.0} bytes a user: {users} users on {} connections, {:.0} sessions/s, {} failed, CPU {:.2}, \
         lag p50 {} p99 {} p99.9 {} max {} µs",
        grown_bytes as f64 / f64::from(users),
        totals.connects,
        whole.operations[row].completed as f64 / length_s,
        totals.failed.iter().sum::<u64>(),
        whole.generator_cpu_s / length_s,
        lag_us(0.5),
        lag_us(0.99),
        lag_us(0.999),
        lag_us(1.0)
    ))
}

/// As many descriptors as this process may have: one a connection.
fn raise_descriptors() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
}

#[allow(clippy::print_stdout)]
fn report(told: Result<String>) -> ExitCode {
    match told {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            println!("{problems}");
            ExitCode::FAILURE
        }
    }
}
