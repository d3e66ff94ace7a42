//! How long a sweep takes, before anything is known.

use model::record::study::{Arm, Measurement, Sweep};
use model::{Catalogue, Result};
use runner::trial;

use super::{load_of, loads};

/// Seconds that a trial takes beside those in which it drives users, roughly: stop, start, judging.
const BESIDE_S: f64 = 8.0;

/// Seconds that a cell takes once, before anything is known, in the mean over the cells.
///
/// # Errors
/// A kit that can't be read.
pub(super) fn usual_s(sweep: &Sweep, arms: &[Arm], catalogue: &Catalogue) -> Result<f64> {
    let window_s = match &sweep.measurement {
        Measurement::Window { window_s } => window_s,
        Measurement::LoadLine(goal) => return Ok(goal.budget_s),
    };
    let Some(first) = arms.first() else { return Ok(0.0) };
    let kit = catalogue.kit(&first.recipe.kit)?;
    let (by, _) = load_of(sweep, arms);
    let warm_up_s: f64 = loads(arms).into_iter().map(|load| trial::warm_up_s(by, load, &kit)).sum();
    Ok(warm_up_s / arms.len() as f64 + window_s + BESIDE_S)
}

#[cfg(test)]
mod tests {
    use model::record::study::Form;
    use runner::signals;

    use super::*;
    use crate::context::built_in;

    #[test]
    fn users_who_pause_for_long_take_longer_to_be_spread_than_those_who_never_do() {
        let catalogue = built_in();
        let usual_s = |name: &str| {
            let (study, file, text) = catalogue.study(name).expect("a study");
            let signals = signals::of(&catalogue);
            let plan = study.resolve(Form::Short, &file, text, (&catalogue, &signals), &[0, 1]);
            let plan = plan.unwrap_or_else(|problems| panic!("{problems}"));
            super::usual_s(&plan.sweep, &plan.arms, &catalogue).expect("a kit")
        };
        // 600 users come within 10 s and pause for 5 s; 256 without a pause within 6 s.
        assert_eq!(usual_s("sun-2008-table6"), 20.0 + 20.0 + BESIDE_S);
        assert_eq!(usual_s("debox-2004-table10"), 10.0 + 6.0 + BESIDE_S);
    }
}
