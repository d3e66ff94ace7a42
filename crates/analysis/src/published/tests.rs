use super::*;
use model::random::Random;
use model::record::study::{Bound, Cell, Figure, Measured, Measurement, PublishedRow, Purpose, SweepOrder};

fn trial(arm: usize, block: u32, value: f64) -> Trial {
    let figure =
        Figure { name: "throughput".into(), operation: None, value, log_se: Some(0.001), degrees: None };
    Trial {
        number: 1,
        arm,
        block,
        purpose: Purpose::Measure,
        load: 10.0,
        run: "r".into(),
        began_s: 0.0,
        took_s: 1.0,
        fresh: true,
        warm_up_s: Some(1.0),
        window_s: 10.0,
        interrupted_ratio: None,
        measured: Some(Measured { figures: vec![figure], ..Measured::default() }),
        faults: Vec::new(),
        overloaded: Vec::new(),
        conditions: Default::default(),
    }
}

/// A sweep of as many cells as `published` has values, the last of which nobody measures.
fn sweep(published: &[f64], claims: Vec<Claim>) -> Sweep {
    let rows = published.iter().enumerate().map(|(at, value)| {
        let cell = (at + 1 < published.len()).then_some(at);
        PublishedRow::new(&format!("row {at}"), *value, cell)
    });
    let table = Published {
        title: "T".into(),
        of: "throughput".into(),
        figure: PublishedFigure { name: "throughput".into(), times: 1.0, ..PublishedFigure::default() },
        unit: "operations/s".into(),
        relative: false,
        source: "S".into(),
        rows: rows.collect(),
        base: None,
        pairs: Vec::new(),
        claims,
    };
    Sweep {
        name: "s".into(),
        title: "S".into(),
        source: "S".into(),
        factors: Vec::new(),
        measurement: Measurement::Window { window_s: 10.0 },
        repeats: 3,
        order: SweepOrder::Random,
        seed: 1,
        cells: vec![Cell::default(); published.len() - 1],
        form: None,
        signals: Vec::new(),
        published: vec![table],
        differs: Vec::new(),
    }
}

/// Repeats of each mean, noisy by `noise` and with a mood of each block that all its cells share.
fn trials(means: &[f64], repeats: u32, noise: f64, seed: u64) -> Vec<Trial> {
    let mut random = Random::new(seed);
    let mut trials = Vec::new();
    for block in 0..repeats {
        let mood = 0.2 * random.normal();
        for (arm, mean) in means.iter().enumerate() {
            trials.push(trial(arm, block, mean * (mood + noise * random.normal()).exp()));
        }
    }
    trials
}

fn filled(published: &[f64], means: &[f64], repeats: u32, noise: f64, seed: u64) -> Published {
    let mut sweep = sweep(published, Vec::new());
    beside(&mut sweep, &trials(means, repeats, noise, seed));
    sweep.published.remove(0)
}

#[test]
fn cells_that_lie_apart_agree_or_contradict_and_near_ones_are_open() {
    let table = filled(&[250.0, 122.0, 240.0, 99.0], &[1000.0, 1500.0, 1003.0], 4, 0.01, 1);
    let says: Vec<(usize, usize, Agreement)> =
        table.pairs.iter().map(|pair| (pair.first, pair.second, pair.says)).collect();
    assert_eq!(
        says,
        [(0, 1, Agreement::Contradicts), (0, 2, Agreement::Open), (1, 2, Agreement::Contradicts)]
    );
    let table = filled(&[250.0, 122.0, 240.0, 99.0], &[1000.0, 500.0, 1003.0], 4, 0.01, 1);
    assert_eq!(table.pairs[0].says, Agreement::Agrees);
    assert!(table.rows[3].ours.is_none() && table.rows[3].ratio == Some(99.0 / 250.0));
    assert_eq!((table.base, table.rows[0].ours_ratio.map(|one| one.value)), (Some(0), Some(1.0)));
}

#[test]
fn what_a_block_has_in_common_cancels_in_a_ratio_and_not_in_a_value() {
    let table = filled(&[1.0, 2.0, 3.0, 9.0], &[100.0, 110.0, 121.0], 4, 0.005, 7);
    let width = |one: Option<Estimate>| {
        let one = one.expect("it was measured");
        (one.high.expect("there are repeats") / one.low.expect("there are repeats")).ln()
    };
    assert!(width(table.rows[1].ours_ratio) < 0.05, "{:?}", table.rows[1]);
    assert!(width(table.rows[1].ours) > 0.1, "the mood is part of a value's interval: {:?}", table.rows[1]);
}

#[test]
fn each_cell_has_the_value_and_interval_that_a_table_of_all_cells_would_have() {
    let means = [100.0, 110.0, 121.0];
    let (sweep, trials) = (sweep(&[1.0, 2.0, 3.0, 9.0], Vec::new()), trials(&means, 4, 0.01, 3));
    let figure = sweep.published[0].figure.clone();
    let of_cells = of_cells(&sweep, &trials, &figure);
    let table = filled(&[1.0, 2.0, 3.0, 9.0], &means, 4, 0.01, 3);
    assert_eq!(of_cells, table.rows[..3].iter().map(|row| row.ours).collect::<Vec<_>>());
    assert!(of_cells.iter().all(|cell| cell.is_some_and(|one| one.low.is_some())), "{of_cells:?}");
    let one = super::of_cells(&sweep, &trials[1..2], &figure);
    assert_eq!(one.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn one_trial_each_gives_values_and_no_word_about_order() {
    let table = filled(&[250.0, 122.0, 99.0], &[100.0, 900.0], 1, 0.01, 1);
    let ours = table.rows[0].ours.expect("it was measured");
    assert!(ours.low.is_none() && ours.repeats == 1, "{ours:?}");
    assert_eq!(table.pairs[0].says, Agreement::Open);
}

#[test]
fn equal_cells_seem_to_differ_in_few_tables() {
    let wrong = (0..400).filter(|seed| {
        let table = filled(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0], &[100.0; 5], 3, 0.03, *seed);
        table.pairs.iter().any(|pair| pair.says != Agreement::Open)
    });
    let wrong = wrong.count();
    assert!(wrong <= 32, "{wrong} of 400 tables; 20 are to be expected at most");
}

#[test]
fn the_interval_of_a_ratio_holds_it_as_often_as_it_says() {
    let hit = (0..400).filter(|seed| {
        let table = filled(&[1.0, 2.0, 3.0, 9.0], &[100.0, 120.0, 90.0], 3, 0.03, *seed);
        let ratio = table.rows[1].ours_ratio.expect("it was measured");
        ratio.low.is_some_and(|low| low < 1.2) && ratio.high.is_some_and(|high| high > 1.2)
    });
    let hit = hit.count();
    assert!(hit >= 372, "{hit} of 400");
}

#[test]
fn a_missing_trial_takes_its_block_out_of_its_pairs_and_nothing_else() {
    let mut sweep = sweep(&[1.0, 2.0, 3.0, 9.0], Vec::new());
    let mut seen = trials(&[100.0, 200.0, 400.0], 3, 0.001, 3);
    seen.retain(|trial| (trial.arm, trial.block) != (1, 2));
    beside(&mut sweep, &seen);
    let table = &sweep.published[0];
    assert_eq!(table.pairs.iter().map(|pair| pair.ours.repeats).collect::<Vec<_>>(), [2, 3, 2]);
    assert!(table.pairs.iter().all(|pair| pair.says == Agreement::Agrees), "{:?}", table.pairs);
}

#[test]
fn that_cells_are_the_same_can_be_contradicted_and_never_shown() {
    let claim = |cells: &[usize]| Claim {
        says: "the same".into(),
        order: ClaimOrder::Same,
        cells: cells.to_vec(),
        pairs: Vec::new(),
    };
    let mut sweep = sweep(&[1.0, 1.0, 1.0, 1.0], vec![claim(&[0, 1]), claim(&[1, 2])]);
    beside(&mut sweep, &trials(&[100.0, 100.4, 150.0], 4, 0.01, 5));
    let table = &sweep.published[0];
    assert!(table.pairs.is_empty(), "equal values have no order");
    assert_eq!(table.claims[0].pairs[0].says, Agreement::Open);
    assert_eq!(table.claims[1].pairs[0].says, Agreement::Contradicts);
}

#[test]
fn load_lines_stand_beside_published_ones() {
    let mut sweep = sweep(&[100.0, 200.0, 9.0], Vec::new());
    sweep.published[0].figure.name = "load_line".into();
    let line = |load: f64| {
        FindAnswer::LoadLine(model::record::study::LoadLine {
            load,
            low: load,
            high: load,
            wide: false,
            held_by: Some("p95 < 1s".parse().expect("a target")),
            held_by_ratio: 1.0,
            slope: 1.0,
            passed: None,
            failed: None,
            contradicted: Vec::new(),
            unjudged: Vec::new(),
            conditions: Default::default(),
            confirming: 0,
            throughput_per_s: None,
            by_average: None,
        })
    };
    sweep.cells[0].answers = vec![line(50.0), line(51.0)];
    sweep.cells[1].answers = vec![line(90.0), line(92.0)];
    beside(&mut sweep, &[]);
    let table = &sweep.published[0];
    assert_eq!(table.pairs[0].says, Agreement::Agrees, "{table:?}");
}

/// Five cells with little noise and seven equal ones with ten times as much, nothing else being different.
fn unequally_noisy(repeats: u32, seed: u64) -> Vec<Trial> {
    let mut random = Random::new(seed);
    let mut trials = Vec::new();
    for block in 0..repeats {
        let mood = 0.2 * random.normal();
        for arm in 0..12 {
            let noise = if arm < 5 { 0.01 } else { 0.1 };
            trials.push(trial(arm, block, 100.0 * (mood + noise * random.normal()).exp()));
        }
    }
    trials
}

#[test]
fn equal_cells_of_unequal_noise_seem_to_differ_in_few_tables() {
    let published: Vec<f64> = (1..=13).map(f64::from).collect();
    for repeats in [2, 3] {
        let wrong = (0..300).filter(|seed| {
            let mut sweep = sweep(&published, Vec::new());
            beside(&mut sweep, &unequally_noisy(repeats, *seed));
            sweep.published[0].pairs.iter().any(|pair| pair.says != Agreement::Open)
        });
        let wrong = wrong.count();
        assert!(wrong <= 24, "{wrong} of 300 tables of {repeats} repeats; 15 are to be expected at most");
    }
}

#[test]
fn the_noise_of_cells_that_a_claim_does_not_name_is_no_matter_to_it() {
    let named = |cells: &[usize]| Claim {
        says: "more".into(),
        order: ClaimOrder::Rises,
        cells: cells.to_vec(),
        pairs: Vec::new(),
    };
    let mut sweep = sweep(&[1.0; 13], vec![named(&[0, 1])]);
    let mut seen = unequally_noisy(4, 1);
    for trial in seen.iter_mut().filter(|trial| trial.arm == 1) {
        trial.measured.iter_mut().for_each(|measured| measured.figures[0].value *= 1.12);
    }
    beside(&mut sweep, &seen);
    let pair = &sweep.published[0].claims[0].pairs[0];
    assert_eq!(pair.says, Agreement::Agrees, "{pair:?}");
}

#[test]
fn an_overloaded_trial_counts_and_one_with_a_fault_does_not() {
    let mark =
        || model::record::study::Fault { check: model::Check::Cycle, sentence: "it was overloaded".into() };
    let mut seen = trials(&[100.0, 200.0], 3, 0.01, 3);
    seen[0].overloaded = vec![mark()];
    seen[1].faults = vec![mark()];
    let mut sweep = sweep(&[1.0, 2.0, 9.0], Vec::new());
    beside(&mut sweep, &seen);
    let repeats = |row: usize| sweep.published[0].rows[row].ours.map(|ours| ours.repeats);
    assert_eq!([repeats(0), repeats(1)], [Some(3), Some(2)]);
}

#[test]
fn published_ratios_are_to_their_own_row_whatever_comes_first() {
    let mut sweep = sweep(&[8.0, 1.0, 3.0, 9.0], Vec::new());
    sweep.published[0].relative = true;
    sweep.published[0].rows[0].bound = Some(Bound::Most);
    sweep.published[0].rows[2].bound = Some(Bound::Least);
    beside(&mut sweep, &trials(&[500.0, 100.0, 450.0], 4, 0.01, 3));
    let table = &sweep.published[0];
    assert_eq!(table.base, Some(1));
    let ratios: Vec<_> = table.rows.iter().map(|row| row.ratio).collect();
    assert_eq!(ratios, [Some(8.0), Some(1.0), Some(3.0), Some(9.0)]);
    let ours = table.rows[0].ours_ratio.expect("both were measured").value;
    assert!((4.8..5.2).contains(&ours), "{ours}");
    let pairs: Vec<_> = table.pairs.iter().map(|pair| (pair.first, pair.second, pair.says)).collect();
    assert_eq!(
        pairs,
        [(0, 1, Agreement::Agrees), (1, 2, Agreement::Agrees)],
        "that one is 8 at most and another one 3 at least orders neither"
    );
}

#[test]
fn both_ends_of_a_range_are_one_comparison() {
    let mut sweep = sweep(&[1.0, 2.0, 5.0, 9.0], Vec::new());
    sweep.published[0].relative = true;
    for (row, bound) in [(1, Bound::Least), (2, Bound::Most)] {
        sweep.published[0].rows[row].bound = Some(bound);
        sweep.published[0].rows[row].cell = Some(1);
    }
    beside(&mut sweep, &trials(&[100.0, 300.0], 4, 0.01, 3));
    let pairs: Vec<_> = sweep.published[0].pairs.iter().map(|pair| (pair.first, pair.second)).collect();
    assert_eq!(pairs, [(0, 1)]);
}
