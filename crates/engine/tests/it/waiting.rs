//! Users who wait: what no response time tells.

use engine::{Audience, Second, run_on};
use model::{Distribution, Interval, Result};

use crate::virtual_net::{MS, Reply, VirtualNet, ok};
use crate::virtual_time::{Bench, bench};

/// The seconds of a short run, one by one.
#[derive(Default)]
struct Seconds(Vec<Interval>);

impl Audience for Seconds {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.push(second.interval.clone());
        Ok(())
    }
}

#[test]
fn users_who_are_never_answered_are_seen_waiting_although_no_response_time_shows_them() {
    // Started in second 0. Ages are known to a tenth of a second: one of 1.5 s is seen at the end of second 1.
    let table = [
        (1.5, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        (2.0, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
        (2.5, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
        (4.0, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]),
    ];
    for (over_s, expected) in table {
        assert_eq!(waiting(over_s), expected, "waiting over {over_s} s");
    }
}

/// Users who wait at the end of each second, when one of four is never answered.
fn waiting(over_s: f64) -> [u64; 10] {
    let bench = Bench {
        users: 4,
        timeout_s: 60.0,
        think: Some(Distribution::Fixed { value: 0.9 }),
        ..bench("function visit(user) get('/' .. user.number) end")
    };
    let mut options = bench.options();
    options.scenario.waiting_over_s = over_s;
    let (clock, net, _) = VirtualNet::new(|_, request| {
        if request.starts_with("GET /1 ") { Reply::Never } else { Reply::After(100 * MS, ok("")) }
    });
    let mut seconds = Seconds::default();
    run_on(&options, clock, net, &mut seconds).expect("the run works");
    let slowest = |second: &Interval| second.operations.iter().map(|row| row.response.max()).max();
    assert!(seconds.0.iter().filter_map(slowest).all(|max| max < 110_000), "what was answered was quick");
    let waiting: Vec<u64> = seconds.0.iter().map(|second| second.waiting_users).take(10).collect();
    waiting.try_into().expect("ten seconds")
}
