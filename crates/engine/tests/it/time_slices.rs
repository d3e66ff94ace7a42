//! Runs that take turns, on real threads and sockets, against one server that keeps the time.

use std::sync::Arc;
use std::time::Duration;

use engine::time_slices::{Share, TimeSlices};
use engine::{Audience, Control, Program, RunOptions, Scenario, Second, Source, Totals, run};
use model::catalogue::load::Load;
use model::{Distribution, Result};
use testkit::origin::Origin;

const SLICE: Duration = Duration::from_millis(50);

/// Every second's number, and the sessions that ended.
#[derive(Default)]
struct Seconds {
    numbers: Vec<u32>,
    sessions: u64,
    took_s: f64,
}

impl Audience for Seconds {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.numbers.push(second.interval.second);
        self.sessions += second.interval.sessions_ended;
        self.took_s += second.interval.session_sum_s;
        Ok(())
    }
}

/// Twenty users who think for 10 ms on average and ask for two pages, for two seconds.
fn options(origin: &Origin, page: &str, threads: usize, share: Option<Share>) -> RunOptions {
    let script = format!("function visit() get('/{page}/1') get('/{page}/2') end");
    let scenario = Scenario {
        think: Some(Distribution::Uniform { min: 0.0, max: 0.02 }),
        ..Scenario::of(Program::Script(Source::of("session.lua", &script, "visit")))
    };
    let load = Load { users: 20, steady_s: 2.0, ..Load::default() };
    let cpus = (0..threads).map(|thread| thread % 2).collect();
    RunOptions { cpus, share, drain_s: 1.0, ..RunOptions::of(scenario, load, origin.address()) }
}

fn drive(options: &RunOptions) -> (Totals, Seconds) {
    let mut seconds = Seconds::default();
    let totals = run(options, &Control::default(), &mut seconds).expect("the run works");
    (totals, seconds)
}

/// Two runs that take turns, of one page each, on this number of threads each.
fn in_turn(origin: &Origin, threads: usize) -> [(Totals, Seconds, u64); 2] {
    let slices = TimeSlices::new(2, SLICE);
    let one = |number: usize, page: &'static str| {
        let share = Share::of(&slices, number);
        let options = options(origin, page, threads, Some(share.clone()));
        move || {
            let (totals, seconds) = drive(&options);
            (totals, seconds, share.interrupted())
        }
    };
    let (a, b) = (one(0, "a"), one(1, "b"));
    std::thread::scope(|scope| {
        let (a, b) = (scope.spawn(a), scope.spawn(b));
        [a.join().expect("it ends"), b.join().expect("it ends")]
    })
}

impl Seconds {
    /// How long a session took on average.
    fn mean_s(&self) -> f64 {
        self.took_s / self.sessions as f64
    }
}

#[test]
fn one_asks_at_a_time_and_each_for_about_a_slice() {
    for threads in [1, 2] {
        let origin = Origin::fixed(Duration::from_millis(1)).expect("a loopback port");
        in_turn(&origin, threads);
        let mut asked: Vec<(Duration, bool)> = origin
            .ledger()
            .exchanges
            .iter()
            .map(|exchange| (exchange.arrived, exchange.path.starts_with("/a")))
            .collect();
        asked.sort_unstable();
        let turns: Vec<&[(Duration, bool)]> = asked.chunk_by(|one, other| one.1 == other.1).collect();
        // Two times two seconds in slices of 50 ms are eighty turns; a machine that is late makes them longer, not more.
        assert!((20..=90).contains(&turns.len()), "{threads} threads: {} turns", turns.len());
        let lengths = turns.iter().map(|turn| turn[turn.len() - 1].0 - turn[0].0);
        let whole = lengths.filter(|length| *length > SLICE / 2).count();
        assert!(
            whole * 10 > turns.len() * 8,
            "{threads} threads: {whole} of {} turns are whole",
            turns.len()
        );
    }
}

#[test]
fn users_and_seconds_know_nothing_of_the_time_in_which_their_run_rested() {
    let origin = Origin::fixed(Duration::from_millis(1)).expect("a loopback port");
    let (_, alone) = drive(&options(&origin, "alone", 1, None));
    for (totals, seconds, interrupted) in in_turn(&origin, 1) {
        let ratio = seconds.sessions as f64 / alone.sessions as f64;
        assert!((0.6..1.4).contains(&ratio), "{} sessions, alone {}", seconds.sessions, alone.sessions);
        let (took_s, took_alone_s) = (seconds.mean_s(), alone.mean_s());
        assert!(took_s < took_alone_s + 0.02, "a session took {took_s} s, alone {took_alone_s} s");
        assert_eq!(seconds.numbers[..2], alone.numbers[..2], "two seconds, as if alone");
        // About 40 slices with 20 users, each answer waited for.
        assert!(interrupted < 40, "{interrupted} answers were not waited for");
        assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    }
}

#[test]
fn answers_that_take_longer_than_a_slice_are_counted() {
    let origin = Origin::fixed(2 * SLICE).expect("a loopback port");
    for (totals, _, interrupted) in in_turn(&origin, 1) {
        assert!(interrupted > 20, "{interrupted}");
        assert_eq!(totals.failed.iter().sum::<u64>(), 0, "{:?}", totals.evidence);
    }
}

#[test]
fn a_run_that_never_begins_is_not_waited_for() {
    let origin = Origin::fixed(Duration::from_millis(1)).expect("a loopback port");
    let slices = TimeSlices::new(3, SLICE);
    slices.leave_out(2);
    let refused = RunOptions {
        scenario: Scenario::of(Program::Script(Source::of("session.lua", "this is no Lua", "visit"))),
        ..options(&origin, "refused", 1, Some(Share::of(&slices, 0)))
    };
    let good = options(&origin, "good", 1, Some(Share::of(&Arc::clone(&slices), 1)));
    std::thread::scope(|scope| {
        let good = scope.spawn(|| drive(&good));
        run(&refused, &Control::default(), &mut Seconds::default()).expect_err("it can't be compiled");
        let (_, seconds) = good.join().expect("it ends");
        assert!(seconds.numbers.len() >= 2, "{:?}", seconds.numbers);
    });
}
