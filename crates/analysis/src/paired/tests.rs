use super::*;
use model::random::Random;

const LOOKS: Looks = Looks { confidence_ratio: 0.95, max_values: 20 };
const TERMS: Terms = Terms { better: Better::Higher, band_ratio: 0.01, looks: LOOKS, seed: 1 };

/// Pairs around A = 100 whose log ratios are `effect` with normal noise.
fn pairs(count: usize, effect: f64, noise: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (100.0, 100.0 * (effect + noise * random.normal()).exp())).collect()
}

#[test]
fn what_follows_depends_on_the_interval_the_band_and_which_way_is_better() {
    let lower = Terms { better: Better::Lower, ..TERMS };
    let table = [
        (pairs(14, 0.05, 0.01, 1), TERMS, Conclusion::Faster, "5 % more of what should be high"),
        (pairs(14, 0.05, 0.01, 1), lower, Conclusion::Slower, "5 % more of what should be low"),
        (pairs(14, -0.05, 0.01, 1), TERMS, Conclusion::Slower, "5 % less of what should be high"),
        (pairs(14, -0.05, 0.01, 1), lower, Conclusion::Faster, "5 % less of what should be low"),
        (pairs(20, 0.0, 0.003, 1), TERMS, Conclusion::Same, "nothing, known to a fraction of the band"),
        (pairs(20, 0.003, 0.0003, 1), TERMS, Conclusion::Same, "a certain difference that doesn't matter"),
    ];
    for (pairs, terms, expected, why) in table {
        let found = effect(&pairs, &terms);
        assert_eq!(found.conclusion, expected, "{why}: {found:?}");
    }
}

#[test]
fn the_effect_is_a_ratio_with_both_intervals_around_it() {
    let found = effect(&pairs(20, 0.1, 0.02, 3), &TERMS);
    assert!(
        (found.ratio / 0.1f64.exp() - 1.0).abs() < 0.015 && (found.a, found.blocks) == (100.0, 20),
        "{found:?}"
    );
    assert!((found.b / found.a / found.ratio - 1.0).abs() < 0.02, "{found:?}");
    assert!(found.noise.is_some_and(|noise| (0.01..0.03).contains(&noise)), "{found:?}");
    let ((low, high), (plain_low, plain_high)) = found.interval.zip(found.bootstrap).expect("20 blocks");
    assert!(
        low < plain_low && plain_low < found.ratio && found.ratio < plain_high && plain_high < high,
        "{found:?}"
    );
}

#[test]
fn few_pairs_leave_it_open_and_say_how_many_more_would_do() {
    let open = |pairs: &[(f64, f64)]| match effect(pairs, &TERMS).conclusion {
        Conclusion::Open { more_blocks } => more_blocks,
        other => panic!("{other:?} from {} pairs", pairs.len()),
    };
    assert_eq!(open(&[]), None, "nothing is known of the noise");
    assert_eq!(open(&pairs(2, 0.1, 0.02, 1)), None);
    let clear = open(&pairs(4, 0.5, 0.02, 1)).expect("the noise is known");
    assert!((2..=5).contains(&clear), "at least seven blocks are needed for 95 %: {clear} more");
    let narrow = open(&pairs(8, 0.004, 0.02, 1)).expect("the noise is known");
    assert!((15..400).contains(&narrow), "noise of twice the band takes long: {narrow} more");
}

#[test]
fn as_many_blocks_as_are_said_to_do_mostly_do_and_a_third_of_them_seldom() {
    let band = TERMS.band_ratio.ln_1p();
    let answered = |logs: &[f64], planned: usize| {
        let looks = Looks { max_values: planned as u32, ..LOOKS };
        (1..=planned).any(|number| {
            interval(&logs[..number], looks)
                .is_some_and(|(low, high)| low > -band && high < band || low > 0.0 || high < 0.0)
        })
    };
    let (mut asked, mut enough, mut third) = (0, 0, 0);
    for seed in 0..40 {
        let logs: Vec<f64> = pairs(300, 0.0, 0.01, seed).iter().map(|(a, b)| (b / a).ln()).collect();
        let Some(more) = more_blocks(&logs[..10], centre(&logs[..10]), &TERMS) else { continue };
        let planned = (10 + more as usize).min(logs.len());
        asked += 1;
        enough += u32::from(answered(&logs, planned));
        third += u32::from(answered(&logs, planned / 3));
    }
    assert!(asked >= 35 && 2 * enough > asked && 3 * third < asked, "{enough} and {third} of {asked}");
}

#[test]
fn an_outlier_hardly_moves_the_estimate_and_does_not_open_the_interval() {
    let clean = pairs(14, 0.03, 0.01, 5);
    let mut spoilt = clean.clone();
    spoilt[6].1 *= 3.0;
    let (clean, spoilt) = (effect(&clean, &TERMS), effect(&spoilt, &TERMS));
    assert!((clean.ratio / spoilt.ratio).ln().abs() < 0.003, "{} and {}", clean.ratio, spoilt.ratio);
    let length = |found: &PairedEffect| found.interval.map(|(low, high)| high - low).expect("14 blocks");
    assert!(length(&spoilt) < 1.8 * length(&clean), "{clean:?} {spoilt:?}");
}

#[test]
fn pairs_that_are_no_positive_numbers_say_nothing() {
    let mut some = pairs(9, 0.1, 0.01, 1);
    let expected = effect(&some, &TERMS);
    some.extend([(0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, -1.0)]);
    assert_eq!(effect(&some, &TERMS), expected);
    let equal = effect(&[(2.0, 3.0); 9], &TERMS);
    assert_eq!((equal.ratio, equal.noise), (1.5f64.ln().exp(), Some(0.0)));
    assert_eq!(equal.conclusion, Conclusion::Faster, "{equal:?}");
}

#[test]
fn ties_are_known_to_the_resolution_and_no_better() {
    let tied = effect(&[(2.0, 2.0); 9], &TERMS);
    let (low, high) = tied.interval.expect("nine blocks");
    assert!((low * 1.001 - 1.0).abs() < 1e-9 && (high / 1.001 - 1.0).abs() < 1e-9, "{tied:?}");
    assert_eq!(tied.conclusion, Conclusion::Same, "{tied:?}");
    let coarse = effect_of(&[(20.0, 20.0); 9], &TERMS, 0.05);
    assert!(matches!(coarse.conclusion, Conclusion::Open { .. }), "20 users, one more or less: {coarse:?}");
}
