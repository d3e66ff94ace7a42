//! The diagnosis against known bottlenecks on the real stacks, and against a control. A test binary of its own, because
//! cargo runs these one after the other: anything else that computes beside it would truthfully be the answer.

#[allow(dead_code)] // The other test binary needs the rest of it.
#[path = "it/tool.rs"]
mod tool;

use tool::{Home, have};

/// A busy machine is truthfully told to be one: it is given so many chances to be calm.
const TRIES: usize = 3;

#[test]
fn injected_faults_are_found_and_a_healthy_stack_is_left_in_peace() {
    if !["apache-prefork-modphp-mariadb", "apache-event-fpm-mariadb"].iter().all(|stack| have(stack)) {
        return;
    }
    let home = Home::shared();
    let mut last = None;
    for _ in 0..TRIES {
        let ended = home.plimsoll("faults --quick").run();
        let met = ended.code == Some(0);
        last = Some(ended);
        if met {
            break;
        }
    }
    let last = last.expect("it was tried").expect(0);
    let right = last.stdout.lines().filter(|line| line.contains("healthy-30")).count();
    assert!(right >= 1, "the control is in the table:\n{}", last.stdout);
}
