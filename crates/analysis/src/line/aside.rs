//! What is said beside the load line: the throughput there, and where the line would be if averages were judged.

use model::record::study::Trial;

use super::crossing::{Crossing, Point, Reading};
use super::{BEYOND, FAR, JudgedTrials, Usability, variance};

/// How far above the highest load tried an average's crossing is still told.
const JUST_BEYOND: f64 = 1.15;

impl JudgedTrials<'_> {
    /// Operations per second at `load`: between the two nearest loads tried, linearly in ln(load) and ln(throughput),
    /// trials of one load averaged. Absent when the load lies outside of those tried. A trial whose window was too short for the
    /// answers that were under way tells nothing of it: hardly any of its operations ended.
    pub fn throughput_per_s(&self, load: f64) -> Option<f64> {
        let ended = |trial: &Trial| trial.measured.as_ref().is_some_and(|seen| !seen.only_under_way);
        let clear = self.usable().filter(|(trial, usability)| *usability != Usability::Bound && ended(trial));
        let mut known: Vec<(f64, f64)> = clear
            .filter_map(|(trial, _)| {
                let value = trial.measured.as_ref()?.figure("throughput", None)?.value;
                (value > 0.0).then(|| (trial.load.ln(), value.ln()))
            })
            .collect();
        known.sort_by(|one, other| one.0.total_cmp(&other.0));
        let x = load.ln();
        let near = |same: f64| {
            let close: Vec<f64> =
                known.iter().filter(|(at, _)| (at - same).abs() < 0.005).map(|known| known.1).collect();
            close.iter().sum::<f64>() / close.len() as f64
        };
        let below = known.iter().rev().find(|(at, _)| *at <= x)?.0;
        let above = known.iter().find(|(at, _)| *at >= x)?.0;
        if above - below < 1e-9 {
            return Some(near(below).exp());
        }
        let share = (x - below) / (above - below);
        Some((near(below) * (1.0 - share) + near(above) * share).exp())
    }

    /// Where the line would be if means were held against the limits of percentiles: the lowest crossing of all targets
    /// so judged. Absent when it lies further than a little beyond the loads tried, or not above the load line.
    pub fn by_average(&self, load_line: f64) -> Option<f64> {
        let loads = || self.usable().map(|(trial, _)| trial.load);
        let (least, most) = (loads().min_by(f64::total_cmp)?, loads().max_by(f64::total_cmp)?);
        let range = (least.ln() - BEYOND, most.ln() + BEYOND);
        let crossing = |number: usize| {
            let points = self.averages(number);
            (!points.is_empty()).then(|| Crossing::of(&points, range).at(0.5, 0.5).0.exp())
        };
        let lowest = (0..self.rising.len()).filter_map(crossing).min_by(f64::total_cmp)?;
        (lowest <= most * JUST_BEYOND && lowest > load_line * 1.02).then_some(lowest)
    }

    /// The target's margin with the mean in place of the percentile; targets without a mean as they are.
    fn averages(&self, number: usize) -> Vec<Point> {
        if !self.rising.get(number).is_some_and(|rising| *rising) {
            return Vec::new();
        }
        let clear = self.usable().filter(|(_, usability)| *usability == Usability::Full);
        let noise = self.noise(number);
        let points: Vec<Point> = clear
            .filter_map(|(trial, _)| {
                let clause = trial.measured.as_ref()?.targets.get(number)?;
                let margin = clause.mean_margin().or(clause.margin.log).filter(|margin| !margin.is_nan())?;
                let reading = Reading::Margin(margin, variance(trial, clause.margin.log_se, noise));
                Some(Point { x: trial.load.ln(), reading })
            })
            .collect();
        let near = |point: &Point| matches!(point.reading, Reading::Margin(margin, _) if margin > FAR);
        if points.iter().any(near) { points } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use model::record::study::{Figure, Measured, Trial};

    use crate::line::JudgedTrials;
    use crate::line::usability::tests::{MET, MISSED, trial};

    fn at(load: f64, throughput_per_s: f64, margin: f64, only_under_way: bool) -> Trial {
        let throughput = Figure {
            name: "throughput".to_string(),
            operation: None,
            value: throughput_per_s,
            log_se: None,
            degrees: None,
        };
        let measured = trial(margin, &[]).measured.expect("it was measured");
        let measured = Measured { figures: vec![throughput], only_under_way, ..measured };
        Trial { number: load as u32, load, measured: Some(measured), ..trial(margin, &[]) }
    }

    #[test]
    fn the_throughput_at_the_line_lies_between_those_around_it() {
        let trials = [at(40.0, 20.0, MET, false), at(90.0, 45.0, MISSED, false)];
        let found = JudgedTrials::of(&trials).throughput_per_s(60.0).expect("it lies between them");
        assert!((found - 30.0).abs() < 1e-9, "{found}");
        assert_eq!(JudgedTrials::of(&trials).throughput_per_s(95.0), None, "beyond what was tried");
    }

    #[test]
    fn a_trial_whose_operations_hardly_ended_says_nothing_of_the_throughput() {
        let trials = [at(47.0, 28.6, MET, false), at(70.0, 9.0, MISSED, true)];
        assert_eq!(JudgedTrials::of(&trials).throughput_per_s(64.0), None);
    }
}
