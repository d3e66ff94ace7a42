//! Comparisons on a made-up bench.

use experiment::compare::{Asked, Judgement, max_spoiled, next};
use experiment::{Step, pursue};
use model::record::study::{CPU, Compare, Conclusion, SpoilCause, Trial};

use crate::made_up::MadeUp;

const ASKED: Asked = Asked::Window { load: 20.0 };

fn question(seed: u64) -> Compare {
    Compare { load: "20 users".to_string(), window_s: 10.0, seed, ..Compare::default() }
}

fn ask(compare: &Compare, bench: &mut MadeUp) -> (Judgement, Vec<Trial>) {
    let mut trials = Vec::new();
    let judgement = pursue(|trials| next(compare, &ASKED, trials), bench, &mut trials);
    (judgement.unwrap_or_else(|problems| panic!("{problems}")), trials)
}

/// How many of `count` comparisons end with each conclusion: faster, slower, same, open; and their blocks on average.
fn tally(count: u64, effect: f64, noise: f64, drift: f64) -> ([u32; 4], f64) {
    let (mut tally, mut blocks) = ([0; 4], 0);
    for seed in 0..count {
        let mut bench = MadeUp { drift, ..MadeUp::new(&[0.04, 0.04 * (1.0 + effect)], noise, seed) };
        let (judgement, _) = ask(&question(seed), &mut bench);
        blocks += judgement.valid;
        tally[match judgement.conclusion {
            Conclusion::Faster => 0,
            Conclusion::Slower => 1,
            Conclusion::Same => 2,
            Conclusion::Open { .. } => 3,
        }] += 1;
    }
    (tally, f64::from(blocks) / count as f64)
}

#[test]
fn the_same_stack_twice_is_called_different_in_at_most_seven_of_a_hundred() {
    let (said, _) = tally(150, 0.0, 0.0141, 0.0);
    assert!(said[0] + said[1] <= 10, "faster, slower, same, open: {said:?}");
    let (said, blocks) = tally(60, 0.0, 0.002, 0.0);
    assert!(
        said[2] >= 55 && blocks < 14.0,
        "little noise: no difference, soon: {said:?} after {blocks} blocks"
    );
}

#[test]
fn no_block_is_begun_that_would_end_after_the_time_however_few_are_valid() {
    let whole = ask(&question(1), &mut MadeUp::new(&[0.04, 0.04], 0.05, 1)).1;
    let block_s = 2.0 * whole[0].took_s;
    let asked = Compare { max_s: Some(6.5 * block_s), ..question(1) };
    let (judgement, trials) = ask(&asked, &mut MadeUp::new(&[0.04, 0.04], 0.05, 1));
    assert_eq!(judgement.valid, 6, "{} trials of {block_s} s a block", trials.len());
    assert!(judgement.time_over, "{judgement:?}");
    let all = ask(&question(1), &mut MadeUp::new(&[0.04, 0.04], 0.05, 1)).0;
    assert!(!all.time_over, "there is no such time: {all:?}");
    assert!(matches!(judgement.conclusion, Conclusion::Open { .. }), "{:?}", judgement.conclusion);
    let none = Compare { max_s: Some(0.0), ..question(1) };
    assert_eq!(ask(&none, &mut MadeUp::new(&[0.04, 0.04], 0.05, 1)).1.len(), 2, "the first is always made");
}

#[test]
fn a_change_of_three_per_cent_is_found_in_the_right_direction() {
    // Noise of 1.41 % a trial is 2 % of a ratio.
    for (effect, right, wrong) in [(0.03, 1, 0), (-0.03, 0, 1)] {
        let (said, blocks) = tally(100, effect, 0.0141, 0.0);
        assert!(said[right] >= 85 && said[wrong] == 0, "{effect}: {said:?} after {blocks} blocks");
    }
}

#[test]
fn the_stacks_cpu_time_of_an_operation_is_compared_too_and_may_be_asked_for() {
    let bench = || MadeUp { cpu_ratio: vec![0.5, 0.55], ..MadeUp::new(&[0.04, 0.04], 0.01, 1) };
    let cpu = |judgement: &Judgement| {
        let effect = judgement.effects.iter().find(|effect| effect.figure == CPU);
        effect.map(|effect| (effect.ratio, effect.conclusion.clone()))
    };
    let (judgement, _) = ask(&question(1), &mut bench());
    let (ratio, _) = cpu(&judgement).expect("the web tier was watched");
    assert!((ratio / 1.1 - 1.0).abs() < 0.02, "the generator's is left out: {ratio}");
    let (asked, _) = ask(&Compare { by: CPU.to_string(), ..question(1) }, &mut bench());
    assert_eq!((asked.effects[0].figure.as_str(), &asked.conclusion), (CPU, &Conclusion::Slower));
    let (unwatched, _) = ask(&question(1), &mut MadeUp::new(&[0.04, 0.04], 0.01, 1));
    assert_eq!(cpu(&unwatched), None);
}

#[test]
fn a_drift_of_the_machine_is_no_difference() {
    // A per cent with each trial: without pairs, or always with A first, it would be one.
    let (said, _) = tally(100, 0.0, 0.005, 0.01);
    assert!(said[0] + said[1] <= 7, "faster, slower, same, open: {said:?}");
    let (said, _) = tally(60, 0.05, 0.005, 0.01);
    assert!(said[1] >= 55 && said[0] == 0, "and a difference is still seen: {said:?}");
}

#[test]
fn each_block_draws_its_order_anew_and_has_the_same_users_for_both_arms() {
    let mut firsts: Vec<usize> = Vec::new();
    for seed in 0..20 {
        let mut bench = MadeUp::new(&[0.04, 0.04], 0.02, seed);
        ask(&question(seed), &mut bench);
        firsts.extend(bench.orders.chunks(2).map(|block| block[0].arm));
        for block in bench.orders.chunks(2) {
            assert_eq!(block[0].arm + block[1].arm, 1, "each arm once");
            assert_eq!(block[0].seed, block[1].seed, "both arms of a block have the same users");
            assert!(block.iter().all(|order| order.fresh && order.load == 20.0));
        }
        assert_ne!(bench.orders[0].seed, bench.orders[2].seed, "blocks have users of their own");
    }
    let share = |count: usize, of: usize| count as f64 / of as f64;
    let b_first = share(firsts.iter().sum(), firsts.len());
    assert!((0.38..0.62).contains(&b_first), "B is the first in {b_first} of {} blocks", firsts.len());
    let repeated = firsts.windows(2).filter(|two| two[0] == two[1]).count();
    let repeated = share(repeated, firsts.len() - 1);
    assert!((0.38..0.62).contains(&repeated), "after one order the other is no likelier: {repeated}");
}

#[test]
fn who_fails_more_is_not_faster_and_holds_no_gate() {
    let failing = |failed_ratio: [f64; 2], gate_ratio| {
        let failed_ratio = failed_ratio.to_vec();
        let mut bench = MadeUp { failed_ratio, ..MadeUp::new(&[0.04, 0.02], 0.01, 1) };
        ask(&Compare { gate_ratio, ..question(1) }, &mut bench).0
    };
    let judgement = failing([0.0, 0.4], Some(0.03));
    assert_eq!((&judgement.conclusion, judgement.gate_held), (&Conclusion::Slower, Some(false)));
    let failed = judgement.failed.expect("40 % of B's operations failed");
    assert_eq!((failed.arm, failed.a_ratio, failed.b_ratio), (1, 0.0, 0.4));
    assert_eq!(failing([0.0, 0.4], None).conclusion, Conclusion::Slower);
    assert_eq!(failing([0.001, 0.004], None).conclusion, Conclusion::Faster, "a few in a thousand");
    let other = failing([0.4, 0.0], Some(0.03));
    assert_eq!((&other.conclusion, other.gate_held), (&Conclusion::Faster, Some(true)));
    assert_eq!(other.failed.map(|failed| failed.arm), Some(0), "and it is said");
}

#[test]
fn nothing_is_better_than_b_because_it_failed_sooner() {
    let failed_ratio = vec![0.4, 0.0];
    let mut bench = MadeUp { failed_ratio, ..MadeUp::new(&[0.02, 0.04], 0.01, 1) };
    let (judgement, _) = ask(&question(1), &mut bench);
    assert_eq!(judgement.conclusion, Conclusion::Open { more_blocks: None });
}

#[test]
fn an_arm_whose_trials_often_break_leaves_no_fair_sample() {
    let compare = Compare { gate_ratio: Some(0.03), ..question(1) };
    let mut bench = MadeUp { breaks: Some(1), ..MadeUp::new(&[0.04, 0.02], 0.01, 1) };
    let (judgement, trials) = ask(&compare, &mut bench);
    assert_eq!((&judgement.conclusion, judgement.gate_held), (&Conclusion::Open { more_blocks: None }, None));
    let lopsided = judgement.lopsided.expect("only B's trials broke");
    assert!(lopsided.arm == 1 && lopsided.spoiled >= 3 && lopsided.other == 0, "{lopsided:?}");
    let Some(SpoilCause::Check { check, trial }) = &lopsided.cause else { panic!("{lopsided:?}") };
    let first = trials.iter().find(|trial| !trial.valid()).expect("trials broke");
    assert_eq!((check, *trial, first.arm), (&model::Check::SendLag, first.number, 1));
}

#[test]
fn both_trials_of_a_block_take_turns_until_answers_prove_too_long_for_it() {
    let compare = Compare { in_turn: true, ..question(1) };
    let mut bench = MadeUp { interrupted: [(5, 0.02)].into(), ..MadeUp::new(&[0.04, 0.05], 0.01, 1) };
    let (judgement, trials) = ask(&compare, &mut bench);
    let together = |block: u32| {
        let first = bench.orders.iter().find(|order| order.block == block).expect("it was ordered");
        first.in_turn_with.as_ref().map(|other| (other.arm, other.seed, other.block))
    };
    for block in 0..3 {
        let first = bench.orders.iter().find(|order| order.block == block).expect("it was ordered");
        assert_eq!(together(block), Some((1 - first.arm, first.seed, block)));
    }
    let cause = SpoilCause::LongAnswers { ratio: 0.02 };
    assert!(trials[4].interrupted_ratio == Some(0.02) && judgement.spoiled == 1, "{cause:?}: {judgement:?}");
    assert_eq!(together(3), None, "from then on one follows the other");
    assert_eq!(judgement.conclusion, Conclusion::Slower, "what was measured before counts");
}

#[test]
fn answers_too_long_for_turns_end_these_also_where_they_break_a_check() {
    let compare = Compare { in_turn: true, ..question(1) };
    let (interrupted, invalid) = ([(1, 0.9), (2, 0.9)].into(), [1, 2].into());
    let mut bench = MadeUp { interrupted, invalid, ..MadeUp::new(&[0.04, 0.05], 0.01, 1) };
    let (judgement, _) = ask(&compare, &mut bench);
    let in_turn: Vec<u32> =
        bench.orders.iter().filter(|order| order.in_turn_with.is_some()).map(|order| order.block).collect();
    assert_eq!(in_turn, [0], "one follows the other from the second block on");
    assert_eq!((judgement.spoiled, judgement.conclusion), (1, Conclusion::Slower));
}

#[test]
fn a_trial_that_never_settled_spoils_its_block() {
    let mut bench = MadeUp { unsettled: [2].into(), ..MadeUp::new(&[0.04, 0.05], 0.01, 1) };
    let (judgement, trials) = ask(&question(1), &mut bench);
    assert_eq!((judgement.spoiled, judgement.lopsided), (1, None));
    assert_eq!(trials.len() as u32, 2 * judgement.valid + 2);
}

#[test]
fn a_block_with_an_invalid_trial_is_measured_again_and_counted() {
    let mut bench = MadeUp { invalid: [2, 5].into(), ..MadeUp::new(&[0.04, 0.05], 0.01, 1) };
    let (judgement, trials) = ask(&question(1), &mut bench);
    assert_eq!((judgement.spoiled, &judgement.conclusion), (2, &Conclusion::Slower));
    assert_eq!(judgement.effects[0].blocks, judgement.valid, "only whole blocks count");
    // Trial 2 is the second of its block, trial 5 the first of its: that one needs no second.
    assert_eq!(trials.len() as u32, 2 * judgement.valid + 3);
    let numbers: Vec<u32> = trials.iter().map(|trial| trial.block).collect();
    assert_eq!(numbers[..7], [0, 0, 1, 1, 2, 3, 3], "a new block has a new number");
}

#[test]
fn a_machine_on_which_hardly_a_trial_is_valid_ends_it() {
    let mut bench = MadeUp { invalid: (1..1000).collect(), ..MadeUp::new(&[0.04, 0.05], 0.01, 1) };
    let (judgement, trials) = ask(&question(1), &mut bench);
    assert_eq!((judgement.valid, judgement.conclusion), (0, Conclusion::Open { more_blocks: None }));
    assert_eq!(trials.len() as u32, max_spoiled(&question(1)) + 1);
}

#[test]
fn whatever_was_kept_the_next_trial_is_the_one_that_was_next() {
    let compare = question(9);
    let mut bench = MadeUp { invalid: [4].into(), ..MadeUp::new(&[0.04, 0.0412], 0.0141, 9) };
    let (judgement, trials) = ask(&compare, &mut bench);
    for (length, order) in bench.orders.iter().enumerate() {
        assert_eq!(next(&compare, &ASKED, &trials[..length]), Step::Measure(order.clone()), "{length} kept");
    }
    assert_eq!(next(&compare, &ASKED, &trials), Step::Answer(judgement));
}

#[test]
fn a_gate_ends_it_as_soon_as_it_is_decided() {
    let gated = |gate, effect, seed| {
        let compare = Compare { gate_ratio: Some(gate), ..question(seed) };
        let judgement = ask(&compare, &mut MadeUp::new(&[0.04, 0.04 * (1.0 + effect)], 0.01, seed)).0;
        (judgement.gate_held, judgement.valid)
    };
    for seed in 0..20 {
        let (held, blocks) = gated(0.03, 0.2, seed);
        assert!(held == Some(false) && blocks <= 10, "20 % slower: {held:?} after {blocks} blocks");
        let (held, blocks) = gated(0.1, 0.0, seed);
        assert!(held == Some(true) && blocks <= 10, "no change: {held:?} after {blocks} blocks");
        let (held, _) = gated(0.03, -0.2, seed);
        assert_eq!(held, Some(true), "20 % faster");
    }
    let undecided = (0..20).filter(|seed| gated(0.03, 0.03, *seed).0.is_none()).count();
    assert!(undecided >= 15, "exactly at the gate it stays open: {undecided} of 20");
}

#[test]
fn the_figure_asked_about_comes_first_and_the_others_have_intervals_of_their_own() {
    let compare = Compare { by: "p95".to_string(), ..question(2) };
    let (judgement, _) = ask(&compare, &mut MadeUp::new(&[0.04, 0.05], 0.01, 2));
    let names: Vec<&str> = judgement.effects.iter().map(|effect| effect.figure.as_str()).collect();
    assert_eq!(names, ["p95", "throughput", "mean"]);
    assert!(judgement.effects.iter().all(|effect| effect.low.is_some()), "{:#?}", judgement.effects);
}
