//! The servers of the DeBox paper for longer than the gate has: `scripts/test-long.sh servers`.

use std::time::{Duration, Instant};

use model::random::Random;

use crate::raw_http::request;
use crate::reference_servers::{LARGEST, STACKS, with_each};
use crate::tool::wait_for;

const REQUESTS: usize = 1_000_000;
/// On a connection, that many at once.
const AT_ONCE: usize = 20;
/// Of each server.
const NONSENSE_TIME: Duration = Duration::from_secs(10 * 60);

#[test]
fn a_million_requests_leave_no_descriptor() {
    with_each(&STACKS, "", |stack, server| {
        let ask = |number: usize| {
            let path = |of: usize| format!("/file_set/dir{:05}/class{}_{}", of / 18 % 10, of % 2, of / 2 % 9);
            let all: String = (number..number + AT_ONCE).map(|of| request(&path(of))).collect();
            let mut connection = server.connect();
            connection.send(&all);
            for of in number..number + AT_ONCE {
                let answer =
                    connection.answer().unwrap_or_else(|| panic!("{stack}: {} is answered", path(of)));
                assert_eq!(answer.status, 200, "{stack}: {}", path(of));
            }
        };
        // Every file is open by then, where files are kept open.
        (0..10_000).step_by(AT_ONCE).for_each(ask);
        let before = server.descriptors();
        (0..REQUESTS).step_by(AT_ONCE).for_each(ask);
        // The connection of whoever asks, and those whose end is just seen.
        let gone = || Some(server.descriptors()).filter(|after| *after <= before + 4);
        wait_for(&format!("{stack}: no more than {before} descriptors are left"), gone);
    });
}

#[test]
fn ten_minutes_of_nonsense_end_no_staged_server() {
    // The event loops' reader of requests has a fuzzer of its own (`scripts/fuzz.sh request`).
    with_each(&["haboob"], "", |stack, server| {
        let (mut random, began, mut sent) = (Random::new(2004), Instant::now(), 0_u64);
        while began.elapsed() < NONSENSE_TIME {
            server.take_nonsense(stack, &mut random);
            sent += 1;
        }
        assert_eq!(server.connect().get(LARGEST).body.len(), 921_600, "{stack} after {sent} of them");
    });
}
