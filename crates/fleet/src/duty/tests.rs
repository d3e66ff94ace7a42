use std::collections::BTreeMap;

use engine::Slice;
use proptest::prelude::*;

use super::*;
use crate::want::{Claim, Part, Watch};

const S: i64 = 1_000_000_000;

/// The agent's clock is that far ahead.
const OFFSET: i64 = 1_000 * S;

const PART_OF: Slice = Slice { first: 1, lanes: 1, all: 4 };

fn part() -> Part {
    Part::of(7, OFFSET, PART_OF)
}

fn share() -> Share {
    Share { offset_ns: OFFSET, part: Some(part()), watches: false }
}

fn want(run: &str, phase: Phase) -> Want {
    let parts = BTreeMap::from([("a1".to_string(), part())]);
    Want {
        run: run.to_string(),
        phase,
        bundle: "00ff".to_string(),
        lease_s: 15,
        parts,
        watches: BTreeMap::new(),
    }
}

/// One that watches, and drives nobody.
fn watching(phase: Phase) -> Want {
    let watches = BTreeMap::from([("a1".to_string(), Watch { incarnation: 7, offset_ns: OFFSET })]);
    Want { parts: BTreeMap::new(), watches, ..want("r-1", phase) }
}

/// A controller and an agent without anything between them. Times are the controller's.
struct Pair {
    duty: Duty,
    counter: u64,
}

impl Pair {
    fn new() -> Pair {
        Pair { duty: Duty::of("a1", 7), counter: 0 }
    }

    fn says(&mut self, at_ns: i64, want: Option<Want>) -> Option<Act> {
        self.counter += 1;
        self.duty.hears(at_ns + OFFSET, &Beacon::of(&Claim::of(1, "a test"), self.counter, at_ns, want))
    }

    fn wants(&mut self, at_ns: i64, phase: Phase) -> Option<Act> {
        self.says(at_ns, Some(want("r-1", phase)))
    }

    fn passes(&mut self, at_ns: i64) -> Option<Act> {
        self.duty.passes(at_ns + OFFSET)
    }

    fn standing(&self) -> Standing {
        self.duty.standing().1
    }

    /// Armed for the run, at second 3.
    fn armed() -> Pair {
        let mut pair = Pair::new();
        let fetch = Act::Fetch { run: "r-1".to_string(), bundle: "00ff".to_string() };
        assert_eq!(pair.wants(S, Phase::Prepare), Some(fetch));
        assert_eq!(pair.wants(2 * S, Phase::Prepare), None, "it is told what it does already");
        pair.duty.checked();
        assert_eq!(pair.wants(3 * S, Phase::Arm), Some(Act::Arm(share())));
        pair.duty.armed();
        pair
    }

    /// Its first second begins at second 6.
    fn running() -> Pair {
        let mut pair = Pair::armed();
        assert_eq!(pair.wants(4 * S, Phase::Set { at_ns: 6 * S }), None);
        assert_eq!(pair.standing(), Standing::Agreed { at_ns: 6 * S });
        let begin = Act::Begin { at_ns: 6 * S + OFFSET };
        assert_eq!(pair.wants(5 * S, Phase::Go { at_ns: 6 * S }), Some(begin));
        pair
    }
}

#[test]
fn one_step_follows_the_other_and_the_beginning_is_by_the_agent_s_own_clock() {
    let mut pair = Pair::running();
    assert_eq!(pair.wants(6 * S, Phase::Go { at_ns: 6 * S }), None);
    assert_eq!(pair.wants(7 * S, Phase::Stop), Some(Act::StopGently));
    assert_eq!(pair.wants(8 * S, Phase::Stop), None);
    assert_eq!(pair.wants(9 * S, Phase::Abort), Some(Act::StopAtOnce));
    pair.duty.ended();
    assert_eq!(pair.standing(), Standing::Ended);
    assert_eq!(pair.wants(10 * S, Phase::Abort), None);
    assert_eq!(pair.says(11 * S, None), None);
    assert_eq!(pair.duty.standing(), (None, Standing::Idle));
    assert_eq!(pair.wants(12 * S, Phase::Prepare), None, "it had its part in that run");
}

#[test]
fn who_watches_begins_with_the_others_and_goes_on_until_all_users_have_gone() {
    let mut pair = Pair::new();
    assert!(matches!(pair.says(S, Some(watching(Phase::Prepare))), Some(Act::Fetch { .. })));
    pair.duty.checked();
    let share = Share { offset_ns: OFFSET, part: None, watches: true };
    assert_eq!(pair.says(2 * S, Some(watching(Phase::Arm))), Some(Act::Arm(share)));
    pair.duty.armed();
    assert_eq!(pair.says(3 * S, Some(watching(Phase::Set { at_ns: 6 * S }))), None);
    let begin = Act::Begin { at_ns: 6 * S + OFFSET };
    assert_eq!(pair.says(4 * S, Some(watching(Phase::Go { at_ns: 6 * S }))), Some(begin));
    assert_eq!(pair.says(8 * S, Some(watching(Phase::Over))), Some(Act::StopAtOnce));
    assert_eq!(pair.says(9 * S, Some(watching(Phase::Over))), None);
    pair.duty.ended();
    assert_eq!(pair.standing(), Standing::Ended);
}

#[test]
fn a_step_whose_predecessor_is_not_done_is_not_taken() {
    let mut pair = Pair::new();
    assert_eq!(pair.wants(S, Phase::Arm), None, "it knows nothing of that run");
    assert_eq!(pair.wants(2 * S, Phase::Go { at_ns: 6 * S }), None);
    let mut pair = Pair::armed();
    assert_eq!(pair.wants(4 * S, Phase::Go { at_ns: 6 * S }), None, "it has agreed to no time");
    assert_eq!(pair.standing(), Standing::Armed);
    assert_eq!(pair.wants(4 * S, Phase::Set { at_ns: 6 * S }), None);
    assert_eq!(pair.wants(5 * S, Phase::Go { at_ns: 7 * S }), None, "it has agreed to another one");
}

#[test]
fn without_a_go_in_time_it_stands_still() {
    let mut pair = Pair::armed();
    assert_eq!(pair.wants(4 * S, Phase::Set { at_ns: 6 * S }), None);
    assert_eq!(pair.passes(6 * S - LAST_GO_NS - 1), None);
    assert_eq!(pair.passes(6 * S - LAST_GO_NS), Some(Act::StopAtOnce));
    assert_eq!(pair.standing(), Standing::Missed);
    assert_eq!(pair.wants(6 * S, Phase::Go { at_ns: 6 * S }), None);
    let mut pair = Pair::armed();
    assert_eq!(pair.wants(4 * S, Phase::Set { at_ns: 6 * S }), None);
    assert_eq!(pair.wants(6 * S - LAST_GO_NS, Phase::Go { at_ns: 6 * S }), Some(Act::StopAtOnce));
    assert_eq!(pair.standing(), Standing::Missed);
}

#[test]
fn users_of_whom_nobody_speaks_any_more_go_and_are_cut_off() {
    let mut pair = Pair::running();
    assert_eq!(pair.wants(10 * S, Phase::Go { at_ns: 6 * S }), None);
    assert_eq!(pair.passes(25 * S - 1), None);
    assert_eq!(pair.passes(25 * S), Some(Act::StopGently));
    assert_eq!(pair.passes(26 * S), None);
    assert_eq!(pair.passes(27 * S), Some(Act::StopAtOnce));
    assert_eq!(pair.passes(28 * S), None);
    let mut pair = Pair::armed();
    assert_eq!(pair.passes(40 * S), Some(Act::StopAtOnce), "a generator that stands ready is thrown away");
    assert_eq!(pair.standing(), Standing::Idle);
}

#[test]
fn beacons_that_came_before_or_are_old_or_of_a_controller_that_was_replaced_say_nothing() {
    let mut pair = Pair::running();
    let replayed = Beacon::of(&Claim::of(1, "a test"), pair.counter, 8 * S, Some(want("r-1", Phase::Abort)));
    assert_eq!(pair.duty.hears(8 * S + OFFSET, &replayed), None, "it has the number of the last one");
    let kept_back = Beacon::of(&Claim::of(1, "a test"), 100, 8 * S, Some(want("r-1", Phase::Stop)));
    assert_eq!(pair.duty.hears(10 * S + OFFSET + 1, &kept_back), None, "it was on its way for too long");
    let next = Beacon::of(&Claim::of(2, "a test"), 1, 9 * S, Some(want("r-1", Phase::Go { at_ns: 6 * S })));
    assert_eq!(pair.duty.hears(9 * S + OFFSET, &next), None, "another controller has taken over");
    let replaced = Beacon::of(&Claim::of(1, "a test"), 101, 10 * S, Some(want("r-1", Phase::Abort)));
    assert_eq!(pair.duty.hears(10 * S + OFFSET, &replaced), None);
    assert!(pair.duty.is_outdated(&replaced) && !pair.duty.is_outdated(&next), "an agent can say so");
    assert_eq!(pair.passes(24 * S - 1), None, "the second controller's word holds for 15 s");
    assert_eq!(pair.passes(24 * S), Some(Act::StopGently));
}

#[test]
fn another_life_of_the_agent_has_no_part_in_the_run() {
    let mut pair = Pair { duty: Duty::of("a1", 8), counter: 0 };
    assert_eq!(pair.wants(S, Phase::Prepare), None);
    assert_eq!(pair.standing(), Standing::Idle);
}

#[test]
fn a_run_that_is_wanted_instead_begins_when_the_last_one_has_ended() {
    let other = || Some(want("r-2", Phase::Prepare));
    let fetch = Act::Fetch { run: "r-2".to_string(), bundle: "00ff".to_string() };
    let mut pair = Pair::running();
    assert_eq!(pair.says(8 * S, other()), Some(Act::StopAtOnce));
    assert_eq!(pair.says(9 * S, other()), None, "its users are still there");
    pair.duty.ended();
    assert_eq!(pair.says(10 * S, other()), Some(fetch.clone()));
    let mut pair = Pair::armed();
    assert_eq!(pair.says(4 * S, other()), Some(Act::StopAtOnce));
    assert_eq!(pair.says(5 * S, other()), Some(fetch.clone()));
    pair.duty.failed("the bundle is another one");
    assert_eq!(pair.standing(), Standing::Failed { why: "the bundle is another one".to_string() });
    assert!(pair.wants(6 * S, Phase::Prepare).is_some(), "a failure is one of its run");
}

#[test]
fn an_abort_ends_whatever_was_made_ready() {
    let mut pair = Pair::armed();
    assert_eq!(pair.wants(4 * S, Phase::Abort), Some(Act::StopAtOnce));
    assert_eq!(pair.standing(), Standing::Ended);
    assert_eq!(pair.wants(5 * S, Phase::Arm), None);
}

fn any_phase() -> impl Strategy<Value = Phase> {
    let at_ns = (0..40i64).prop_map(|second| second * S);
    prop_oneof![
        Just(Phase::Prepare),
        Just(Phase::Arm),
        at_ns.clone().prop_map(|at_ns| Phase::Set { at_ns }),
        at_ns.prop_map(|at_ns| Phase::Go { at_ns }),
        Just(Phase::Stop),
        Just(Phase::Abort),
        Just(Phase::Over),
    ]
}

proptest! {
    /// Whatever is said in whichever order, and whoever is slow: it begins once at most, in time, and at a time that it had agreed to.
    #[test]
    fn it_begins_once_and_in_time_or_not_at_all(
        steps in prop::collection::vec((0..4u8, any_phase(), 1..3_000i64), 0..60),
    ) {
        let mut pair = Pair::new();
        let (mut now_ns, mut begun) = (0, 0);
        for (what, phase, later_ms) in steps {
            now_ns += later_ms * 1_000_000;
            let agreed = pair.standing();
            let act = match what {
                0 => pair.wants(now_ns, phase),
                1 => pair.passes(now_ns),
                2 => { pair.duty.checked(); None }
                _ => { pair.duty.armed(); None }
            };
            if let Some(Act::Begin { at_ns }) = act {
                begun += 1;
                prop_assert_eq!(agreed, Standing::Agreed { at_ns: at_ns - OFFSET });
                prop_assert!(now_ns + OFFSET < at_ns - LAST_GO_NS);
            }
        }
        prop_assert!(begun <= 1);
    }
}
