//! What a sweep says, as people read it.

use std::collections::BTreeSet;

use model::QosTarget;
use model::record::TargetOutcome;
use model::study::{Arm, FindAnswer, Measured, Measurement, Sweep, Trial};

use analysis::distribution::student_quantile;
use model::units::{number, percent};

/// Probability with which one of two cells is called higher although all cells are alike.
const MISSES: f64 = 0.05;

/// How many cells were measured, where the figure is highest and lowest, and how far repeats of a cell differ. Cells that
/// differ by no more than chance may do are not told apart.
pub fn sweep(sweep: &Sweep, arms: &[Arm], trials: &[Trial]) -> String {
    let values: Vec<Vec<f64>> = (0..sweep.cells.len()).map(|arm| values(sweep, trials, arm)).collect();
    let measured = values.iter().filter(|values| !values.is_empty()).count();
    let times = if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) };
    let mut sentence = format!("{measured} of {} cells have a result, measured {times} each", values.len());
    if let Some(range) = range(sweep, arms, &values) {
        sentence += &format!("; {range}");
    }
    if let Some((spread, _)) = spread(&values) {
        sentence += &format!("; repeats of a cell differ by {} (standard deviation)", percent(spread));
    }
    if let Some(missed) = never_met(sweep, trials) {
        sentence += &format!("; {missed}");
    }
    let invalid: BTreeSet<usize> =
        trials.iter().filter(|trial| !trial.valid()).map(|trial| trial.arm).collect();
    match (&sweep.measurement, invalid.len()) {
        (Measurement::LoadLine(_), _) | (_, 0) => sentence,
        (_, 1) => sentence + "; trials of 1 cell were not valid",
        (_, cells) => sentence + &format!("; trials of {cells} cells were not valid"),
    }
}

/// That no trial met its targets, with those that all of them missed; absent where one did, and where load lines are
/// looked for, which are where targets begin to be missed.
pub fn never_met(sweep: &Sweep, trials: &[Trial]) -> Option<String> {
    if let Measurement::LoadLine(_) = sweep.measurement {
        return None;
    }
    let counted: Vec<&Measured> =
        trials.iter().filter(|trial| trial.valid()).filter_map(|trial| trial.measured.as_ref()).collect();
    let missed = |seen: &Measured, wanted: &QosTarget| {
        seen.targets.iter().any(|outcome| outcome.target == *wanted && outcome.is_missed())
    };
    let first = counted.first()?;
    if counted.iter().any(|seen| !seen.targets.iter().any(TargetOutcome::is_missed)) {
        return None;
    }
    let wanted = first.targets.iter().map(|outcome| &outcome.target);
    let always: Vec<String> = wanted
        .filter(|wanted| counted.iter().all(|seen| missed(seen, wanted)))
        .map(|wanted| format!("`{wanted}`"))
        .collect();
    Some(if always.is_empty() {
        "every trial missed a target".to_string()
    } else {
        format!("every trial missed {}", always.join(" and "))
    })
}

/// From where to where the figure goes, and in which cells where repeats tell these apart; absent without two cells.
fn range(sweep: &Sweep, arms: &[Arm], values: &[Vec<f64>]) -> Option<String> {
    let (name, unit) = match sweep.measurement {
        Measurement::Window { .. } => ("throughput", "/s"),
        Measurement::LoadLine(_) => ("the load line", ""),
    };
    let (high, low) = ends(values)?;
    let told = |value: f64| format!("{}{unit}", number(value));
    let (most, least) = (told(high.1), told(low.1));
    if most == least {
        return Some(format!("{name} is {most} in each"));
    }
    let between = format!("{name} lies between {least} and {most}");
    Some(match by_chance(values, high.0, low.0) {
        None if matches!(sweep.measurement, Measurement::LoadLine(_)) => {
            format!("{between}: each has an interval of its own, and no cell a second repeat")
        }
        None => format!("{between}: without a second repeat nobody knows what of that is chance"),
        Some(chance) if (high.1 / low.1).ln() <= chance => {
            format!("{between}: cells that are alike may differ by as much")
        }
        Some(_) => {
            let (at_high, at_low) = labels(sweep, arms, high.0, low.0);
            format!("{name} is highest, {most}, with {at_high}, and lowest, {least}, with {at_low}")
        }
    })
}

/// The arms whose mean is highest and lowest, each with it; absent without two.
fn ends(values: &[Vec<f64>]) -> Option<((usize, f64), (usize, f64))> {
    let measured = values.iter().enumerate().filter(|(_, values)| !values.is_empty());
    let means: Vec<(usize, f64)> = measured.map(|(arm, values)| (arm, mean(values))).collect();
    let high = means.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let low = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (high.0 != low.0).then_some((*high, *low))
}

/// How far apart, in logarithms, the means of two cells may be if all cells are alike: Student's t with the variance that
/// repeats of all cells have together, for all pairs of cells at once (Bonferroni), since these two were picked for lying
/// furthest apart. Absent when no cell has two repeats.
fn by_chance(values: &[Vec<f64>], one: usize, other: usize) -> Option<f64> {
    let (spread, degrees) = spread(values)?;
    let cells = values.iter().filter(|values| !values.is_empty()).count() as f64;
    let pairs = cells * (cells - 1.0) / 2.0;
    let share = |arm: usize| 1.0 / values[arm].len() as f64;
    let standard_error = spread * (share(one) + share(other)).sqrt();
    Some(student_quantile(1.0 - MISSES / pairs / 2.0, degrees) * standard_error)
}

/// What two cells are called: by the titles of the factors in which they differ, `Database's host = own`.
fn labels(sweep: &Sweep, arms: &[Arm], one: usize, other: usize) -> (String, String) {
    let level = |arm: usize, factor: usize| sweep.cells.get(arm).and_then(|cell| cell.levels.get(factor));
    let label = |arm: usize| {
        let all = sweep.factors.iter().enumerate();
        let named = all.filter(|(index, _)| level(one, *index) != level(other, *index));
        let named = named.filter_map(|(index, factor)| {
            Some(format!("{} = {}", factor.title, factor.levels.get(*level(arm, index)?)?))
        });
        let named: Vec<String> = named.collect();
        let own = || arms.get(arm).map_or("?", |arm| arm.label.as_str()).to_string();
        if named.is_empty() { own() } else { named.join(", ") }
    };
    (label(one), label(other))
}

/// What the valid repeats of a cell say.
fn values(sweep: &Sweep, trials: &[Trial], arm: usize) -> Vec<f64> {
    if let Measurement::LoadLine(_) = sweep.measurement {
        let line = |answer: &FindAnswer| match answer {
            FindAnswer::LoadLine(line) => Some(line.load),
            FindAnswer::NoAnswer(_) => None,
        };
        return sweep.cells[arm].answers.iter().filter_map(line).collect();
    }
    let of_arm = trials.iter().filter(|trial| trial.arm == arm && trial.valid());
    let seen = of_arm.filter_map(|trial| Some(trial.measured.as_ref()?.figure("throughput", None)?.value));
    seen.filter(|value| *value > 0.0).collect()
}

/// The geometric mean: figures differ by factors.
fn mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Standard deviation of the repeats' logarithms within cells, pooled, with its degrees of freedom; absent when no cell has
/// two.
fn spread(cells: &[Vec<f64>]) -> Option<(f64, f64)> {
    let (mut squares, mut freedom) = (0.0, 0);
    for values in cells.iter().filter(|values| values.len() > 1) {
        let centre = mean(values).ln();
        squares += values.iter().map(|value| (value.ln() - centre).powi(2)).sum::<f64>();
        freedom += values.len() - 1;
    }
    let freedom = freedom as f64;
    (freedom > 0.0).then(|| ((squares / freedom).sqrt(), freedom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::random::Random;
    use model::study::{Cell, Factor, Figure, FindGoal, Purpose, SweepOrder};

    fn asked() -> Sweep {
        let factor = |name: &str, title: &str, levels: [&str; 2]| Factor {
            name: name.to_string(),
            title: title.to_string(),
            levels: levels.map(str::to_string).to_vec(),
        };
        let cell = |levels: [usize; 2]| Cell { levels: levels.to_vec(), ..Cell::default() };
        Sweep {
            name: "near-and-far".to_string(),
            title: "A database near and far".to_string(),
            source: String::new(),
            factors: vec![
                factor("db.net.host", "Database's host", ["shared", "own"]),
                factor("param.database_over", "Database reached over", ["socket", "tcp"]),
            ],
            measurement: Measurement::Window { window_s: 30.0 },
            repeats: 2,
            order: SweepOrder::Random,
            seed: 1,
            cells: vec![cell([0, 1]), cell([1, 1])],
            form: None,
            published: Vec::new(),
            differs: Vec::new(),
        }
    }

    fn trial((arm, per_s): (usize, f64)) -> Trial {
        let throughput = Figure {
            name: "throughput".to_string(),
            operation: None,
            value: per_s,
            log_se: None,
            degrees: None,
        };
        Trial {
            number: 1,
            arm,
            block: 0,
            purpose: Purpose::Measure,
            load: 25.0,
            run: String::new(),
            began_s: 0.0,
            took_s: 40.0,
            fresh: true,
            warm_up_s: Some(3.0),
            window_s: 30.0,
            measured: Some(Measured { figures: vec![throughput], ..Measured::default() }),
            faults: Vec::new(),
            overloaded: Vec::new(),
        }
    }

    #[test]
    fn cells_are_called_by_the_titles_in_which_they_differ_and_not_told_apart_where_repeats_differ_too() {
        let said = |values: [(usize, f64); 4]| sweep(&asked(), &[], &values.map(trial));
        assert_eq!(
            said([(0, 200.0), (0, 202.0), (1, 280.0), (1, 282.0)]),
            "2 of 2 cells have a result, measured 2 times each; throughput is highest, 281/s, with Database's host = \
             own, and lowest, 201/s, with Database's host = shared; repeats of a cell differ by 0.612 % (standard \
             deviation)"
        );
        let alike = said([(0, 270.0), (0, 290.0), (1, 275.0), (1, 295.0)]);
        assert!(
            alike.contains(
                "; throughput lies between 280/s and 285/s: cells that are alike may differ by as much; "
            ),
            "{alike}"
        );
        assert!(!alike.contains("highest"), "{alike}");
    }

    #[test]
    fn of_cells_that_are_alike_the_extremes_are_named_in_one_sweep_of_twenty_at_most() {
        let cells = (0..27).map(|_| Cell::default()).collect();
        let asked = Sweep { repeats: 3, cells, ..asked() };
        let mut random = Random::new(1);
        let mut names_extremes = |better: f64| {
            let better = |arm: usize| if arm == 0 { better } else { 1.0 };
            let measured = (0..81).map(|number| number % 27);
            let drawn = measured.map(|arm| (arm, 200.0 * better(arm) * (0.02 * random.normal()).exp()));
            sweep(&asked, &[], &drawn.map(trial).collect::<Vec<_>>()).contains("is highest")
        };
        let wrong = (0..400).filter(|_| names_extremes(1.0)).count();
        assert!((1..=20).contains(&wrong), "{wrong} of 400");
        let right = (0..100).filter(|_| names_extremes(1.1)).count();
        assert!(right >= 90, "{right} of 100: a cell that is better by five standard deviations");
    }

    #[test]
    fn cells_measured_once_and_cells_that_read_the_same_are_not_ranked() {
        let once = Sweep { repeats: 1, ..asked() };
        let told = sweep(&once, &[], &[(0, 200.0), (1, 280.0)].map(trial));
        assert_eq!(
            told,
            "2 of 2 cells have a result, measured once each; throughput lies between 200/s and 280/s: without a second \
             repeat nobody knows what of that is chance"
        );
        let lines = Sweep { measurement: Measurement::LoadLine(FindGoal::default()), ..once.clone() };
        let told = range(&lines, &[], &[vec![200.0], vec![280.0]]);
        let known = "the load line lies between 200 and 280: each has an interval of its own, and no cell a second \
                     repeat";
        assert_eq!(told.as_deref(), Some(known), "what may be chance is known of a line without repeats");
        let told = sweep(&once, &[], &[(0, 281.1), (1, 281.2)].map(trial));
        assert!(told.ends_with("; throughput is 281/s in each"), "{told}");
    }

    /// A trial of a cell that missed these targets, and met the others.
    fn judged(arm: usize, missed: &[&str]) -> Trial {
        let outcome = |text: &str| {
            let target: QosTarget = text.parse().expect("a target");
            let observed = target.limit * if missed.contains(&text) { 1.1 } else { 0.9 };
            TargetOutcome::of(target, Some(observed), 100)
        };
        let mut trial = trial((arm, 200.0));
        let seen = trial.measured.as_mut().expect("it was measured");
        seen.targets = ["p95 < 2.00 s", "Browse p95 < 1.00 s", "errors < 0.1%"].map(outcome).to_vec();
        trial
    }

    #[test]
    fn a_sweep_in_which_every_trial_missed_a_target_says_so_and_which_all_of_them_missed() {
        let (p95, browse, errors) = ("p95 < 2.00 s", "Browse p95 < 1.00 s", "errors < 0.1%");
        let said = |trials: &[Trial]| sweep(&asked(), &[], trials);
        let both = [judged(0, &[p95, errors]), judged(1, &[p95, browse, errors])];
        let told = said(&both);
        assert!(told.ends_with("; every trial missed `p95 < 2.00 s` and `errors < 0.1%`"), "{told}");
        let apart = [judged(0, &[p95]), judged(1, &[browse])];
        assert!(said(&apart).ends_with("; every trial missed a target"), "{}", said(&apart));
        let one_met = [judged(0, &[p95, errors]), judged(1, &[])];
        assert!(!said(&one_met).contains("missed"), "{}", said(&one_met));
        let mut invalid = judged(1, &[]);
        invalid.measured = None;
        let with_invalid = [judged(0, &[p95]), invalid];
        assert!(said(&with_invalid).contains("; every trial missed `p95 < 2.00 s`; trials of 1 cell"));
        let lines = Sweep { measurement: Measurement::LoadLine(FindGoal::default()), ..asked() };
        assert_eq!(never_met(&lines, &both), None, "a line is where targets begin to be missed");
        assert_eq!(never_met(&asked(), &[]), None, "nothing was measured");
    }

    #[test]
    fn repeats_differ_by_their_pooled_standard_deviation() {
        let cells = [vec![100.0, 102.0], vec![50.0], vec![200.0, 204.0]];
        let (spread, degrees) = spread(&cells).expect("two cells have two");
        assert_eq!(degrees, 2.0);
        let one = (102.0f64 / 100.0).ln() / 2.0f64.sqrt();
        assert!((spread - one).abs() < 1e-12, "{spread} {one}");
        assert_eq!(super::spread(&[vec![1.0], vec![]]), None);
    }
}
