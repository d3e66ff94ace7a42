//! One measurement at a time on a machine.

use engine::null_server::NullServer;
use rustix::process::Signal;

use crate::tool::{Home, Tool, wait_for};

fn hit(server: &NullServer, words: &str) -> Tool {
    let line = format!("hit http://{}/ -c 2 {words}", server.address());
    // Homes of their own: the lock is the machine's.
    Home::shared().plimsoll(&line).alone()
}

#[test]
fn a_second_measurement_waits_for_the_first_and_says_for_whom_or_refuses() {
    // Issue 16.8: both could be valid. Whether this test measures at once depends on what else is measured here.
    let server = NullServer::start(None).expect("a loopback port");
    let first = hit(&server, "-d 600s").start();
    wait_for("the first measures", || (server.served() > 100).then_some(()));
    let whom = format!("process {} (", first.pid());
    let refused = hit(&server, "-d 1s --no-wait").run().expect(2);
    assert!(
        refused.stderr.contains("another measurement is under way on this machine"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains(&whom) && refused.stderr.contains("-d 600s"), "{}", refused.stderr);

    let mut second = hit(&server, "-n 1 --json").start();
    let said = second.first_error_line(|line| line.contains("waiting for another").then(|| line.to_string()));
    assert!(said.contains(&whom), "{said}");
    first.signal(Signal::INT);
    first.wait();
    assert_eq!(second.wait().json()["requests"], 1);
}

#[test]
fn whoever_waits_can_be_interrupted() {
    let server = NullServer::start(None).expect("a loopback port");
    let first = hit(&server, "-d 600s").start();
    wait_for("the first measures", || (server.served() > 100).then_some(()));
    let mut second = hit(&server, "-n 1").start();
    second.first_error_line(|line| line.contains("waiting for another").then(String::new));
    second.signal(Signal::INT);
    second.wait().expect(105);
    first.signal(Signal::INT);
    first.wait();
}
