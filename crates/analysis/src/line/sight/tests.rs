//! What a trial is good for, by what broke in it and what it missed.

use model::study::Fault;

use super::*;

fn trial(margin: f64, faults: &[&str]) -> Trial {
    let clause = ClauseSeen {
        clause: "p95 < 1.00 s".to_string(),
        observed: Some(margin.exp()),
        limit: 1.0,
        pass: margin < 0.0,
        margin: Some(margin),
        margin_se: None,
        batches: Vec::new(),
        mean_margin: None,
        samples: 1000,
        samples_needed: 100,
    };
    let fault = |check: &&str| Fault { check: check.to_string(), sentence: "it broke".to_string() };
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
        measured: Some(Measured { clauses: vec![clause], ..Measured::default() }),
        faults: faults.iter().map(fault).collect(),
        overloaded: Vec::new(),
    }
}

const MET: f64 = -1.0;
const MISSED: f64 = 0.5;

fn seen(margin: f64, faults: &[&str]) -> Sight {
    sight(&trial(margin, faults), &[true])
}

#[test]
fn answers_that_outlast_the_cycles_are_a_load_not_carried_where_no_target_is_missed_too() {
    assert_eq!(seen(MET, &["cycle"]), Sight::Over);
    assert_eq!(
        seen(MET, &["cycle", "little", "mix_shares", "samples"]),
        Sight::Over,
        "an overload breaks these too"
    );
    assert_eq!(passes(&trial(MET, &["cycle"]), &[true]), Some(false));
    let unsettled = Trial { warm_up_s: None, ..trial(MET, &["cycle"]) };
    assert_eq!(sight(&unsettled, &[true]), Sight::Over);
}

#[test]
fn a_broken_cycle_says_nothing_where_the_instrument_broke_as_well() {
    assert_eq!(seen(MET, &["cycle", "tiers"]), Sight::Blind(Blindness::Instrument));
    assert_eq!(seen(MET, &["cycle", "send_lag"]), Sight::Blind(Blindness::Generator));
    assert_eq!(seen(MET, &["cycle", "room"]), Sight::Blind(Blindness::Machine));
}

#[test]
fn what_an_overload_breaks_is_none_as_long_as_no_target_is_missed() {
    for check in ["little", "users", "mix_shares", "think", "metric:users_per_operation"] {
        assert_eq!(seen(MET, &[check]), Sight::Blind(Blindness::Instrument), "{check}");
        assert_eq!(seen(MISSED, &[check]), Sight::Over, "{check}");
    }
    assert_eq!(seen(MET, &["errors_all"]), Sight::Over, "nothing was done");
}

#[test]
fn too_few_samples_are_on_the_safe_side_and_prove_no_overload() {
    assert_eq!(seen(MET, &["samples"]), Sight::Partial);
    assert_eq!(passes(&trial(MET, &["samples"]), &[true]), Some(true));
    assert_eq!(
        seen(MISSED, &["samples"]),
        Sight::Partial,
        "this target had its samples: another was short of them"
    );
    assert_eq!(passes(&trial(MISSED, &["samples"]), &[true]), Some(false));
    let short = |margin| {
        let mut trial = trial(margin, &["samples"]);
        trial.measured.iter_mut().for_each(|seen| seen.clauses[0].samples = 9);
        trial
    };
    assert_eq!(sight(&short(MISSED), &[true]), Sight::Blind(Blindness::Samples));
    assert_eq!((sight(&short(MET), &[true]), short(MET).as_seen()), (Sight::Partial, Some(true)));
    assert_eq!(short(MISSED).as_seen(), None);
    let unsettled = Trial { warm_up_s: None, ..short(MET) };
    assert_eq!(sight(&unsettled, &[true]), Sight::Blind(Blindness::Unsettled));
    assert!(trial(MET, &["samples"]).passed_as_seen() && !trial(MISSED, &["samples"]).passed_as_seen());
    assert!(!trial(MET, &[]).passed_as_seen() && !trial(MET, &["samples", "little"]).passed_as_seen());
}
