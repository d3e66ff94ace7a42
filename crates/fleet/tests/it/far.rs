//! An agent to which everything is late in one direction alone: nobody can know by how much its clock is off, and that is said.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::Target;

use crate::agents::{Key, agents, controller, start, words};
use crate::broker::Nats;
use crate::job::BUILD;
use crate::runs::{load, origin, run};

const DELAY: Duration = Duration::from_millis(100);

/// Where an agent finds the broker, whose words come there that much later; what the agent says goes at once.
fn late_from(broker: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = listener.local_addr().expect("it has one");
    thread::spawn(move || {
        for agent in listener.incoming().map_while(Result::ok) {
            let Ok(there) = TcpStream::connect(&broker) else { continue };
            let (Ok(from_agent), Ok(to_broker)) = (agent.try_clone(), there.try_clone()) else { continue };
            thread::spawn(move || carry(from_agent, to_broker));
            thread::spawn(move || carry_late(there, agent));
        }
    });
    format!("nats://{place}")
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    // However it ends, both ends are told.
    _ = io::copy(&mut from, &mut to);
    _ = to.shutdown(Shutdown::Both);
}

fn carry_late(mut from: TcpStream, to: TcpStream) {
    let (send, sent): (Sender<(Instant, Vec<u8>)>, Receiver<_>) = channel();
    thread::spawn(move || deliver(&sent, to));
    let mut chunk = vec![0; 64 << 10];
    while let Ok(count) = from.read(&mut chunk) {
        if count == 0 || send.send((Instant::now() + DELAY, chunk[..count].to_vec())).is_err() {
            return;
        }
    }
}

fn deliver(sent: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) {
    for (at, bytes) in sent {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            return;
        }
    }
    _ = to.shutdown(Shutdown::Both);
}

#[test]
fn one_way_that_is_slow_makes_the_bound_as_wide_and_the_truth_stays_within() {
    let Some(nats) = Nats::begin() else { return };
    let (folder, origin, key) = (tempfile::tempdir().expect("a folder"), origin(), Key::new());
    let _near = agents(&nats, folder.path(), &["near"], &key);
    let late = late_from(nats.broker().url.trim_start_matches("nats://").to_string());
    let mut far = words(&nats, folder.path(), "far", &key.public(), BUILD);
    far[2] = late;
    let _far = start(&far);
    let ran = run(&mut controller(&nats, &key, 2), (&Target::from(origin.address()), load(4, 2.0)), |_| {});
    let driven = ran.driven.unwrap_or_else(|problems| panic!("{problems}"));
    let offset = |name: &str| {
        let agent = driven.agents.iter().find(|agent| agent.member.name.as_str() == name);
        agent.expect("both drive").offset
    };
    // All of them have this machine's one clock.
    let (near, far) = (offset("near"), offset("far"));
    for offset in [near, far] {
        assert!(offset.low_ns <= 0 && 0 <= offset.high_ns, "{offset:?}");
    }
    assert!(near.bound_ns() < 10_000_000, "{near:?}");
    let half = DELAY.as_nanos() as i64 / 2;
    assert!((half..2 * half).contains(&far.bound_ns()), "half of {DELAY:?}, and a little: {far:?}");
    assert!(driven.agents.iter().all(|agent| agent.lost.is_none()), "{:?}", ran.news);
}
