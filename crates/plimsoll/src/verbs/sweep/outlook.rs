//! What a sweep will do and how long that takes, before it and on the way.

use experiment::sweep;
use model::SweepPlan;
use model::record::study::{Form, Measurement, Sweep, SweepOrder, Trial};

use wording::roughly;

/// Seconds that a trial takes beside its window, roughly: stop, start, warm-up, judging.
const BESIDE_S: f64 = 10.0;

/// More cells than this are not listed one by one.
const LISTED: usize = 40;

/// The cells, the factors, the order and the time.
pub(super) fn plan(plan: &SweepPlan) -> String {
    let sweep = &plan.sweep;
    let mut text = format!("{}: {}\n", sweep.name, sweep.title);
    if !sweep.source.is_empty() {
        text += &format!("Source: {}\n", sweep.source);
    }
    let sizes = sweep.factors.iter().find(|factor| factor.name == "size");
    let size = sizes.map_or(plan.first.size.label.clone(), |factor| factor.levels.join(", "));
    text += &format!("Kit: {} ({size})\n", plan.first.kit.title);
    match sweep.form {
        Some(Form::Short) => text += "Form: the short one; --full measures it as it was published\n",
        Some(Form::Full) => text += "Form: the full one, as it was published\n",
        None => {}
    }
    for factor in &sweep.factors {
        text += &format!("Factor {}: {}\n", factor.title, factor.levels.join(", "));
    }
    let cells = plan.arms.len();
    text += &format!("Cells: {cells}\n");
    for arm in plan.arms.iter().take(LISTED) {
        text += &format!("  {}\n", arm.label);
    }
    if cells > LISTED {
        text += &format!("  and {} more\n", cells - LISTED);
    }
    let each = match &sweep.measurement {
        Measurement::Window { window_s } => format!("a window of {window_s:.0} s"),
        Measurement::LoadLine(goal) => {
            format!("a search for the load line of at most {}", roughly(goal.budget_s))
        }
    };
    let order = match sweep.order {
        SweepOrder::Random => "each repeat in a random order of its own",
        SweepOrder::AsWritten => "in the order of the study",
    };
    let measurements = cells as f64 * f64::from(sweep.repeats);
    text += &format!(
        "Measured: {each} for each cell, {} ({order}; seed {})\n",
        if sweep.repeats == 1 { "once".to_string() } else { format!("{} times", sweep.repeats) },
        sweep.seed
    );
    let most = if matches!(sweep.measurement, Measurement::LoadLine(_)) { "At most" } else { "About" };
    text + &format!("{most} {} in all", roughly(measurements * usual_s(sweep)))
}

/// `measurement 5 of 21, about 6 min left`.
pub(super) fn line(sweep: &Sweep, loads: &[f64], trials: &[Trial]) -> String {
    let (left, all) = sweep::remaining(sweep, loads, trials);
    let done = all - left;
    let spent_s: f64 = trials.iter().map(|trial| trial.took_s).sum();
    let each_s = if done > 0 { spent_s / done as f64 } else { usual_s(sweep) };
    format!("measurement {} of {all}, about {} left", done + 1, roughly(each_s * left as f64))
}

/// Seconds that a cell takes once, before anything is known.
fn usual_s(sweep: &Sweep) -> f64 {
    match &sweep.measurement {
        Measurement::Window { window_s } => window_s + BESIDE_S,
        Measurement::LoadLine(goal) => goal.budget_s,
    }
}
