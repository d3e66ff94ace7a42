//! What a user costs in resident memory, all told. Each case runs in a process of its own, because memory that one
//! gives back would hide what the next one takes.
//!
//! `cargo test -p engine --test memory` runs what the gate runs. By hand, in a release build, each prints its figures:
//! `cargo test --release -p engine --test memory -- CASE`, where CASE is one of
//!
//! - `kept USERS`: users thinking 5 s with connections kept, on the virtual transport;
//! - `closed USERS`: users thinking 120 s that close between operations, on the virtual transport;
//! - `sockets USERS THINK_S SECONDS`: real connections to a server in another process;
//! - `flat USERS SECONDS`: memory every ten seconds of a long run against a null server.

mod cases;
mod lean_net;
mod resident;
mod wire;

use std::process::{Command, ExitCode};

/// A case of the gate.
struct Case {
    name: &'static str,
    /// The program's arguments.
    words: &'static str,
    max_bytes_a_user: f64,
}

const GATE: [Case; 2] = [
    Case {
        name: "users_who_keep_their_connections_are_small",
        words: "kept 100000",
        max_bytes_a_user: 10_000.0,
    },
    Case {
        name: "users_who_close_their_connections_are_smaller",
        words: "closed 300000",
        max_bytes_a_user: 1_500.0,
    },
];

/// Besides its own words it knows those of libtest's that nextest uses: `--list` and `--exact NAME`.
fn main() -> ExitCode {
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if flags.iter().any(|flag| flag == "--list") {
        return list(flags.iter().any(|flag| flag == "--ignored"));
    }
    match words[..] {
        [] => gate(|_| true),
        [name] if flags.iter().any(|flag| flag == "--exact") => gate(|case| case.name == name),
        ["kept", users] => print_cost(cases::open(number(users))),
        ["closed", users] => print_cost(cases::closed(number(users))),
        ["sockets", users, think_s, seconds] => wire::sockets(number(users), think_s, number(seconds)),
        ["flat", users, seconds] => wire::flat(number(users), number(seconds)),
        ["serve"] => wire::serve(),
        // A filter for other tests' names.
        _ => ExitCode::SUCCESS,
    }
}

fn number(word: &str) -> u32 {
    word.parse().expect("a whole number")
}

#[allow(clippy::print_stdout)]
fn print_cost(cost: cases::Cost) -> ExitCode {
    println!("{cost}");
    ExitCode::SUCCESS
}

#[allow(clippy::print_stdout)]
fn list(ignored: bool) -> ExitCode {
    for case in GATE.iter().filter(|_| !ignored) {
        println!("{}: test", case.name);
    }
    ExitCode::SUCCESS
}

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn gate(wanted: impl Fn(&Case) -> bool) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for Case { name, words, max_bytes_a_user } in GATE.iter().filter(|case| wanted(case)) {
        let program = std::env::current_exe().expect("this program has a path");
        let output = Command::new(program).args(words.split(' ')).output().expect("it can be run again");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let bytes: Option<f64> = text.split(" bytes a user").next().and_then(|text| text.trim().parse().ok());
        let holds = bytes.is_some_and(|bytes| bytes < *max_bytes_a_user);
        let verdict = if holds { "ok" } else { "FAILED" };
        println!("{name}: at most {max_bytes_a_user} bytes a user ... {verdict}: {}", text.trim());
        if !holds {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            code = ExitCode::FAILURE;
        }
    }
    code
}
