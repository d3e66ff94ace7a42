//! A right recording of each load passes; the smallest spoilt one doesn't.

use model::catalogue::load::{Arrivals, Arriving};
use model::catalogue::mix::Order;
use model::record::interval::Pauses;
use model::{Distribution, Interval, Mix};

use super::*;
use crate::finding::{PauseFault, SessionShare};

fn alike(mix: &Mix, pauses: &[Option<Distribution>], by_cycles: bool) -> Populations {
    Populations::alike(mix.clone(), pauses.to_vec(), by_cycles)
}

/// A small generator of its own: the room has no other random source than what tests bring.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn open(pattern: Pattern, from_per_s: f64, to_per_s: f64) -> Load {
    let arrivals = Arrivals { pattern, arriving: Arriving::Sessions, from_per_s, to_per_s };
    Load { arrivals: Some(arrivals), steady_s: 60.0, ..Load::default() }
}

/// A minute of arrivals as the load asks for them.
fn minute(load: &Load, draw: &mut Draw) -> Vec<Interval> {
    let mut seconds: Vec<Interval> = (0..60).map(Interval::empty).collect();
    let (profile, mut area) = (load.profile(), 0.0);
    while let Some(at_s) = profile.time_of_area(area) {
        seconds[(at_s as usize).min(59)].arrivals += 1;
        area += match load.arrivals.expect("an open load").pattern {
            Pattern::Constant => 1.0,
            Pattern::Poisson => -(1.0 - draw.unit()).ln(),
        };
    }
    seconds
}

fn judged(load: &Load, mix: &Mix, think: Option<Distribution>, seconds: &[Interval]) -> Vec<CheckOutcome> {
    let steady = Steady::of(seconds, 0.0, 60.0);
    let tolerance = Tolerance::default();
    let populations = &alike(mix, &[think], false);
    checks(&AskedLoad { load, populations, tolerance, steady: &steady }, None, &[])
}

fn one<'a>(checks: &'a [CheckOutcome], name: &str) -> &'a CheckOutcome {
    checks
        .iter()
        .find(|check| check.check == Check::of(name))
        .unwrap_or_else(|| panic!("no {name} in {checks:?}"))
}

fn arrivals_hold(load: &Load, seconds: &[Interval]) -> (bool, Option<ArrivalsFault>) {
    let checks = judged(load, &Mix::only("visit"), None, seconds);
    let check = one(&checks, "arrivals");
    match check.finding {
        Finding::Arrivals { fault, .. } => (check.ok, fault),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn right_arrivals_hold_and_spoilt_ones_do_not() {
    let mut draw = Draw(3);
    for pattern in [Pattern::Poisson, Pattern::Constant] {
        for (from, to) in [(100.0, 100.0), (20.0, 180.0)] {
            let load = open(pattern, from, to);
            let right = minute(&load, &mut draw);
            assert_eq!(arrivals_hold(&load, &right), (true, None), "{pattern:?} {from} to {to}");
            let mut fewer = right.clone();
            fewer.iter_mut().for_each(|second| second.arrivals -= second.arrivals / 10);
            let found = arrivals_hold(&load, &fewer);
            let lost = (false, Some(ArrivalsFault::OtherNumber));
            assert_eq!(found, lost, "{pattern:?} {from} to {to}, a tenth lost");
            let mut waited = right.clone();
            waited[30].arrivals_waited = 12;
            let users = load.users;
            let none_free = ArrivalsFault::NoFreeUser { waited: 12, users };
            assert_eq!(arrivals_hold(&load, &waited), (false, Some(none_free)));
        }
    }
}

#[test]
fn arrivals_that_are_too_even_or_too_lumpy_are_not_poisson() {
    let load = open(Pattern::Poisson, 100.0, 100.0);
    let even = minute(&open(Pattern::Constant, 100.0, 100.0), &mut Draw(1));
    assert!(!arrivals_hold(&load, &even).0, "even arrivals are not random ones");
    let mut lumpy = even;
    for second in lumpy.chunks_mut(2) {
        (second[0].arrivals, second[1].arrivals) = (130, 70);
    }
    assert!(!arrivals_hold(&load, &lumpy).0, "nor are lumps");
}

#[test]
fn a_load_by_number_of_arrivals_is_over_when_they_have_come() {
    for pattern in [Pattern::Poisson, Pattern::Constant] {
        let unbounded = open(pattern, 100.0, 100.0);
        let load = Load { sessions: Some(4000), ..unbounded.clone() };
        let mut left = 4000;
        let mut seconds = minute(&unbounded, &mut Draw(5));
        for second in &mut seconds {
            second.arrivals = second.arrivals.min(left);
            left -= second.arrivals;
        }
        assert!(arrivals_hold(&load, &seconds).0, "{pattern:?}: nobody comes in the last 20 s");
        assert!(!arrivals_hold(&unbounded, &seconds).0, "{pattern:?}: of 6,000 a third is missing");
        seconds.iter_mut().for_each(|second| second.arrivals = second.arrivals * 3 / 4);
        assert!(!arrivals_hold(&load, &seconds).0, "{pattern:?}: of 4,000 a quarter is missing");
    }
}

#[test]
fn draws_are_compared_with_the_mix() {
    let weights = vec![0.70, 0.295, 0.005];
    let mix = Mix { names: vec!["a".into(), "b".into(), "c".into()], order: Order::Weights(weights) };
    let holds = |choices: Vec<u64>| {
        let seconds = [Interval { choices, ..Interval::empty(0) }];
        let checks = judged(&Load::default(), &mix, None, &seconds);
        one(&checks, "mix").clone()
    };
    assert!(holds(vec![700, 295, 5]).ok);
    assert!(holds(vec![720, 277, 3]).ok, "chance is allowed for");
    let spoilt = holds(vec![600, 395, 5]);
    let Finding::Mix(MixDraws::TooRare { name, drawn, asked }) = &spoilt.finding else {
        panic!("{spoilt:?}")
    };
    assert!(!spoilt.ok && (name.as_str(), *drawn, *asked) == ("a", 600.0, 700.0), "{spoilt:?}");
    assert!(holds(Vec::new()).ok, "nothing drawn is no fault of the mix");
}

#[test]
fn a_matrix_is_compared_row_by_row() {
    let rows = vec![vec![0.5, 0.5], vec![1.0, 0.0]];
    let mix = Mix { names: vec!["a".into(), "b".into()], order: Order::Matrix { first: 0, rows } };
    let holds = |choices: &[u64]| {
        let seconds = [Interval { choices: choices.to_vec(), ..Interval::empty(0) }];
        let checks = judged(&Load::default(), &mix, None, &seconds);
        one(&checks, "mix").clone()
    };
    assert!(holds(&[510, 490, 490, 0, 20, 0]).ok);
    assert!(!holds(&[600, 400, 400, 0, 20, 0]).ok, "a row of even chances is not 600 to 400");
    let impossible = holds(&[510, 490, 489, 1, 20, 0]);
    let one_drawn = matches!(impossible.finding, Finding::Mix(MixDraws::Impossible { drawn: 1.0 }));
    assert!(!impossible.ok && one_drawn, "{impossible:?}");
}

/// The share that is furthest off, and whether users arrive.
fn worst(check: &CheckOutcome) -> (&SessionShare, bool) {
    match &check.finding {
        Finding::MixShares { worst, open, .. } => (worst, *open),
        other => panic!("{other:?}"),
    }
}

/// The same of users who arrive, of whom 1.5 are there at once; the load has places for a thousand.
fn shares_of_arrivals(a: u64, b: u64) -> CheckOutcome {
    let rows = vec![vec![0.5, 0.5], vec![1.0, 0.0]];
    let mix = Mix { names: vec!["a".into(), "b".into()], order: Order::Matrix { first: 0, rows } };
    let load = Load { users: 1_000, ..open(Pattern::Poisson, 30.0, 30.0) };
    let tolerance = Tolerance { mix_points: Some(2.0), pause_ratio: None };
    let second = |number| Interval { busy_user_s: 1.0, thinking_user_s: 0.5, ..Interval::empty(number) };
    let seconds: Vec<Interval> = (0..20).map(second).collect();
    let steady = Steady::of(&seconds, 0.0, 60.0);
    let pauses = &[None, None];
    let populations = &alike(&mix, pauses, false);
    let demand = AskedLoad { load: &load, populations, tolerance, steady: &steady };
    let (a, b) = (session("a", a), session("b", b));
    one(&checks(&demand, None, &[&a, &b]), "mix_shares").clone()
}

#[test]
fn users_who_arrive_and_live_too_briefly_for_the_mix_are_seen_in_a_short_run() {
    let first_only = shares_of_arrivals(600, 0);
    assert!(!first_only.ok && worst(&first_only).1, "{first_only:?}");
    // Three sessions each from `a` on: a, then half and half, then 3 of 4: 75 % instead of 66.7 %.
    let three = shares_of_arrivals(1_350, 450);
    let ratio = worst(&three).0.ratio;
    assert!(!three.ok && (ratio - 0.75).abs() < 1e-9, "{three:?}");
    assert!(shares_of_arrivals(4_040, 1_960).ok, "whoever lives long enough comes near the long run");
}

#[test]
fn a_rare_session_that_is_never_drawn_is_missed() {
    let weights = vec![0.7, 0.299, 0.001];
    let mix = Mix { names: vec!["a".into(), "b".into(), "c".into()], order: Order::Weights(weights) };
    let holds = |choices: Vec<u64>| {
        let seconds = [Interval { choices, ..Interval::empty(0) }];
        one(&judged(&Load::default(), &mix, None, &seconds), "mix").clone()
    };
    assert!(holds(vec![10_500, 4_485, 15]).ok);
    assert!(holds(vec![3_500, 1_500, 0]).ok, "5 were asked for");
    let never = holds(vec![10_511, 4_489, 0]);
    let Finding::Mix(MixDraws::TooRare { name, drawn, asked }) = &never.finding else { panic!("{never:?}") };
    assert!(!never.ok && name == "c" && *drawn == 0.0 && (asked - 15.0).abs() < 0.5, "{never:?}");
}

/// A second in which that number of pauses were drawn and kept, each as `draw` and `keep` say.
fn paused(n: u64, mut draw: impl FnMut() -> f64, keep: impl Fn(f64) -> f64) -> Interval {
    let mut pauses = Pauses { drawn: n, ended: n, ..Pauses::default() };
    for _ in 0..n {
        let drawn_s = draw();
        pauses.drawn_sum_s += drawn_s;
        pauses.asked_sum_s += drawn_s;
        pauses.took_sum_s += keep(drawn_s);
    }
    Interval { pauses: vec![pauses], ..Interval::empty(0) }
}

#[test]
fn think_times_have_the_mean_that_was_asked_for() {
    let think = Distribution::Exponential { mean: 2.0, min: 0.0, max: 20.0 };
    let holds = |factor: f64| {
        let mut draw = Draw(9);
        let second = paused(5000, || factor * think.sample(draw.unit()), |drawn_s| drawn_s);
        let checks = judged(&Load::default(), &Mix::only("visit"), Some(think), &[second]);
        one(&checks, "think").clone()
    };
    assert!(holds(1.0).ok, "{:?}", holds(1.0));
    assert!(!holds(0.85).ok && !holds(1.15).ok);
    assert!(matches!(holds(0.85).finding, Finding::Pauses { by_cycles: false, .. }), "{:?}", holds(0.85));
}

#[test]
fn a_few_draws_break_nothing_by_chance() {
    let think = Distribution::ShiftedExponential { mean: 5.0, min: 3.0, max: 25.0 };
    for seed in 0..2000 {
        let mut draw = Draw(seed * 7919 + 1);
        let n = 1 + seed % 40;
        let second = paused(n, || think.sample(draw.unit()), |drawn_s| drawn_s);
        let checks = judged(&Load::default(), &Mix::only("visit"), Some(think), &[second]);
        assert!(one(&checks, "think").ok, "{n} draws: {checks:?}");
    }
}

/// A cycle of 5 s of two sessions, `quick` and `slow`.
fn cycles(quick: Pauses, slow: Pauses, tolerance: Tolerance) -> CheckOutcome {
    let mix = Mix { names: vec!["quick".into(), "slow".into()], order: Order::Weights(vec![0.9, 0.1]) };
    let second = Interval { pauses: vec![quick, slow], ..Interval::empty(0) };
    let steady = Steady::of(&[second], 0.0, 60.0);
    let cycle = Some(Distribution::Fixed { value: 5.0 });
    let pauses = &[cycle, cycle];
    let load = &Load::default();
    let populations = &alike(&mix, pauses, true);
    let demand = AskedLoad { load, populations, tolerance, steady: &steady };
    one(&checks(&demand, None, &[]), "cycle").clone()
}

fn pause_fault(check: &CheckOutcome) -> Option<&PauseFault> {
    match &check.finding {
        Finding::Pauses { by_cycles: true, fault, .. } => fault.as_ref(),
        other => panic!("{other:?}"),
    }
}

fn fixed(n: u64, took_s: f64) -> Pauses {
    let asked_s = n as f64 * 5.0;
    Pauses { drawn: n, drawn_sum_s: asked_s, ended: n, asked_sum_s: asked_s, took_sum_s: n as f64 * took_s }
}

#[test]
fn sessions_that_outlast_their_cycles_are_too_much_load() {
    let tolerance = Tolerance { mix_points: None, pause_ratio: Some(0.02) };
    assert!(cycles(fixed(900, 5.0), fixed(100, 5.09), tolerance).ok, "1.8 % is within 2 %");
    let slow = cycles(fixed(900, 5.0), fixed(100, 5.2), tolerance);
    let after_slow = |fault: &PauseFault| fault.session.as_deref() == Some("slow") && fault.drawn_right;
    assert!(!slow.ok && pause_fault(&slow).is_some_and(after_slow), "{slow:?}");
    let wider = Tolerance { pause_ratio: Some(0.05), ..tolerance };
    assert!(cycles(fixed(900, 5.0), fixed(100, 5.2), wider).ok, "a kit may allow more");
    assert!(cycles(fixed(900, 5.0), fixed(5, 9.0), tolerance).ok, "five are not judged by themselves");
    let others = cycles(fixed(40, 5.0), fixed(5, 9.0), tolerance);
    let together = |fault: &PauseFault| fault.session.is_none();
    assert!(!others.ok && pause_fault(&others).is_some_and(together), "but with the others: {others:?}");
}

#[test]
fn what_was_drawn_wrong_is_the_instrument_s_fault() {
    let short = Pauses { drawn_sum_s: 900.0 * 4.8, ..fixed(900, 5.0) };
    let check = cycles(short, fixed(100, 5.0), Tolerance::default());
    assert!(!check.ok && pause_fault(&check).is_some_and(|fault| !fault.drawn_right), "{check:?}");
}

fn session(name: &str, completed: u64) -> OperationResult {
    let names = [model::record::interval::OperationName {
        kind: model::OperationKind::Session,
        name: name.to_string(),
    }];
    let seen = model::OperationInterval { completed, ..model::OperationInterval::empty() };
    let second = Interval { operations: vec![seen], ..Interval::empty(0) };
    crate::operations(&Steady::of(&[second], 0.0, 1.0), &names).swap_remove(0)
}

/// The check of shares of a matrix whose long run is two of `a` to one of `b`.
fn shares_of(a: u64, b: u64, users: u32) -> CheckOutcome {
    let rows = vec![vec![0.5, 0.5], vec![1.0, 0.0]];
    let mix = Mix { names: vec!["a".into(), "b".into()], order: Order::Matrix { first: 0, rows } };
    let load = Load { users, ..Load::default() };
    let tolerance = Tolerance { mix_points: Some(2.0), pause_ratio: None };
    let steady = Steady::of(&[Interval::empty(0)], 0.0, 60.0);
    let pauses = &[None, None];
    let populations = &alike(&mix, pauses, false);
    let demand = AskedLoad { load: &load, populations, tolerance, steady: &steady };
    let (a, b) = (session("a", a), session("b", b));
    one(&checks(&demand, None, &[&a, &b]), "mix_shares").clone()
}

#[test]
fn shares_are_within_points_and_a_short_run_is_allowed_its_chance() {
    assert!(shares_of(68_000, 32_000, 10).ok, "1.3 points");
    let off = shares_of(70_000, 30_000, 10);
    let rare = worst(&off).0;
    assert!(!off.ok && (rare.ratio - 0.3).abs() < 1e-9, "{off:?}");
    assert!((rare.expected_ratio - 1.0 / 3.0).abs() < 1e-9 && !worst(&off).1, "{off:?}");
    let short = shares_of(35, 15, 10);
    assert!(short.ok && worst(&short).0.allowed_ratio > 0.02, "the same shares of 50: {short:?}");
    assert!(!shares_of(49, 1, 10).ok, "what chance never does is not allowed to it");
}

#[test]
fn a_rare_session_that_comes_a_few_times_in_a_short_run_is_no_other_mix() {
    let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
    let mix = Mix { names: names.clone(), order: Order::Weights(vec![0.7, 0.295, 0.005]) };
    let (load, tolerance) = (Load::default(), Tolerance { mix_points: Some(0.5), pause_ratio: None });
    let steady = Steady::of(&[Interval::empty(0)], 0.0, 60.0);
    let (pauses, mut draw) = (&[None, None, None], Draw(5));
    let populations = &alike(&mix, pauses, false);
    let demand = AskedLoad { load: &load, populations, tolerance, steady: &steady };
    let mut rows: Vec<OperationResult> = names.iter().map(|name| session(name, 0)).collect();
    for run in 0..3_000 {
        rows.iter_mut().for_each(|row| row.completed = 0);
        for _ in 0..50 {
            let u = draw.unit();
            rows[usize::from(u >= 0.7) + usize::from(u >= 0.995)].completed += 1;
        }
        let checks = checks(&demand, None, &rows.iter().collect::<Vec<_>>());
        let shares = one(&checks, "mix_shares");
        assert!(shares.ok, "run {run}: {shares:?}");
    }
}

#[test]
fn a_closed_load_without_think_times_is_asked_neither_for_arrivals_nor_for_thinks() {
    let checks = judged(&Load::default(), &Mix::only("visit"), None, &[Interval::empty(0)]);
    let names: Vec<_> = checks.iter().map(|check| check.check.id()).collect();
    assert_eq!(names, ["mix"]);
}

#[test]
fn the_chi_square_quantile_is_that_of_tables() {
    for (freedom, expected) in [(1, 10.83), (5, 20.52), (10, 29.59), (60, 99.61)] {
        let found = chi_square(freedom, 3.0902);
        assert!((found / expected - 1.0).abs() < 0.04, "{freedom} degrees: {found} against {expected}");
    }
}

/// Two kinds of users, of whom the editors keep to cycles and begin with a login.
fn two_kinds() -> Populations {
    let text = r#"
        [editors]
        share = 0.1
        mix = { edit = 1, save = 1 }
        begins_with = "login"
        cycle = { distribution = "fixed", value = 5.0 }
        [readers]
        share = 0.9
        mix = { read = 3, search = 1 }
        think = { distribution = "fixed", value = 2.0 }
    "#;
    let users = "default = 1\nramp_per_s = 1.0";
    let (declared, users) = (toml::from_str(text).expect("two kinds"), toml::from_str(users).expect("users"));
    Populations::resolve(&Default::default(), &declared, &users).expect("no mistake")
}

/// The checks of 10 editors and 90 readers who made these choices and paused so, of sessions in the order of their numbers: edit,
/// save, login, read, search.
fn of_two_kinds(choices: Vec<u64>, pauses: Vec<Pauses>, completed: [u64; 5]) -> Vec<CheckOutcome> {
    let load = Load { users: 100, ..Load::default() };
    let tolerance = Tolerance { mix_points: Some(2.0), pause_ratio: None };
    let steady = Steady::of(&[Interval { choices, pauses, ..Interval::empty(0) }], 0.0, 60.0);
    let populations = &two_kinds();
    let names = ["edit", "save", "login", "read", "search"];
    let rows: Vec<OperationResult> =
        names.iter().zip(completed).map(|(name, completed)| session(name, completed)).collect();
    let demand = AskedLoad { load: &load, populations, tolerance, steady: &steady };
    checks(&demand, None, &rows.iter().collect::<Vec<_>>())
}

#[test]
fn each_population_is_judged_by_its_own_mix_and_its_own_pauses() {
    let thinks = |n: u64, took_s: f64| {
        let asked_s = n as f64 * 2.0;
        Pauses {
            drawn: n,
            drawn_sum_s: asked_s,
            ended: n,
            asked_sum_s: asked_s,
            took_sum_s: n as f64 * took_s,
        }
    };
    let pauses =
        || vec![fixed(60, 5.0), fixed(60, 5.0), fixed(10, 5.0), thinks(1_900, 2.0), thinks(700, 2.0)];
    // The cells: edit, save, the editors' sessions, read, search, the readers' sessions.
    let choices = || vec![60, 60, 130, 1_950, 650, 2_600];
    let completed = [60, 60, 10, 1_950, 650];
    let right = of_two_kinds(choices(), pauses(), completed);
    let names: Vec<_> = right.iter().map(|check| check.check.id()).collect();
    assert_eq!(names, ["mix", "mix_shares", "think", "cycle"]);
    assert!(right.iter().all(|check| check.ok), "{right:?}");
    let slow = vec![fixed(60, 5.0), fixed(60, 5.4), fixed(10, 5.0), thinks(1_900, 2.0), thinks(700, 2.0)];
    let slow = of_two_kinds(choices(), slow, completed);
    assert!(!one(&slow, "cycle").ok && one(&slow, "think").ok, "{slow:?}");
    // As many reads as searches: that is another mix of the readers, and none of the editors.
    let other = of_two_kinds(vec![60, 60, 130, 1_300, 1_300, 2_600], pauses(), [60, 60, 10, 1_300, 1_300]);
    let (share, open) = worst(one(&other, "mix_shares"));
    assert!(!one(&other, "mix").ok && !one(&other, "mix_shares").ok && !open, "{other:?}");
    assert!(share.name == "read" || share.name == "search", "{share:?}");
    let never = of_two_kinds(vec![120, 0, 130, 1_950, 650, 2_600], pauses(), [120, 0, 10, 1_950, 650]);
    let Finding::Mix(MixDraws::TooRare { name, .. }) = &one(&never, "mix").finding else {
        panic!("{never:?}")
    };
    assert_eq!(name, "save");
}
