//! Trials of finds on real stacks (TPC-W on Tomcat, with Apache in front and without), and what follows from them.

use experiment::{Step, find};
use model::QosTarget;
use model::catalogue::qos::Measure;
use model::record::study::{Fault, FindAnswer, FindGoal, Measured, Purpose, Trial};
use model::record::{Margin, TargetOutcome};

/// Of p90 of an operation: its name, limit, what was observed, the margin's standard error, samples.
type Seen = (&'static str, f64, f64, f64, u64);

fn clause(&(name, limit, observed, margin_se, samples): &Seen) -> TargetOutcome {
    let target = QosTarget { operation: Some(name.to_string()), measure: Measure::Percentile(90.0), limit };
    TargetOutcome {
        samples_needed: 51,
        margin: Margin { log: Some((observed / limit).ln()), log_se: Some(margin_se), ..Margin::default() },
        ..TargetOutcome::of(target, Some(observed), samples)
    }
}

/// A trial whose window and whole length are in seconds.
fn trial(purpose: Purpose, load: f64, (window_s, took_s): (f64, f64), seen: &[Seen]) -> Trial {
    let few = seen.iter().any(|(.., samples)| *samples < 51);
    let fault = || Fault { check: model::Check::Samples, sentence: "it has too few".to_string() };
    Trial {
        number: 0,
        arm: 0,
        block: 0,
        purpose,
        load,
        run: String::new(),
        began_s: 0.0,
        took_s,
        fresh: false,
        warm_up_s: Some(3.0),
        window_s,
        interrupted_ratio: None,
        measured: Some(Measured { targets: seen.iter().map(clause).collect(), ..Measured::default() }),
        faults: if few { vec![fault()] } else { Vec::new() },
        overloaded: Vec::new(),
        conditions: Default::default(),
    }
}

fn numbered(mut trials: Vec<Trial>) -> Vec<Trial> {
    for (number, trial) in (1..).zip(&mut trials) {
        trial.number = number;
    }
    trials
}

fn goal() -> FindGoal {
    FindGoal { start: 300.0, most: 500.0, ..FindGoal::default().quick().within_budget(300.0) }
}

#[test]
fn a_line_that_is_no_answer_yet_is_narrowed_before_time_is_kept_for_confirming_it() {
    let trials = numbered(vec![
        trial(
            Purpose::WarmUp,
            300.0,
            (11.0, 44.9),
            &[
                ("BestSellers", 5.0, 1.984511, 0.0471, 92),
                ("ShoppingCart", 3.0, 2.072575, 0.0461, 225),
                ("OrderDisplay", 3.0, 0.837631, 0.0034, 9),
            ],
        ),
        trial(
            Purpose::Ramp,
            300.0,
            (6.0, 28.0),
            &[
                ("BestSellers", 5.0, 5.406719, 0.0872, 115),
                ("ShoppingCart", 3.0, 1.738751, 0.1015, 142),
                ("OrderDisplay", 3.0, 0.816127, 0.1683, 10),
            ],
        ),
        trial(
            Purpose::Ramp,
            150.0,
            (6.0, 24.1),
            &[
                ("BestSellers", 5.0, 6.766591, 1.2838, 83),
                ("ShoppingCart", 3.0, 0.084863, 0.1719, 162),
                ("OrderDisplay", 3.0, 0.044127, 0.0099, 8),
            ],
        ),
        trial(
            Purpose::Ramp,
            75.0,
            (7.0, 23.7),
            &[
                ("BestSellers", 5.0, 0.111359, 0.2687, 66),
                ("ShoppingCart", 3.0, 0.035231, 0.3649, 185),
                ("OrderDisplay", 3.0, 0.036255, 0.1632, 7),
            ],
        ),
    ]);
    // Two confirming trials with samples enough of the rare operation would take all of the time that is left.
    let Step::Measure(order) = find::next(&goal(), &trials, 127.7) else {
        panic!("it gives up after 128 of 300 s, between 75 and 150 users");
    };
    assert_eq!(order.purpose, Purpose::Search);
    assert!((75.0..=300.0).contains(&order.load), "{order:?}");
}

#[test]
fn an_interval_that_is_cut_off_at_the_most_users_is_not_short_for_that() {
    let trials = numbered(vec![
        trial(
            Purpose::WarmUp,
            300.0,
            (10.0, 104.9),
            &[
                ("BestSellers", 5.0, 0.994303, 0.0498, 134),
                ("ProductDetail", 3.0, 0.881663, 0.4259, 506),
                ("SearchRequest", 3.0, 0.994303, 0.0853, 563),
                ("ShoppingCart", 3.0, 1.257471, 0.1107, 326),
            ],
        ),
        trial(
            Purpose::Ramp,
            300.0,
            (6.0, 32.0),
            &[
                ("BestSellers", 5.0, 0.975359, 0.0663, 93),
                ("ProductDetail", 3.0, 0.647167, 0.0465, 352),
                ("SearchRequest", 3.0, 0.834047, 0.0296, 394),
                ("ShoppingCart", 3.0, 0.948223, 0.0410, 229),
            ],
        ),
        trial(
            Purpose::Ramp,
            500.0,
            (5.0, 33.4),
            &[
                ("BestSellers", 5.0, 5.201919, 0.2872, 99),
                ("ProductDetail", 3.0, 1.620991, 0.3286, 326),
                ("SearchRequest", 3.0, 1.656831, 0.1275, 357),
                ("ShoppingCart", 3.0, 1.633279, 0.0590, 203),
            ],
        ),
        trial(
            Purpose::Confirm,
            372.0,
            (35.0, 81.7),
            &[
                ("BestSellers", 5.0, 1.399807, 0.1003, 587),
                ("ProductDetail", 3.0, 0.830463, 0.0589, 1984),
                ("SearchRequest", 3.0, 1.099775, 0.0624, 2357),
                ("ShoppingCart", 3.0, 1.222655, 0.1539, 1352),
            ],
        ),
    ]);
    let Step::Answer(FindAnswer::LoadLine(line)) = find::next(&goal(), &trials, 259.3) else {
        panic!("there is a line, and no time for more");
    };
    assert_eq!((line.load, line.high), (500.0, 500.0), "no more users were to be tried: {line:?}");
    assert!(line.wide, "it reaches to some 800 users, as far as these trials tell: {line:?}");
}
