use super::*;
use crate::sample;
use model::Check;
use model::record::study::{NoAnswer, NoAnswerFacts, WhyNot};

fn effect(name: &str, ratio: f64, interval: Option<(f64, f64)>, conclusion: Conclusion) -> Effect {
    let better = if name == "throughput" { Better::Higher } else { Better::Lower };
    Effect {
        figure: name.to_string(),
        operation: None,
        better,
        a: if name == "throughput" { 940.0 } else { 0.04 },
        b: if name == "throughput" { 940.0 * ratio } else { 0.04 * ratio },
        ratio,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        bootstrap: None,
        blocks: 12,
        conclusion,
    }
}

fn sentence(effects: Vec<Effect>, gate: Option<(f64, Option<bool>)>, spoiled: u32) -> String {
    compare(&comparison(effects, gate), spoiled)
}

fn comparison(effects: Vec<Effect>, gate: Option<(f64, Option<bool>)>) -> Compare {
    Compare {
        load: "20 users".to_string(),
        by: effects[0].figure.clone(),
        gate_ratio: gate.map(|(gate, _)| gate),
        conclusion: Some(effects[0].conclusion.clone()),
        gate_held: gate.and_then(|(_, held)| held),
        effects,
        ..Compare::default()
    }
}

#[test]
fn each_answer_has_its_sentence() {
    let open = |more_blocks| Conclusion::Open { more_blocks };
    let table = [
        (
            effect("mean", 0.95, Some((0.93, 0.97)), Conclusion::Faster),
            "B is faster by 5 % [3, 7]: mean response time 38.0 ms instead of 40.0 ms (95 % interval, 12 blocks)",
        ),
        (
            effect("mean", 1.2, Some((1.1, 1.31)), Conclusion::Slower),
            "B is slower by 20 % [10, 31]: mean response time 48.0 ms instead of 40.0 ms (95 % interval, 12 blocks)",
        ),
        (
            effect("throughput", 1.1, Some((1.05, 1.15)), Conclusion::Faster),
            "B is faster by 10 % [5, 15]: throughput 1 034/s instead of 940/s (95 % interval, 12 blocks)",
        ),
        (
            effect("throughput", 0.9, Some((0.85, 0.95)), Conclusion::Slower),
            "B is slower by 10 % [5, 15]: throughput 846/s instead of 940/s (95 % interval, 12 blocks)",
        ),
        (
            effect("p95", 1.001, Some((0.9951, 1.0042)), Conclusion::Same),
            "no difference larger than 0.49 %: p95 response time 40.0 ms instead of 40.0 ms (95 % interval, 12 \
             blocks)",
        ),
        (
            effect("mean", 1.01, Some((0.96, 1.06)), open(Some(30))),
            "not enough evidence (about 42 blocks would do: --most-blocks 42): mean response time of B is between \
             −4 % and +6 % of A's (95 % interval, 12 blocks)",
        ),
        (
            effect("mean", 1.01, Some((0.96, 1.06)), open(Some(8))),
            "not enough evidence (about 8 more blocks would do): mean response time of B is between −4 % and +6 % of \
             A's (95 % interval, 12 blocks)",
        ),
        (
            effect("cpu", 1.05, Some((1.04, 1.06)), Conclusion::Slower),
            "B is costlier by 5 % [4, 6]: CPU time of an operation 42.0 ms instead of 40.0 ms (95 % interval, 12 \
             blocks)",
        ),
        (
            effect("mean", 1.01, None, open(Some(1))),
            "not enough evidence (about 1 more block would do): mean response time 40.4 ms instead of 40.0 ms",
        ),
    ];
    for (effect, expected) in table {
        assert_eq!(sentence(vec![effect], None, 0), expected);
    }
}

#[test]
fn a_comparison_that_ran_out_of_time_says_so_and_how_to_give_it_more() {
    let asked = Compare { most_blocks: 6, max_s: Some(360.0), ..Compare::default() };
    assert_eq!(
        time_over(&asked, 2),
        "; its time was over after 2 of 6 blocks (a block was to take 60 s): ask again with more --most-blocks, which have more \
         time"
    );
}

#[test]
fn what_the_cpu_time_says_is_said_where_the_times_leave_it_open() {
    let open = || effect("mean", 1.02, Some((0.97, 1.07)), Conclusion::Open { more_blocks: None });
    let slower = || effect("mean", 1.05, Some((1.02, 1.08)), Conclusion::Slower);
    let cpu = |ratio: f64, conclusion| effect("cpu", ratio, Some((ratio - 0.01, ratio + 0.01)), conclusion);
    let table = [
        (
            open(),
            cpu(1.05, Conclusion::Slower),
            "; by its CPU time, B is costlier by 5 % [4, 6]: CPU time of an ",
        ),
        (
            open(),
            cpu(0.95, Conclusion::Faster),
            "; by its CPU time, B is cheaper by 5 % [4, 6]: CPU time of an ",
        ),
        (
            open(),
            cpu(1.0, Conclusion::Same),
            "; by its CPU time there is no difference larger than 1 %: CPU time ",
        ),
    ];
    for (primary, cpu, expected) in table {
        let said = sentence(vec![primary, cpu], None, 0);
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let undecided = cpu(1.05, Conclusion::Open { more_blocks: None });
    for effects in [vec![open(), undecided], vec![slower(), cpu(1.05, Conclusion::Slower)]] {
        let said = sentence(effects, None, 0);
        assert!(!said.contains("CPU"), "{said}");
    }
}

#[test]
fn who_fails_more_is_not_called_faster() {
    let failed = |arm, a_ratio, b_ratio| {
        let what = Failing::Operations;
        let failed = Some(Failed { arm, what, a_ratio, b_ratio });
        let faster = effect("mean", 0.5, Some((0.48, 0.52)), Conclusion::Faster);
        compare(&Compare { failed, ..comparison(vec![faster], Some((0.03, Some(false)))) }, 0)
    };
    assert_eq!(
        failed(1, 0.0, 0.4),
        "B is worse: of what completed, mean response time of B is between −52 % and −48 % of A's (95 % interval, 12 \
         blocks); the gate of 3 % fails; but 40 % of B's operations failed (A: 0 %)"
    );
    let told = failed(0, 0.4, 0.0);
    assert!(told.starts_with("B is faster by 50 %"), "{told}");
    assert!(told.ends_with("; but 40 % of A's operations failed (B: 0 %)"), "{told}");
}

#[test]
fn an_arm_that_spoils_its_blocks_is_named_with_what_broke() {
    let fault = "the generator was late".to_string();
    let lopsided = Some(Lopsided { arm: 1, spoiled: 5, other: 1, fault, cause: None });
    let faster = effect("mean", 0.5, None, Conclusion::Faster);
    let told = compare(&Compare { lopsided, ..comparison(vec![faster], None) }, 6);
    let expected = "not enough evidence: 5 blocks were spoiled by B and 1 by A, most often because the \
                    generator was late";
    assert!(told.starts_with(expected), "{told}");
}

#[test]
fn what_spoiled_an_arms_blocks_is_filled_in_from_its_cause() {
    let fault_of = |cause| {
        let faster = effect("mean", 0.5, None, Conclusion::Faster);
        let lopsided = Lopsided { arm: 1, spoiled: 5, other: 1, fault: String::new(), cause: Some(cause) };
        let mut compare = Compare { lopsided: Some(lopsided), ..comparison(vec![faster], None) };
        let late = (Check::SendLag, "the generator was late");
        fill_in(&mut compare, &[sample::trial(Vec::new(), &[(Check::Little, "users waited"), late])]);
        compare.lopsided.expect("it was there").fault
    };
    let late = SpoilCause::Check { check: Check::SendLag, trial: 3 };
    assert_eq!(fault_of(late), "the generator was late");
    assert_eq!(fault_of(SpoilCause::Unsettled), "no steady state was found");
    assert_eq!(fault_of(SpoilCause::Unmeasured), "nothing was measured");
    let none = NoAnswer {
        why: WhyNot::OutOfTime,
        load: None,
        conditions: Default::default(),
        evidence: String::new(),
        facts: Some(NoAnswerFacts::Spent { spent_s: 90.0, trials: 1 }),
        highest_passed: None,
        lowest_failed: None,
    };
    assert_eq!(fault_of(SpoilCause::NoLine(none)), "no load line was found: 1 trial in 90 s");
}

#[test]
fn two_stored_runs_have_no_blocks_to_add() {
    let open = effect("mean", 1.01, Some((0.96, 1.06)), Conclusion::Open { more_blocks: None });
    assert_eq!(
        stored(&comparison(vec![open], None)),
        "not enough evidence (longer runs, or a paired comparison, would tell): mean response time of B is between \
         −4 % and +6 % of A's (95 % interval); one run of each, not paired: how much it changes from one start of a \
         stack to the next is not in the interval, and what drifted between the runs is in the difference"
    );
}

#[test]
fn of_two_stored_runs_failures_decide_and_a_gate_that_holds_says_what_its_interval_leaves_out() {
    let faster = || effect("mean", 0.5, Some((0.48, 0.52)), Conclusion::Faster);
    let told = stored(&comparison(vec![faster()], Some((0.03, Some(true)))));
    assert!(told.contains("the gate of 3 % holds; one run of each, not paired"), "{told}");
    let failed = Failed { arm: 1, what: Failing::Operations, a_ratio: 0.0, b_ratio: 0.4 };
    let told =
        stored(&Compare { failed: Some(failed), ..comparison(vec![faster()], Some((0.03, Some(false)))) });
    assert!(told.starts_with("B is worse: of what completed, mean response time of B is"), "{told}");
    assert!(told.contains("the gate of 3 % fails; but 40 % of B's operations failed (A: 0 %)"), "{told}");
}

#[test]
fn a_bound_is_never_rounded_to_what_does_not_hold() {
    assert!((rounded_up(0.00491) - 0.005).abs() < 1e-12);
    assert!((rounded_up(0.0049) - 0.0049).abs() < 1e-12);
    assert_eq!(rounded_up(0.0), 0.0);
}

#[test]
fn gates_contradictions_and_spoiled_blocks_are_told() {
    let slower = effect("mean", 1.2, Some((1.1, 1.31)), Conclusion::Slower);
    let faster = effect("p99", 0.9, Some((0.85, 0.95)), Conclusion::Faster);
    let text = sentence(vec![slower, faster], Some((0.03, Some(false))), 2);
    assert!(text.contains("; the gate of 3 % fails"), "{text}");
    assert!(text.contains("; but p99 response time says the opposite: 10 % faster [5, 15]"), "{text}");
    assert!(text.ends_with("; 2 more blocks were not valid"), "{text}");
}
