//! The turns of the generators: A B C A B C …, on one CPU, while the server has another.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cases::{Case, Generator, cases};
use crate::nginx::Nginx;
use crate::{Failure, Table, child, page};

/// One generator's turns on one case.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// CPU seconds a request, one for each round.
    pub(crate) cpu_s: Vec<f64>,
    /// Requests of all rounds.
    pub(crate) requests: u64,
    /// Why there are no figures.
    pub(crate) missing: Option<String>,
    pub(crate) version: String,
}

/// Measures every case and prints the tables.
pub(crate) fn run(table: &Table) -> Result<(), Failure> {
    let cpus = cpus();
    let (server_cpu, generator_cpu) = (cpus[0], *cpus.last().unwrap_or(&cpus[0]));
    println!(
        "nginx on CPU {server_cpu}, generators on CPU {generator_cpu}, {} rounds of {} s",
        table.rounds, table.seconds
    );
    prefer_generators();
    let home = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let mut tables = Vec::new();
    for case in cases(table).into_iter().filter(|case| case.name.contains(&table.case)) {
        println!("\n{}: {}", case.name, case.title);
        let nginx = Nginx::start(&table.nginx, server_cpu)?;
        let measured = measure(&case, &nginx, table.rounds, generator_cpu, home.path())?;
        println!("{}", page::table(&case, &measured));
        tables.push((case, measured));
    }
    match &table.page {
        Some(path) => page::write(path, &tables, table),
        None => Ok(()),
    }
}

fn measure(
    case: &Case,
    nginx: &Nginx,
    rounds: usize,
    cpu: usize,
    home: &Path,
) -> Result<Vec<Measured>, Failure> {
    let mut measured: Vec<Measured> = case.generators.iter().map(present).collect();
    for round in 0..rounds {
        for (generator, seen) in case.generators.iter().zip(&mut measured) {
            if seen.missing.is_some() {
                continue;
            }
            let before = nginx.requests()?;
            let cost = child::cost(&mut generator.command(&nginx.base(), home), cpu)?;
            // The server counts the question for the count as well.
            let requests = nginx.requests()?.saturating_sub(before + 1);
            // 3: plimsoll says that it was the limit, which is what is measured here.
            if !(cost.status.success() || cost.status.code() == Some(3)) || requests == 0 {
                seen.missing = Some(format!("it failed: {}", cost.said.lines().last().unwrap_or_default()));
                continue;
            }
            let each_s = cost.cpu_s / requests as f64;
            println!(
                "  round {}: {:<13} {:>8.2} µs a request, {requests} requests",
                round + 1,
                generator.name,
                each_s * 1e6
            );
            seen.cpu_s.push(each_s);
            seen.requests += requests;
        }
    }
    Ok(measured)
}

/// Whether the generator is here, and which version of it.
fn present(generator: &Generator) -> Measured {
    let mut words = generator.version.iter();
    let mut command = Command::new(words.next().map(String::as_str).unwrap_or_default());
    let said = command.args(words).stdin(Stdio::null()).output();
    let (missing, version) = match said {
        // wrk says its version and that it is no success.
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            (None, text.lines().next().unwrap_or_default().trim().to_string())
        }
        Err(error) => (Some(format!("not installed ({error})")), String::new()),
    };
    Measured { name: generator.name, cpu_s: Vec::new(), requests: 0, missing, version }
}

/// Plimsoll's threads ask to go before others; so that the same holds for all generators, they inherit it from here.
/// Without the right to it, none has it.
fn prefer_generators() {
    let _ = rustix::process::setpriority_process(None, -20);
}

fn cpus() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let set = |cpu: &usize| allowed.as_ref().is_some_and(|set| set.is_set(*cpu));
    let list: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(set).collect();
    if list.is_empty() { vec![0] } else { list }
}
