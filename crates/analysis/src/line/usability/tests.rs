//! What a trial is good for, by what broke in it and what it missed.

use model::record::Margin;
use model::record::study::{Fault, Find, FindGoal, Measurement, Sweep, SweepOrder};

use super::*;

pub(in crate::line) fn trial(margin: f64, faults: &[&str]) -> Trial {
    let p95 = "p95 < 1s".parse().expect("a target");
    let outcome = TargetOutcome {
        margin: Margin { log: Some(margin), ..Margin::default() },
        ..TargetOutcome::of(p95, Some(margin.exp()), 1000)
    };
    let fault = |check: &&str| Fault { check: Check::of(check), sentence: "it broke".to_string() };
    Trial {
        number: 2,
        arm: 0,
        block: 0,
        purpose: Purpose::Search,
        load: 300.0,
        run: "run".to_string(),
        began_s: 0.0,
        took_s: 40.0,
        fresh: true,
        warm_up_s: Some(1.0),
        window_s: 30.0,
        interrupted_ratio: None,
        measured: Some(Measured { targets: vec![outcome], ..Measured::default() }),
        faults: faults.iter().map(fault).collect(),
        overloaded: Vec::new(),
        conditions: Default::default(),
    }
}

pub(in crate::line) const MET: f64 = -1.0;
pub(in crate::line) const MISSED: f64 = 0.5;

fn usability_of(margin: f64, faults: &[&str]) -> Usability {
    usability(&trial(margin, faults), &[true])
}

#[test]
fn answers_that_outlast_the_cycles_are_a_load_not_carried_where_no_target_is_missed_too() {
    assert_eq!(usability_of(MET, &["cycle"]), Usability::Bound);
    assert_eq!(
        usability_of(MET, &["cycle", "little", "mix_shares", "samples"]),
        Usability::Bound,
        "an overload breaks these too"
    );
    assert_eq!(passes(&trial(MET, &["cycle"]), &[true]), Some(false));
    let unsettled = Trial { warm_up_s: None, ..trial(MET, &["cycle"]) };
    assert_eq!(usability(&unsettled, &[true]), Usability::Bound);
}

#[test]
fn a_broken_cycle_says_nothing_where_the_instrument_broke_as_well() {
    assert_eq!(usability_of(MET, &["cycle", "tiers"]), Usability::Unusable(UnusableReason::Instrument));
    assert_eq!(usability_of(MET, &["cycle", "send_lag"]), Usability::Unusable(UnusableReason::Generator));
    assert_eq!(usability_of(MET, &["cycle", "room"]), Usability::Unusable(UnusableReason::Machine));
}

#[test]
fn what_an_overload_breaks_is_none_as_long_as_no_target_is_missed() {
    for check in ["little", "users", "mix_shares", "think", "metric:users_per_operation"] {
        assert_eq!(usability_of(MET, &[check]), Usability::Unusable(UnusableReason::Instrument), "{check}");
        assert_eq!(usability_of(MISSED, &[check]), Usability::Bound, "{check}");
    }
    assert_eq!(usability_of(MET, &["errors_all"]), Usability::Bound, "nothing was done");
}

#[test]
fn a_session_that_was_not_drawn_is_no_overload_and_one_that_did_not_complete_may_be() {
    assert_eq!(usability_of(MISSED, &["mix_shares"]), Usability::Bound);
    assert_eq!(usability_of(MISSED, &["mix"]), Usability::Unusable(UnusableReason::Instrument));
    assert_eq!(usability_of(MET, &["cycle", "mix"]), Usability::Unusable(UnusableReason::Instrument));
}

#[test]
fn a_short_window_in_which_only_those_under_way_are_missing_does_not_say_that_users_wait() {
    let seen = |window_s: f64, faults: &[&str], only_under_way: bool| {
        let mut trial = Trial { window_s, ..trial(MISSED, faults) };
        trial.measured.iter_mut().for_each(|seen| seen.only_under_way = only_under_way);
        usability(&trial, &[true])
    };
    for faults in [&["little"][..], &["samples", "little"]] {
        assert_eq!(seen(12.0, faults, true), Usability::Unusable(UnusableReason::Short), "{faults:?}");
        assert_eq!(seen(30.0, faults, true), Usability::Bound, "{faults:?}: that was long enough");
        assert_eq!(seen(12.0, faults, false), Usability::Bound, "{faults:?}: something else is missing");
    }
    assert_eq!(seen(12.0, &["little", "users"], true), Usability::Bound, "more than that broke");
    assert_ne!(seen(12.0, &["samples"], true), Usability::Unusable(UnusableReason::Short), "the law holds");
}

#[test]
fn too_few_samples_are_on_the_safe_side_and_prove_no_overload() {
    assert_eq!(usability_of(MET, &["samples"]), Usability::PassFail);
    assert_eq!(passes(&trial(MET, &["samples"]), &[true]), Some(true));
    assert_eq!(
        usability_of(MISSED, &["samples"]),
        Usability::PassFail,
        "this target had its samples: another was short of them"
    );
    assert_eq!(passes(&trial(MISSED, &["samples"]), &[true]), Some(false));
    let short = |margin| {
        let mut trial = trial(margin, &["samples"]);
        trial.measured.iter_mut().for_each(|seen| seen.targets[0].samples = 9);
        trial
    };
    assert_eq!(usability(&short(MISSED), &[true]), Usability::Unusable(UnusableReason::Samples));
    assert_eq!((usability(&short(MET), &[true]), short(MET).as_seen()), (Usability::PassFail, Some(true)));
    assert_eq!(short(MISSED).as_seen(), None);
    let unsettled = Trial { warm_up_s: None, ..short(MET) };
    assert_eq!(usability(&unsettled, &[true]), Usability::Unusable(UnusableReason::Unsettled));
    assert!(trial(MET, &["samples"]).passed_as_seen() && !trial(MISSED, &["samples"]).passed_as_seen());
    assert!(!trial(MET, &[]).passed_as_seen() && !trial(MET, &["samples", "little"]).passed_as_seen());
}

#[test]
fn each_search_of_a_study_knows_its_own_overload_and_a_measurement_at_a_given_load_has_none() {
    let at_least = |mut trial: Trial, met: bool| {
        for clause in trial.measured.iter_mut().flat_map(|seen| &mut seen.targets) {
            let throughput = "throughput > 200/s".parse().expect("a target");
            let outcome = TargetOutcome::of(throughput, Some(if met { 300.0 } else { 100.0 }), 1000);
            *clause = TargetOutcome { margin: clause.margin.clone(), ..outcome };
        }
        trial
    };
    let slow = at_least(Trial { load: 10.0, ..trial(MISSED, &[]) }, false);
    let lowest = at_least(Trial { arm: 1, load: 20.0, ..trial(MET, &[]) }, true);
    let broken = at_least(Trial { arm: 1, ..trial(MISSED, &["little"]) }, false);
    let trials = [slow, lowest, broken.clone()];
    let seen = |question: &Question, trial: &Trial| overloaded(question, trials.iter(), trial);
    let lines = study_of(Measurement::LoadLine(FindGoal::default()));
    assert!(seen(&lines, &broken), "the least load of its own arm met the target");
    assert!(!seen(&lines, &Trial { arm: 0, ..broken.clone() }), "there it is missed at the least load too");
    assert!(!seen(&lines, &at_least(Trial { arm: 1, ..trial(MISSED, &["tiers"]) }, false)));
    assert!(!seen(&lines, &at_least(Trial { arm: 1, warm_up_s: None, ..trial(MISSED, &[]) }, false)));
    assert!(!seen(&study_of(Measurement::Window { window_s: 30.0 }), &broken));
    let find = Question::Find(Find { goal: FindGoal::default(), answer: None });
    assert!(overloaded(&find, trials[1..].iter(), &broken));
}

fn study_of(measurement: Measurement) -> Question {
    Question::Sweep(Sweep {
        name: String::new(),
        title: String::new(),
        source: String::new(),
        factors: Vec::new(),
        measurement,
        repeats: 1,
        order: SweepOrder::Random,
        seed: 1,
        cells: Vec::new(),
        form: None,
        signals: Vec::new(),
        published: Vec::new(),
        differs: Vec::new(),
    })
}
