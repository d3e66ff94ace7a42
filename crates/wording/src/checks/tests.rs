//! What the sentence of each check must carry.

use analysis::{
    ArrivalsFault, Balance, Bound, Lack, Little, LogAlarm, MixDraws, OneOf, PauseFault, Samples, SendLag,
    SessionShare, SteadyEnd, TierEvent, TierFault,
};
use model::catalogue::load::Pattern;
use model::record::{AskedBy, ConsistencyResult, Evidence, LoadChange, UntimedResult};
use model::{MemoryKill, Problem};

use super::*;

const ASKING: [Asking; 3] = [Asking::Run, Asking::Trial, Asking::Hit];

/// The sentence of a check that broke.
fn broken(finding: Finding) -> String {
    sentence(&finding, false, Asking::Run)
}

fn contains(sentence: &str, parts: &[&str]) {
    for part in parts {
        assert!(sentence.contains(part), "`{part}` is missing in: {sentence}");
    }
}

fn lag() -> SendLag {
    SendLag {
        lag_s: Some(0.0071),
        worst_s: Some(0.009),
        cpu_wait_ratio: 0.001,
        steal_ratio: Some(0.0),
        foreign_cores: Some(0.01),
        cpu_ratio: 0.2,
        shares_cpus: false,
    }
}

#[test]
fn how_the_load_was_changed_by_hand_is_told_in_numbers_of_users() {
    let change = |from, to| LoadChange { second: 1.0, from, to, by: AskedBy::Page };
    let said = |changes: &[LoadChange]| broken(Finding::LoadByHand(changes.to_vec()));
    assert_eq!(said(&[change(5, 20), change(20, 2)]), "load changed by hand 2 times, 2 to 20 users");
    assert_eq!(said(&[change(5, 20)]), "load changed by hand once, 5 to 20 users");
    contains(&said(&[]), &["nobody did"]);
    assert_eq!(crate::load_change(&change(5, 20)), "5 to 20 users asked for (page)");
}

#[test]
fn a_page_that_takes_more_than_it_should_is_told_although_it_is_allowed() {
    let holds = |cores: f64| sentence(&Finding::Viewer { cores }, true, Asking::Run);
    contains(&holds(0.03), &["3 % of a CPU", "5 % allowed", "more than 1 %"]);
    assert!(!holds(0.01).contains("more than"), "{}", holds(0.01));
}

/// Twenty users, in a minute of 400 s inside sessions and 800 s of thinks.
fn little() -> Little {
    let balance = |integral_s: f64| Balance {
        integral_s,
        counted_s: integral_s * 1.001,
        ended: 1000,
        standard_error_s: 1.0,
        edges_s: integral_s * 0.001,
    };
    Little { sessions: balance(400.0), thinks: balance(800.0), users: balance(1200.0), length_s: 60.0 }
}

fn of_little(change: impl FnOnce(&mut Little)) -> Finding {
    let mut little = little();
    change(&mut little);
    Finding::Little { little, excuse: None }
}

#[test]
fn a_record_has_the_check_its_figures_and_its_sentence() {
    let outcome = CheckOutcome {
        check: Check::GeneratorCpu,
        ok: true,
        observed: Some(0.2),
        limit: Some(0.8),
        finding: Finding::GeneratorCpu { used_ratio: 0.2 },
    };
    let found = checks([&outcome], Asking::Run);
    assert_eq!((&found[0].check, found[0].ok), (&Check::GeneratorCpu, true));
    assert_eq!((found[0].observed, found[0].limit), (Some(0.2), Some(0.8)));
    assert_eq!(found[0].sentence, "the generator used 20 % of its CPUs, at most 80 % allowed");
}

#[test]
fn every_check_that_holds_says_something() {
    let (completed, pattern) = (5000, Pattern::Poisson);
    let worst =
        SessionShare { name: "Browse".into(), ratio: 0.301, expected_ratio: 0.3, allowed_ratio: 0.02 };
    let table = [
        (Finding::Tiers(Vec::new()), "every tier ran from start to end"),
        (duration(60.0, SteadyEnd::Whole), "60.0 s of 60.0 s steady state recorded"),
        (Finding::Room { exhausted: 0 }, "the generator's machine had room for every connection"),
        (
            Finding::Operations { completed, failed: 0, never: None, first: None },
            "5 000 of 5 000 operations completed",
        ),
        (
            Finding::GeneratorThread { used_ratio: 0.2 },
            "its busiest thread used 20 % of a CPU, at most 90 % allowed",
        ),
        (
            Finding::SendLag(SendLag { lag_s: Some(0.0004), ..lag() }),
            "send lag p99 400 µs, at most 5.00 ms allowed",
        ),
        (Finding::SendLag(SendLag { lag_s: None, ..lag() }), "nothing was sent, so nothing was late"),
        (Finding::Users { mean: 20.0, asked: 20, left: None }, "20 of 20 users were at work"),
        (
            Finding::Arrivals { began: 6000, intended: 6000.4, pattern, fault: None },
            "6 000 of 6 000 intended arrivals began, at random; none had to wait for a user",
        ),
        (Finding::Mix(MixDraws::OneSession), "there is one session, so there is no mix to judge"),
        (
            Finding::Mix(MixDraws::NotJudged),
            "nothing of the mix is left to chance, or too little was drawn to judge it",
        ),
        (
            Finding::Mix(MixDraws::ChiSquare { chi2: 1.5, freedom: 2, limit: 19.8 }),
            "sessions were drawn as the mix asks (chi-square 1.50 on 2 degrees of freedom, at most 19.8 allowed)",
        ),
        (
            Finding::MixShares { worst, points: 2.0, open: false },
            "Browse was 30.1 % of the sessions that completed, 30.0 % asked for, the furthest off of all (2.00 points \
             allowed)",
        ),
        (
            Finding::Pauses { by_cycles: false, mean_s: 2.01, asked_s: 2.0, fault: None },
            "think times were 2.01 s on average, 2.00 s asked for",
        ),
        (
            of_little(|_| {}),
            "Little's law holds: 20.0 users by time integral, 20.0 by X·(R+Z); largest difference within 2 %",
        ),
        (Finding::Samples(Samples::NoTarget), "no target asks for samples"),
        (
            Finding::Samples(Samples::Enough { fewest: 5000 }),
            "every target has the samples it needs (the fewest: 5 000)",
        ),
        (Finding::Untimed { untimed: None, strictest_s: Some(2.0) }, "the script abandoned no operation"),
        (Finding::Alarms(Vec::new()), "no tier's log raised an alarm"),
        (
            Finding::Consistency { statements: 2, broken: 0, first: None },
            "the data is consistent: 2 of 2 statements hold",
        ),
        (
            Finding::Consistency { statements: 0, broken: 0, first: None },
            "the kit declares no consistency check, or it was not reached",
        ),
        (Finding::Metric { bound: bound(), outside: false }, "Rollbacks: 4 %, at most 5 % asked for"),
    ];
    for (finding, expected) in table {
        for asking in ASKING {
            assert_eq!(sentence(&finding, true, asking), expected);
        }
    }
}

#[test]
fn remedies_are_flags_that_whoever_asks_has() {
    let remedies = |finding: Finding| ASKING.map(|asking| sentence(&finding, false, asking));
    let users = "19 of 20 users were at work: the load was not the one asked for";
    assert_eq!(
        remedies(Finding::Users { mean: 19.0, asked: 20, left: None }),
        [format!("{users}; lengthen the ramp-up (--ramp-up)"), users.to_string(), users.to_string()]
    );
    let settling = |little: &mut Little| {
        little.sessions.counted_s = 420.0;
        little.sessions.edges_s = 20.0;
    };
    let [run, trial, hit] = remedies(of_little(settling));
    assert!(run.ends_with("the ramp-up had not settled; lengthen it (--ramp-up)"), "{run}");
    assert!(trial.ends_with("the ramp-up had not settled"), "{trial}");
    assert_eq!(trial, hit);
    let none_ended = |little: &mut Little| (little.sessions.counted_s, little.sessions.ended) = (0.0, 0);
    let none = "none of the sessions ended within the steady state; lengthen it";
    assert_eq!(
        remedies(of_little(none_ended)),
        [format!("{none} (--steady)"), format!("{none} (--window)"), format!("{none} (-d)")]
    );
    let nothing = Finding::Operations { completed: 0, failed: 0, never: None, first: None };
    let ended = "no operation ended in the steady state; lengthen it";
    let one_user = "look at one user with `plimsoll try`";
    assert_eq!(
        remedies(nothing),
        [
            format!("{ended} (--steady), or {one_user}"),
            format!("{ended} (--window), or {one_user}"),
            format!("{ended} (-d)")
        ]
    );
}

#[test]
fn a_machine_without_room_for_a_connection_is_named() {
    let parts = ["3 connections", "port", "descriptor", "less load"];
    contains(&broken(Finding::Room { exhausted: 3 }), &parts);
}

#[test]
fn a_busy_generator_is_named_as_the_limit() {
    contains(&broken(Finding::Viewer { cores: 0.12 }), &["12 %", "5 %", "close"]);
    contains(&broken(Finding::GeneratorCpu { used_ratio: 0.85 }), &["85 %", "80 %", "fewer users"]);
    contains(&broken(Finding::GeneratorThread { used_ratio: 0.95 }), &["95 %", "90 %"]);
}

#[test]
fn a_ceiling_that_is_near_is_said_with_how_near() {
    let ceiling = |answer_per_s, times| {
        let finding = Finding::Ceiling { ceiling_per_s: 50_000.0, answer_per_s, times };
        sentence(&finding, times >= 5.0, Asking::Trial)
    };
    contains(&ceiling(12_500.0, 4.0), &["is 4.00 times", "not 5 times", "may be the generator's own"]);
    let far = "the generator's ceiling, 50 000 requests/s, is 5.00 times the 10 000 requests/s at the answer";
    assert_eq!(ceiling(10_000.0, 5.0), far);
}

#[test]
fn a_late_generator_says_what_delayed_it() {
    let late = |lag: SendLag| broken(Finding::SendLag(lag));
    let (steal_ratio, foreign_cores) = (Some(0.03), Some(0.9));
    let waited = SendLag { cpu_wait_ratio: 0.12, steal_ratio, foreign_cores, ..lag() };
    let parts =
        ["7.10 ms", "5.00 ms", "waited 12 %", "3 % of the CPU time (steal)", "0.900 cores", "stop what"];
    contains(&late(waited), &parts);
    let shared = SendLag { shares_cpus: true, ..lag() };
    contains(&late(shared), &["the stack runs on the generator's CPUs"]);
    contains(&late(lag()), &["neither waiting for a CPU", "single long pauses (worst 9.00 ms)"]);
    contains(&late(SendLag { lag_s: Some(0.02), ..lag() }), &["20.0 ms"]);
}

#[test]
fn lost_work_and_work_counted_twice_are_told_apart() {
    let lost = broken(of_little(|little| little.sessions.counted_s = 380.0));
    contains(&lost, &["sessions differ by 5 %, more than 2 %", "completed work was lost"]);
    let twice = broken(of_little(|little| little.thinks.counted_s = 880.0));
    contains(&twice, &["thinks differ by 10 %", "counted twice"]);
    let stall = |little: &mut Little| {
        little.sessions.counted_s = 380.0;
        little.sessions.edges_s = -20.0;
    };
    contains(&broken(of_little(stall)), &["under way at the end of the steady state explain it"]);
}

#[test]
fn too_few_samples_say_how_long_the_run_should_be() {
    let lacking = |samples: u64, enough_after_s: Option<f64>| {
        let target = "Browse p95 < 2s".parse().expect("a target");
        broken(Finding::Samples(Samples::Lacking { target, samples, needed: 100, enough_after_s }))
    };
    contains(&lacking(40, Some(150.0)), &["needs 100 samples and has 40", "165 s"]);
    contains(&lacking(0, None), &["Browse never completed"]);
}

#[test]
fn what_the_script_abandons_is_said_with_its_p99_and_the_limit() {
    let untimed = |p99_s: f64, strictest_s: f64| {
        let untimed = UntimedResult {
            count: 556,
            share_ratio: 0.1,
            mean_s: Some(0.4),
            p50_s: Some(0.01),
            p95_s: Some(1.2),
            p99_s: Some(p99_s),
            max_s: Some(2.9),
        };
        broken(Finding::Untimed { untimed: Some(untimed), strictest_s: Some(strictest_s) })
    };
    contains(&untimed(2.4, 2.0), &["556", "10 %", "p99 2.40 s", "2.00 s", "no target"]);
    contains(&untimed(1.4, 1.3), &["p99 1.40 s", "1.30 s"]);
}

#[test]
fn a_tier_that_died_or_restarted_is_named_with_its_log() {
    let event = |fault, log_line: Option<&str>| {
        let log_line = log_line.map(str::to_string);
        let (tier, instance) = ("db".into(), None);
        broken(Finding::Tiers(vec![TierEvent { tier, instance, fault, second: 31, log_line }]))
    };
    let log = Some("[ERROR] mariadbd got signal 11 ;");
    let died = event(TierFault::Died("killed by signal 9".into()), log);
    let parts = ["tier db died in second 31 (killed by signal 9)", "`[ERROR] mariadbd got signal 11 ;`"];
    contains(&died, &parts);
    let kill = MemoryKill { limit_bytes: 256 << 20, used_bytes: 255 << 20 };
    let parts = ["tier db was killed by the kernel at its memory limit of 268 MB", "db.cgroup.memory=512M"];
    contains(&event(TierFault::OutOfMemory(kill), None), &parts);
    contains(&event(TierFault::Restarted, None), &["tier db restarted in second 31"]);
}

#[test]
fn of_several_instances_the_one_that_died_is_named_and_how_many_went_on() {
    let event = |living| {
        let instance = Some(OneOf { number: 2, all: 3, living });
        let fault = TierFault::Died("signal: 9 (SIGKILL)".into());
        let event = TierEvent { tier: "db".into(), instance, fault, second: 41, log_line: None };
        broken(Finding::Tiers(vec![event]))
    };
    contains(&event(2), &["db-2 of 3 died in second 41 (signal: 9 (SIGKILL)); 2 went on"]);
    assert!(!event(0).contains("went on"), "{}", event(0));
}

#[test]
fn alarms_are_told_those_that_spoil_a_run_first() {
    let alarm = |line: &str, invalid| LogAlarm {
        signal: None,
        tier: "web".into(),
        line: line.into(),
        means: "requests queued for a worker".into(),
        invalid,
        count: 3,
    };
    let said = broken(Finding::Alarms(vec![
        alarm("reload asked for", false),
        alarm("server reached MaxRequestWorkers", true),
    ]));
    let parts = ["`server reached MaxRequestWorkers` 3 times: requests queued for a worker"];
    contains(&said, &parts);
    assert!(said.find("MaxRequestWorkers") < said.find("reload"), "{said}");
    let harmless = Finding::Alarms(vec![alarm("server reached MaxRequestWorkers", false)]);
    contains(&sentence(&harmless, true, Asking::Run), &["MaxRequestWorkers"]);
}

#[test]
fn broken_data_is_said_with_its_statement() {
    let first = ConsistencyResult {
        name: "stock adds up".into(),
        ok: false,
        sentence: "found 9 999, expected 10 000".into(),
    };
    let parts = ["1 of 2 statements broken", "stock adds up: found 9 999, expected 10 000"];
    contains(&broken(Finding::Consistency { statements: 2, broken: 1, first: Some(first) }), &parts);
}

#[test]
fn a_run_in_which_operations_failed_shows_the_first_failure() {
    let evidence = Evidence {
        operation: "Browse".into(),
        kind: "script".into(),
        message: "session.lua:14: attempt to index a nil value".into(),
        request: None,
        answer: None,
        second: 3,
    };
    let operations = |completed, failed, never: Option<u64>, first: Option<&Evidence>| {
        let never = never.map(|count| ("Browse".to_string(), count));
        broken(Finding::Operations { completed, failed, never, first: first.cloned() })
    };
    let all = operations(0, 300, Some(300), Some(&evidence));
    contains(&all, &["all 300 operations failed", "session.lua:14", "plimsoll try"]);
    contains(&operations(0, 0, None, None), &["no operation ended"]);
    let one = operations(5000, 7, Some(7), Some(&evidence));
    contains(&one, &["Browse never completed, all 7 failed; the first (script): session.lua:14"]);
    let parts = ["101 of 201 operations failed, more than completed", "less load"];
    contains(&operations(100, 101, None, None), &parts);
}

fn duration(steady_s: f64, end: SteadyEnd) -> Finding {
    Finding::Duration { steady_s, planned_s: 60.0, end }
}

#[test]
fn a_run_that_ended_early_says_how() {
    let table = [
        (12.0, SteadyEnd::Interrupted, "interrupted after 12.0 s of 60.0 s"),
        (12.0, SteadyEnd::Aborted, "given up after 12.0 s"),
        (60.0, SteadyEnd::Interrupted, "interrupted after 60.0 s"),
        (40.0, SteadyEnd::Gaps, "gaps"),
        (20.0, SteadyEnd::Unfinished, "did not end"),
    ];
    for (steady_s, end, part) in table {
        contains(&broken(duration(steady_s, end)), &[part]);
    }
    let parts = ["no steady state within 46.0 s", "throughput or response times kept changing"];
    contains(&broken(duration(60.0, SteadyEnd::Unsettled { after_s: 46.0 })), &parts);
}

#[test]
fn a_run_of_less_than_a_second_is_told_how_to_take_longer() {
    let short = Finding::Duration { steady_s: 0.0, planned_s: 0.3, end: SteadyEnd::UnderASecond };
    let parts = ["it was over after 300 ms", "whole seconds; ask for more"];
    contains(&sentence(&short, false, Asking::Run), &parts);
    let parts = ["it was over in 300 ms", "ask for more requests (-n), or for a time (-d)"];
    contains(&sentence(&short, false, Asking::Hit), &parts);
}

#[test]
fn arrivals_say_what_became_of_them() {
    let arrivals = |fault| {
        broken(Finding::Arrivals {
            began: 5400,
            intended: 6000.0,
            pattern: Pattern::Poisson,
            fault: Some(fault),
        })
    };
    contains(&arrivals(ArrivalsFault::OtherNumber), &["5 400 of 6 000 intended arrivals began", "--users"]);
    let waited = arrivals(ArrivalsFault::NoFreeUser { waited: 12, users: 50 });
    contains(&waited, &["12 of them", "one of 50 users", "--users"]);
    contains(&arrivals(ArrivalsFault::NotRandom), &["not those of random arrivals", "send_lag"]);
}

#[test]
fn draws_that_are_not_those_of_the_mix_are_the_instrument_s_fault() {
    let mix = |draws| broken(Finding::Mix(draws));
    let chi_square = mix(MixDraws::ChiSquare { chi2: 45.0, freedom: 2, limit: 19.8 });
    contains(&chi_square, &["not drawn as the mix asks (chi-square 45.0", "report it"]);
    contains(&mix(MixDraws::Impossible { drawn: 1.0 }), &["that the mix never asks for", "report it"]);
    let rare = mix(MixDraws::TooRare { name: "c".into(), drawn: 0.0, asked: 15.0 });
    contains(&rare, &["c was drawn 0 times instead of 15", "report it"]);
}

#[test]
fn shares_say_what_they_were_and_what_is_allowed() {
    let worst = |allowed_ratio| SessionShare {
        name: "b".into(),
        ratio: 0.3,
        expected_ratio: 1.0 / 3.0,
        allowed_ratio,
    };
    let shares = |allowed_ratio, open| Finding::MixShares { worst: worst(allowed_ratio), points: 2.0, open };
    contains(&broken(shares(0.02, false)), &["30.0 %", "33.3 %", "2.00 points allowed", "(--steady)"]);
    contains(&broken(shares(0.02, true)), &["--lifetime"]);
    contains(
        &sentence(&shares(0.2, false), true, Asking::Run),
        &["20.0 points allowed instead of 2.00: chance"],
    );
}

#[test]
fn pauses_say_after_which_session_and_why() {
    let pauses = |by_cycles, session: Option<&str>, drawn_right| {
        let session = session.map(str::to_string);
        let fault = PauseFault { session, seen_s: 5.2, asked_s: 5.0, drawn_right };
        broken(Finding::Pauses { by_cycles, mean_s: 5.02, asked_s: 5.0, fault: Some(fault) })
    };
    contains(&pauses(true, Some("slow"), true), &["cycle times after slow were 5.20 s", "outlasted"]);
    contains(&pauses(false, None, true), &["think times after all sessions", "send_lag"]);
    contains(&pauses(true, Some("slow"), false), &["when drawn", "report it"]);
}

fn bound() -> Bound {
    Bound {
        metric: "rollbacks".into(),
        title: "Rollbacks".into(),
        unit: "ratio".into(),
        value: Some(0.04),
        at_least: None,
        at_most: Some(0.05),
        lacks: None,
        why: Some("deadlocks were not retried".into()),
    }
}

#[test]
fn a_figure_of_the_kit_says_its_bounds_and_why_or_that_it_was_not_judged() {
    let metric = |bound: Bound, outside| sentence(&Finding::Metric { bound, outside }, !outside, Asking::Run);
    assert_eq!(
        metric(Bound { value: Some(0.07), ..bound() }, true),
        "Rollbacks: 7 % instead of at most 5 %: deadlocks were not retried"
    );
    contains(&metric(Bound { value: None, ..bound() }, false), &["not judged, because there was none"]);
    let few = Bound { lacks: Some(Lack::Samples { there: 7, needed: 100 }), ..bound() };
    assert_eq!(
        metric(few, false),
        "Rollbacks: 4 %; not judged: at most 5 % is asked of 100 samples, and there were 7"
    );
    let early = Bound { lacks: Some(Lack::Seconds(30.0)), ..bound() };
    contains(
        &metric(early, false),
        &["not judged: at most 5 % holds of users who have been there for 30.0 s"],
    );
}

#[test]
fn what_is_missing_before_the_users_come_is_named_at_once() {
    let missing = ["too few ports", "too few descriptors"].map(Problem::environment);
    let check = no_room(&Problems::check(missing.to_vec()).expect_err("there are two"));
    assert_eq!((check.check, check.ok), (Check::Room, false));
    assert_eq!(check.sentence, "too few ports; too few descriptors");
}
