//! Finding the steady state while a trial runs, and its end: enough steady seconds, a load that is hopeless, or a
//! stack that doesn't settle.

use analysis::Steady;
use engine::Second;
use model::OperationInterval;
use model::record::Event;
use model::{OperationKind, QosTarget};

use crate::pace::{Pace, Pacing, phase};
use crate::trial::partner::Partner;

/// A steady state that begins later than this many seconds after the ramp-up, or than the window is long, is given up.
const MIN_SETTLE_TIMEOUT_S: u32 = 20;
/// Number of seconds in a row that decide that a load is hopeless.
const HOPELESS_S: usize = 10;
/// With this share of operations failed it is.
const HOPELESS_FAILED_RATIO: f64 = 0.5;
/// Seconds over which a mean response beyond all limits says that a stack which has not settled so far is behind by far.
const BEHIND_S: usize = 10;
/// Users have aged when their pauses are older at a window's end than at its beginning, and their sessions younger, by no more than
/// this share of their time in it, or by this number of standard errors: what Little's law allows for (`analysis::little`).
const AGED_RATIO: f64 = 0.02;
const AGED_STANDARD_ERRORS: f64 = 3.0;
/// With nothing completed it is, when users spent this share of their time waiting for the stack.
const HOPELESS_BUSY_RATIO: f64 = 0.9;

/// How a trial ended by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ending {
    /// Its window is in; the steady state began this number of seconds after the ramp-up.
    Settled(u32),
    /// Hardly anything succeeds any more: more seconds would say the same.
    Hopeless,
    /// No steady state was found in time, or none where responses take longer than all limits on average: how much longer
    /// doesn't matter.
    Unsettled,
}

/// Finds the steady state of a trial.
pub(crate) struct Settling {
    ramp_up_s: u32,
    /// Seconds after the ramp-up before which no steady state begins.
    min_warm_up_s: u32,
    window_s: u32,
    /// The largest of the targets' limits on times.
    largest_limit_s: Option<f64>,
    /// The longest mean pause of its users; 0 without pauses.
    pause_s: f64,
    /// The ages of all sessions at the ramp-up's end together.
    begun_session_age_s: f64,
    /// The seconds after the ramp-up.
    seen: Vec<Seen>,
    /// Those after the minimum warm-up, together: what is said of it before its window is known.
    after_warm_up: Steady,
    last: u32,
    ending: Option<Ending>,
    /// The trial that it takes turns with, which it ends together with.
    partner: Option<Partner>,
}

/// A second after the ramp-up.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    completed: f64,
    failed: f64,
    /// Sum of the response times.
    response_s: f64,
    busy_user_s: f64,
    user_s: f64,
    thinking_user_s: f64,
    /// The ages of all pauses at its end together.
    pause_age_s: f64,
    /// The same of all sessions.
    session_age_s: f64,
    sessions_ended: f64,
    /// Sum of the squares of their durations.
    session_sum_s2: f64,
    /// Arrivals that had to wait for a user to be free.
    waited: f64,
}

impl Settling {
    /// For a ramp-up, a minimum warm-up and a window of these whole seconds.
    pub(crate) fn new(ramp_up_s: u32, min_warm_up_s: u32, window_s: u32) -> Settling {
        let window_s = window_s.max(1);
        let (largest_limit_s, pause_s, begun_session_age_s) = (None, 0.0, 0.0);
        let (seen, last, ending, partner) = (Vec::new(), 0, None, None);
        let after_warm_up = Steady::new(f64::from(ramp_up_s + min_warm_up_s), f64::INFINITY);
        Settling {
            ramp_up_s,
            min_warm_up_s,
            window_s,
            largest_limit_s,
            pause_s,
            begun_session_age_s,
            seen,
            after_warm_up,
            last,
            ending,
            partner,
        }
    }

    /// By `targets` it is known what is beyond all limits.
    pub(crate) fn by(self, targets: &[QosTarget]) -> Settling {
        let times = targets.iter().filter(|target| target.measure.is_time());
        Settling { largest_limit_s: times.map(|target| target.limit).max_by(f64::total_cmp), ..self }
    }

    /// Of users whose longest mean pause is that long.
    pub(crate) fn with_pauses(self, pause_s: f64) -> Settling {
        Settling { pause_s, ..self }
    }

    /// Of a trial that takes turns with another one: both have the same seconds for their windows.
    pub(crate) fn with(self, partner: Partner) -> Settling {
        Settling { partner: Some(partner), ..self }
    }

    /// Seconds after the ramp-up in which the trial must have ended.
    pub(crate) fn max_s(min_warm_up_s: u32, window_s: u32) -> u32 {
        min_warm_up_s + window_s + window_s.max(MIN_SETTLE_TIMEOUT_S)
    }

    /// It decides by itself from now on, and so does its partner.
    pub(crate) fn leave_partner(&mut self) {
        self.partner = None;
    }

    /// How it ended; absent when something else ended it.
    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The seconds of the run that count, from and to: the steady ones, or the last ones where there are none.
    pub(crate) fn window(&self) -> (u32, u32) {
        let length = self.seen.len() as u32;
        let from = match self.ending {
            Some(Ending::Settled(warm_up_s)) => warm_up_s,
            Some(Ending::Hopeless) => length.saturating_sub(HOPELESS_S as u32),
            Some(Ending::Unsettled) | None => length.saturating_sub(self.window_s),
        };
        (self.ramp_up_s + from, self.ramp_up_s + length)
    }

    fn decide(&self) -> Option<Ending> {
        let length = self.seen.len() as u32;
        if hopeless(&self.seen) {
            return Some(Ending::Hopeless);
        }
        let would_have_settled = length >= self.min_warm_up_s + self.window_s;
        let ends = length >= Settling::max_s(self.min_warm_up_s, self.window_s)
            || would_have_settled && self.is_behind_by_far();
        let begin = self.warm_up_s().filter(|begin| would_have_settled && length - begin >= self.window_s);
        let settled = begin.and_then(|begin| self.aged_from(begin).or(ends.then_some(begin)));
        let agreed = match &self.partner {
            Some(partner) => partner.agree(settled, length, self.window_s),
            None => settled,
        };
        if let Some(warm_up_s) = agreed {
            return Some(Ending::Settled(warm_up_s));
        }
        ends.then_some(Ending::Unsettled)
    }

    /// The first second from `begin` on from which pauses have not become older, and sessions no younger, with a whole window after
    /// it. Users who were stuck in a stack that was behind are in sessions that began long ago, and come back together, all early in
    /// their pauses, some time after the ramp-up.
    fn aged_from(&self, begin: u32) -> Option<u32> {
        let last = (self.seen.len() as u32).checked_sub(self.window_s)?;
        (begin..=last).find(|from| self.pauses_have_aged(*from, last) && self.sessions_are_over(*from, last))
    }

    /// What is allowed is told by the last window, which begins at `last`.
    fn pauses_have_aged(&self, from: u32, last: u32) -> bool {
        let Some(now) = self.seen.last().filter(|_| self.pause_s > 0.0) else { return true };
        let user_s: f64 = self.seen[last as usize..].iter().map(|one| one.user_s).sum();
        // Pauses are about exponential, so that their age has the deviation of its mean, at either end.
        let allowed_s = allowed_s(user_s, self.pause_s, now.thinking_user_s);
        now.pause_age_s - self.seen[from as usize].pause_age_s <= allowed_s
    }

    /// Likewise: those that were under way before the second `from` are counted whole, and took place in the window in part only.
    fn sessions_are_over(&self, from: u32, last: u32) -> bool {
        let window = &self.seen[last as usize..];
        let sum = |of: fn(&Seen) -> f64| window.iter().map(of).sum::<f64>();
        let (ended, busy_user_s) = (sum(|one| one.sessions_ended), sum(|one| one.busy_user_s));
        let Some(now) = self.seen.last().filter(|_| ended > 0.0) else { return true };
        let session_s = (sum(|one| one.session_sum_s2) / ended).sqrt();
        let allowed_s = allowed_s(busy_user_s, session_s, busy_user_s / window.len() as f64);
        let before = from.checked_sub(1).map(|second| self.seen[second as usize].session_age_s);
        before.unwrap_or(self.begun_session_age_s) - now.session_age_s <= allowed_s
    }

    /// Of two that take turns both are to say the same of the same seconds: neither ends for this.
    fn is_behind_by_far(&self) -> bool {
        let last = &self.seen[self.seen.len().saturating_sub(BEHIND_S)..];
        let sum = |of: fn(&Seen) -> f64| last.iter().map(of).sum::<f64>();
        let (completed, response_s) = (sum(|one| one.completed), sum(|one| one.response_s));
        let beyond = |limit_s: f64| completed > 0.0 && response_s > limit_s * completed;
        self.partner.is_none() && self.largest_limit_s.is_some_and(beyond)
    }

    /// Seconds after the ramp-up at which the steady state began; absent when it has not yet. It is looked for among the
    /// seconds after the minimum warm-up.
    fn warm_up_s(&self) -> Option<u32> {
        let seen = self.seen.get(self.min_warm_up_s as usize..)?;
        let completed: Vec<f64> = seen.iter().map(|one| one.completed).collect();
        let mean: Vec<f64> = seen.iter().map(|one| one.response_s / one.completed).collect();
        let from = analysis::warm_up::steady_from(&completed, &mean)?;
        Some(self.min_warm_up_s + from as u32)
    }
}

impl Pace for Settling {
    fn second(&mut self, second: &Second<'_>) -> Pacing {
        self.last = second.interval.second;
        let (ramp_up_s, number) = (self.ramp_up_s, self.last);
        self.after_warm_up.push(second.interval);
        let mut events = Vec::new();
        if number + 1 == ramp_up_s {
            events.push(phase(f64::from(ramp_up_s), "every user has begun"));
            self.begun_session_age_s = second.interval.session_age_s;
        }
        if number < ramp_up_s || self.ending.is_some() {
            return Pacing { events, ..Pacing::default() };
        }
        self.seen.push(Seen::of(second));
        self.ending = self.decide();
        if matches!(self.ending, Some(Ending::Hopeless | Ending::Unsettled)) {
            self.leave_partner();
        }
        if let Some(ending) = self.ending {
            let (from, to) = self.window();
            events.extend(ending_events(ending, f64::from(from), f64::from(to)));
        }
        Pacing { events, enough: self.ending.is_some(), ..Pacing::default() }
    }

    fn steady(&self) -> &Steady {
        &self.after_warm_up
    }

    fn words(&self) -> (String, f64) {
        let length = self.seen.len() as u32;
        let before_s = self.ramp_up_s + self.min_warm_up_s;
        let all = f64::from(before_s + self.window_s);
        if self.last < self.ramp_up_s {
            let at = self.last + 1;
            return (format!("ramp-up {at} of {} s", self.ramp_up_s), f64::from(at) / all);
        }
        let steady = self.warm_up_s().map_or(0, |begin| length - begin.min(length));
        let done = |steady: u32| f64::from(before_s + steady.min(self.window_s)) / all;
        match steady {
            0 => {
                let done = f64::from(self.ramp_up_s + length.min(self.min_warm_up_s)) / all;
                (format!("warming up for {length} s"), done)
            }
            _ => (format!("steady {} of {} s", steady.min(self.window_s), self.window_s), done(steady)),
        }
    }
}

/// How far the ages of that number of users may be apart at the two ends of a window in which they spent `user_s`, where the age of
/// one has the deviation `age_s`.
fn allowed_s(user_s: f64, age_s: f64, users: f64) -> f64 {
    (AGED_RATIO * user_s).max(AGED_STANDARD_ERRORS * age_s * (2.0 * users).sqrt())
}

fn ending_events(ending: Ending, from_s: f64, to_s: f64) -> Vec<Event> {
    match ending {
        Ending::Settled(_) => {
            vec![phase(from_s, "steady state begins, as found"), phase(to_s, "enough was measured")]
        }
        Ending::Hopeless => vec![phase(to_s, "hopeless: hardly anything succeeds any more")],
        Ending::Unsettled => vec![phase(to_s, "given up: no steady state was found")],
    }
}

impl Seen {
    fn of(second: &Second<'_>) -> Seen {
        let interval = second.interval;
        let rows = second.names.iter().zip(&interval.operations);
        let operations = rows.filter(|(name, _)| name.kind == OperationKind::Operation);
        let mut seen = Seen {
            busy_user_s: interval.busy_user_s,
            user_s: interval.busy_user_s + interval.thinking_user_s,
            thinking_user_s: interval.thinking_user_s,
            pause_age_s: interval.think_age_s,
            session_age_s: interval.session_age_s,
            sessions_ended: interval.sessions_ended as f64,
            session_sum_s2: interval.session_sum_s2,
            waited: interval.arrivals_waited as f64,
            ..Seen::default()
        };
        operations.for_each(|(_, row)| seen.add(row));
        seen
    }

    fn add(&mut self, row: &OperationInterval) {
        self.completed += row.completed as f64;
        self.failed += row.failed() as f64;
        self.response_s += row.response.mean() / 1e6 * row.response.len() as f64;
    }
}

/// Half of what ends fails; or nothing ends although all users wait; or arrivals find no user free: for ten seconds.
fn hopeless(seen: &[Seen]) -> bool {
    let Some(last) = seen.len().checked_sub(HOPELESS_S).map(|from| &seen[from..]) else { return false };
    let sum = |of: fn(&Seen) -> f64| last.iter().map(of).sum::<f64>();
    let (completed, failed) = (sum(|one| one.completed), sum(|one| one.failed));
    let failing = failed >= HOPELESS_FAILED_RATIO * (completed + failed) && failed >= HOPELESS_S as f64;
    let busy_s = sum(|one| one.busy_user_s);
    let stuck = completed == 0.0 && busy_s > 0.0 && busy_s >= HOPELESS_BUSY_RATIO * sum(|one| one.user_s);
    let short = last.iter().all(|one| one.waited > 0.0);
    failing || stuck || short
}

#[cfg(test)]
mod tests {
    use model::Interval;
    use model::record::interval::{OperationInterval, OperationName, record_ns};

    use super::*;

    /// What a second is like: completed, failed, their response time in ms.
    type Like = (u64, u64, u64);

    /// Drives through `like(second of the run)` until the trial ends; says where, and at which second.
    fn ended(settling: Settling, like: impl Fn(u32) -> Like) -> (Ending, (u32, u32)) {
        ended_with(settling, like, |_| ())
    }

    /// The same with more in each second.
    fn ended_with(
        mut settling: Settling,
        like: impl Fn(u32) -> Like,
        more: impl Fn(&mut Interval),
    ) -> (Ending, (u32, u32)) {
        let names = [OperationName { kind: OperationKind::Operation, name: "Browse".into() }];
        for number in 0..200 {
            let (completed, failed, ms) = like(number);
            let mut row = OperationInterval { completed, ..OperationInterval::empty() };
            row.errors[0] = failed;
            (0..completed).for_each(|_| record_ns(&mut row.response, ms * 1_000_000));
            let mut interval = Interval::empty(number);
            interval.busy_user_s = if completed == 0 { 10.0 } else { 5.0 };
            interval.thinking_user_s = 10.0 - interval.busy_user_s;
            more(&mut interval);
            interval.operations.push(row);
            let pacing = settling.second(&Second { interval: &interval, names: &names, evidence: &[] });
            let (words, done) = settling.words();
            assert!(!words.is_empty() && (0.0..=1.0).contains(&done), "{words} {done}");
            if pacing.enough {
                let ending = settling.ending().expect("it has ended");
                assert!(pacing.events.iter().all(|event| event.kind == "phase"), "{:?}", pacing.events);
                return (ending, settling.window());
            }
        }
        panic!("a trial ends by itself");
    }

    #[test]
    fn a_calm_stack_is_measured_for_the_window_and_no_longer_than_it_takes() {
        let calm = |second: u32| (100 + u64::from(7 * second % 5), 0, 10 + u64::from(5 * second % 3));
        let (ending, (from, to)) = ended(Settling::new(3, 0, 20), calm);
        let Ending::Settled(warm_up_s) = ending else { panic!("{ending:?}") };
        assert_eq!(from, 3 + warm_up_s);
        assert!(to - from >= 20 && to <= 3 + 30, "nothing changed, and it took from {from} to {to}");
    }

    #[test]
    fn a_stack_that_warms_up_is_measured_from_where_it_is_warm() {
        let (ending, (from, to)) = ended(Settling::new(2, 0, 30), |second| match second {
            0..12 => (40 + 5 * u64::from(second), 0, 60 - 4 * u64::from(second)),
            _ => (100 + u64::from(second % 3), 0, 10 + u64::from(second % 2)),
        });
        assert!(matches!(ending, Ending::Settled(_)), "{ending:?}");
        assert!((9..=16).contains(&from), "it was warm at second 12, found was {from}");
        assert!(to - from >= 30 && to < 60, "{from} to {to}");
    }

    #[test]
    fn no_steady_state_begins_before_the_min_warm_up_is_over() {
        let calm = |second: u32| (100 + u64::from(7 * second % 5), 0, 10 + u64::from(5 * second % 3));
        let (ending, (from, to)) = ended(Settling::new(2, 15, 10), calm);
        let Ending::Settled(warm_up_s) = ending else { panic!("{ending:?}") };
        assert!(warm_up_s >= 15 && to - from >= 10 && to <= 2 + 15 + 20, "{warm_up_s} s, {from} to {to}");
    }

    #[test]
    fn users_who_were_all_early_in_their_pauses_have_aged_before_a_steady_state_begins() {
        let calm = |second: u32| (100 + u64::from(7 * second % 5), 0, 10 + u64::from(5 * second % 3));
        let young = |second: &mut Interval| second.think_age_s = f64::from(second.second.min(15));
        let begin = |settling: Settling| ended_with(settling, calm, young).1;
        let (from, to) = begin(Settling::new(2, 0, 20).with_pauses(1.0));
        // Three standard errors of five pauses of 1 s are 9.5 s.
        assert!(from >= 6 && to - from >= 20 && to < 2 + 40, "{from} to {to}");
        assert!(begin(Settling::new(2, 0, 20)).0 < 6, "of users without pauses nothing ages");
        let never = ended_with(Settling::new(2, 0, 20).with_pauses(1.0), calm, |second| {
            second.think_age_s = f64::from(10 * second.second);
        });
        assert!(matches!(never, (Ending::Settled(_), (_, 42))), "Little's law says so then: {never:?}");
    }

    #[test]
    fn sessions_that_were_stuck_in_a_cold_stack_are_over_before_a_steady_state_begins() {
        let calm = |second: u32| (100 + u64::from(7 * second % 5), 0, 10 + u64::from(5 * second % 3));
        // Of sessions that take 10 ms some are under way since the first second, and end in that one.
        let begin = |last: u32| {
            let sessions = |second: &mut Interval| {
                (0..100).for_each(|_| second.session_ended(0.01));
                second.session_age_s =
                    if second.second < last { 10.0 * f64::from(second.second) } else { 0.05 };
                if second.second == last {
                    (0..4).for_each(|_| second.session_ended(f64::from(last)));
                }
            };
            ended_with(Settling::new(2, 0, 20), calm, sessions).1
        };
        let (from, to) = begin(9);
        assert!(from == 10 && to - from >= 20, "they are counted whole in second 9: {from} to {to}");
        assert!(begin(1).0 < 6, "over before every user has begun");
    }

    #[test]
    fn a_stack_that_never_settles_is_given_up() {
        let (ending, (from, to)) =
            ended(Settling::new(2, 0, 30), |second| (100, 0, 10 + 5 * u64::from(second)));
        assert_eq!(ending, Ending::Unsettled);
        assert_eq!((to - 2, to - from), (Settling::max_s(0, 30), 30), "its last seconds are what there is");
    }

    #[test]
    fn a_stack_that_has_not_settled_and_is_beyond_all_limits_is_not_waited_for() {
        let targets = ["p90 < 1s", "p99 < 3s", "errors < 1%"].map(|text| text.parse().expect("a target"));
        let slower = |second: u32| (100, 0, 100 * u64::from(second));
        let behind = ended(Settling::new(2, 0, 60).by(&targets), slower);
        assert_eq!(behind, (Ending::Unsettled, (2, 2 + 60)), "5.6 s on average at the end of its window");
        let near = |second: u32| (100, 0, 10 + 5 * u64::from(second));
        let (ending, (_, to)) = ended(Settling::new(2, 0, 60).by(&targets), near);
        assert_eq!((ending, to), (Ending::Unsettled, 2 + 120), "one that may meet them has all the time");
    }

    #[test]
    fn what_mostly_fails_is_not_sat_out() {
        let (ending, (from, to)) = ended(Settling::new(2, 0, 90), |second| match second {
            0..5 => (100, 0, 10),
            _ => (40, 60, 900),
        });
        assert_eq!(ending, Ending::Hopeless);
        assert_eq!(to - from, HOPELESS_S as u32);
        assert!(to < 2 + 30, "it ended at second {to}, long before 90 s were in");
    }

    #[test]
    fn a_stack_that_answers_nobody_any_more_is_hopeless() {
        let (ending, (_, to)) = ended(Settling::new(2, 0, 90), |second| ((second < 10).into(), 0, 10));
        assert_eq!(ending, Ending::Hopeless);
        assert!((20..30).contains(&to), "{to}");
    }

    #[test]
    fn a_few_failures_are_not_hopeless() {
        let (ending, _) = ended(Settling::new(2, 0, 20), |_| (90, 10, 10));
        assert!(matches!(ending, Ending::Settled(_)), "{ending:?}");
    }
}
