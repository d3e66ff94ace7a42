//! A number of users that is changed while they are there, on the virtual clock.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source, Totals, run_on_under};
use model::catalogue::load::{ByHand, Load};
use model::record::interval::Interval;
use model::{Distribution, Result};

use crate::virtual_net::{MS, Reply, VirtualNet, ok};

const SECOND_NS: u64 = 1_000 * MS;
const MAX_USERS: u32 = 50;
const SCRIPT: &str = "function visit(user)\n\
    get('/' .. user.number .. '/' .. random(1, 1000000), nil, { name = 'first' })\n\
    get('/' .. user.number .. '/' .. random(1, 1000000), nil, { name = 'second' })\nend";

/// Requests by user, each with its arrival in ns and its path.
type ByUser = BTreeMap<u32, Vec<(u64, String)>>;

struct Sum(Interval);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        Ok(())
    }
}

/// 5 users, who come over 2 s, and the numbers that are asked for at those milliseconds; a run of 40 s.
fn run(changes: &'static [(u64, u32)]) -> (ByUser, Interval, Totals) {
    let control = Control::default();
    let asking = control.clone();
    let (clock, net, log) = VirtualNet::new(move |at_ns, _| {
        let asked = changes.iter().rfind(|(at_ms, _)| at_ns >= at_ms * MS);
        asked.into_iter().for_each(|(_, users)| asking.ask_users(*users));
        Reply::After(10 * MS, ok(""))
    });
    let think = Some(Distribution::Uniform { min: 0.1, max: 0.5 });
    let source = Source::of("session.lua", SCRIPT, "visit");
    let scenario = Scenario { think, ..Scenario::of(Program::Script(source)) };
    let load = Load {
        users: 5,
        ramp_up_s: 2.0,
        steady_s: 38.0,
        by_hand: Some(ByHand { max_users: MAX_USERS }),
        ..Load::default()
    };
    let target = SocketAddr::from(([127, 0, 0, 1], 80));
    let options = RunOptions::of(scenario, load, target);
    let mut sum = Sum(Interval::empty(0));
    let totals = run_on_under(&control, &options, clock, net, &mut sum).expect("the run works");
    let mut by_user = ByUser::new();
    for (at_ns, text) in log.borrow().iter() {
        let path = text.split(' ').nth(1).expect("a request line");
        let user = path.split('/').nth(1).and_then(|user| user.parse().ok()).expect("a user");
        by_user.entry(user).or_default().push((*at_ns, path.to_string()));
    }
    (by_user, sum.0, totals)
}

/// The users whose requests came between these seconds.
fn between(by_user: &ByUser, from_s: u64, to_s: u64) -> BTreeSet<u32> {
    let inside = |(at_ns, _): &(u64, String)| (from_s * SECOND_NS..to_s * SECOND_NS).contains(at_ns);
    by_user.iter().filter(|(_, asked)| asked.iter().any(inside)).map(|(user, _)| *user).collect()
}

#[test]
fn users_come_over_the_ramp_and_leave_between_sessions_as_a_number_is_asked_for() {
    let (by_user, whole, totals) = run(&[(10_000, 20), (20_000, 2), (30_000, 6)]);
    assert_eq!(between(&by_user, 3, 10), (1..=5).collect());
    assert_eq!(between(&by_user, 13, 20), (1..=20).collect());
    assert_eq!(between(&by_user, 21, 30), (1..=2).collect());
    let later = BTreeSet::from([1, 2, 3 + MAX_USERS, 4 + MAX_USERS, 5 + MAX_USERS, 6 + MAX_USERS]);
    assert_eq!(between(&by_user, 33, 40), later, "those who come to places that others left are new ones");
    let arrivals: Vec<u64> = (6..=20).map(|user| by_user[&user][0].0).collect();
    let gap_ns = 2 * SECOND_NS / 15;
    let even = arrivals.windows(2).all(|pair| pair[1].abs_diff(pair[0] + gap_ns) < MS);
    assert!(even && arrivals[0] < 10 * SECOND_NS + 500 * MS, "{arrivals:?}");
    // A session is two requests: nobody left in the middle of one, and nothing was left unanswered.
    assert!(by_user.values().all(|asked| asked.len().is_multiple_of(2)), "{by_user:?}");
    let sessions = by_user.values().map(|asked| asked.len() as u64 / 2).sum::<u64>();
    assert_eq!((whole.sessions_ended, totals.unanswered.iter().sum::<u64>()), (sessions, 0));
}

#[test]
fn what_users_draw_does_not_depend_on_the_others_who_come_and_go() {
    let (alone, ..) = run(&[]);
    let (changed, ..) = run(&[(10_000, 20), (20_000, 2), (30_000, 6)]);
    for user in [1, 2] {
        assert_eq!(alone[&user], changed[&user], "user {user} stays all the time");
    }
    for user in 3..=5 {
        let stayed = &changed[&user];
        assert_eq!(alone[&user][..stayed.len()], stayed[..], "user {user} is there until it leaves");
        assert!(stayed.last().is_some_and(|(at_ns, _)| *at_ns > 19 * SECOND_NS));
    }
    let (again, ..) = run(&[(10_000, 20), (20_000, 2), (30_000, 6)]);
    assert_eq!(again, changed);
}

#[test]
fn whoever_is_wanted_again_before_leaving_stays_who_it_is() {
    let (alone, ..) = run(&[]);
    // Nobody's pause ends between the two wishes.
    let (wavering, ..) = run(&[(10_000, 1), (10_030, 5)]);
    assert_eq!(wavering, alone);
    let (slower, ..) = run(&[(10_000, 1), (11_000, 5)]);
    assert_eq!(slower.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 52, 53, 54, 55]);
}

#[test]
fn no_more_than_the_most_are_given_and_never_less_than_one() {
    let (by_user, ..) = run(&[(10_000, 4_000_000_000), (20_000, 1)]);
    assert_eq!(between(&by_user, 13, 20), (1..=MAX_USERS).collect());
    assert_eq!(between(&by_user, 21, 40), BTreeSet::from([1]));
}
