//! The bus of a fleet, stood up from the catalogue: it listens on loopback alone and keeps streams in its own directory.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use model::Catalogue;

use crate::bench::Bench;
use crate::tiny::{manifest, overlay, plan_of};

fn with_letters(catalogue: &mut Catalogue) {
    catalogue.overlay(overlay(&[
        ("kits/letters/kit.toml", &manifest("letters", &["bus"], "/", "nats")),
        ("kits/letters/session.lua", "function visit(user) end\n"),
        ("kits/letters/app/empty", ""),
    ]));
}

#[test]
fn a_broker_has_streams_and_takes_what_its_knobs_say() {
    let set = [("bus.max_payload", "2M")];
    let plan = |catalogue: &Catalogue, stack: &str| plan_of("letters", catalogue, stack, &set);
    let Some(mut bench) = Bench::with("broker", "nats", with_letters, plan) else { return };
    let plan = plan(&bench.catalogue, "nats");
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let port = stack.tier("bus").expect("a tier").ports["nats"];
    let mut line = String::new();
    let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    BufReader::new(connection.try_clone().expect("a copy")).read_line(&mut line).expect("it speaks first");
    for said in ["INFO {", "\"jetstream\":true", "\"max_payload\":2097152", "\"host\":\"127.0.0.1\""] {
        assert!(line.contains(said), "{said}: {line}");
    }
    connection.write_all(b"CONNECT {\"verbose\":true}\r\n").expect("it reads");
    drop(connection);
    stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
    TcpStream::connect(("127.0.0.1", port)).expect_err("it is gone");
}
