//! How a find's figures depend on the load: what its charts, tables and drawings show.

use model::StudyRecord;
use model::record::TargetOutcome;
use model::record::study::{Find, Kind, LoadLine, Measured, Trial};

/// A find's figures against the load.
pub(crate) struct Course<'a> {
    /// The target that holds the line; without an answer, the one that came nearest to its limit.
    pub(crate) clause: Option<&'a TargetOutcome>,
    /// The operation of that target; absent for all together, and where the target is not about times.
    pub(crate) operation: Option<String>,
    /// The answer, when there is one.
    pub(crate) line: Option<&'a LoadLine>,
    /// Trials with figures, by load; those that only fill caches are left out.
    pub(crate) trials: Vec<(&'a Trial, &'a Measured)>,
}

impl<'a> Course<'a> {
    /// The course of `find`, which is the record's question.
    pub(crate) fn new(record: &'a StudyRecord, find: &'a Find) -> Course<'a> {
        let line = find.load_line();
        let counting = record.trials.iter().filter(|trial| record.counts(trial));
        let mut trials: Vec<(&Trial, &Measured)> =
            counting.filter_map(|trial| Some((trial, trial.measured.as_ref()?))).collect();
        trials.sort_by(|a, b| a.0.load.total_cmp(&b.0.load));
        let clause = line.and_then(|line| holding(&trials, line)).or_else(|| nearest(&trials));
        let operation = clause.filter(|clause| clause.target.measure.is_time());
        let operation = operation.and_then(|clause| clause.target.operation.clone());
        Course { clause, operation, line, trials }
    }

    /// Valid trials, by load.
    pub(crate) fn valid(&self) -> impl Iterator<Item = &(&'a Trial, &'a Measured)> {
        self.trials.iter().filter(|(trial, _)| trial.valid())
    }

    /// The interval of the answer.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        self.line.map(|line| (line.low, line.high))
    }

    /// What was observed of the target in each trial, by load.
    pub(crate) fn observed(&self) -> impl Iterator<Item = (&'a Trial, f64)> + '_ {
        let of = |(trial, seen): &(&'a Trial, &'a Measured)| {
            let clause =
                seen.targets.iter().find(|one| Some(&one.target) == self.clause.map(|one| &one.target))?;
            Some((*trial, clause.observed?))
        };
        self.trials.iter().filter_map(of)
    }

    /// A figure of the operation that the target is about, by load; valid trials only.
    pub(crate) fn figure(&self, name: &str, operation: Option<&str>) -> Vec<(f64, f64)> {
        self.valid()
            .filter_map(|(trial, seen)| Some((trial.load, seen.figure(name, operation)?.value)))
            .collect()
    }

    /// The names of the tiers in the order in which they were measured.
    pub(crate) fn tiers(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for tier in self.trials.iter().flat_map(|(_, seen)| &seen.tiers) {
            if !names.contains(&tier.tier.as_str()) {
                names.push(&tier.tier);
            }
        }
        names
    }

    /// Cores that `tier` kept busy, by load; valid trials only.
    pub(crate) fn cores(&self, tier: &str) -> Vec<(f64, f64)> {
        let of = |(trial, seen): &(&Trial, &Measured)| {
            Some((trial.load, seen.tiers.iter().find(|one| one.tier == tier)?.cpu_cores))
        };
        self.valid().filter_map(of).collect()
    }
}

fn holding<'a>(trials: &[(&'a Trial, &'a Measured)], line: &LoadLine) -> Option<&'a TargetOutcome> {
    let mut clauses = trials.iter().flat_map(|(_, seen)| &seen.targets);
    clauses.find(|one| line.held_by.as_ref().is_some_and(|target| target.is_of_the_same(&one.target)))
}

/// The target that is missed first as the load rises; where none is missed, the one with the largest margin, of those
/// about times if there are any: a share of nothing rises from nothing.
fn nearest<'a>(trials: &[(&'a Trial, &'a Measured)]) -> Option<&'a TargetOutcome> {
    let any_valid = trials.iter().any(|(trial, _)| trial.valid());
    let counting = || trials.iter().filter(|(trial, _)| trial.valid() || !any_valid);
    let missed = counting().find_map(|(_, seen)| seen.targets.iter().find(|clause| !clause.pass));
    let margin =
        |clause: &&TargetOutcome| clause.margin.log.filter(|margin| margin.is_finite()).unwrap_or(f64::MIN);
    let about_time = |clause: &TargetOutcome| clause.target.measure.is_time();
    let clauses = counting().flat_map(|(_, seen)| &seen.targets);
    missed.or_else(|| {
        clauses.max_by(|a, b| about_time(a).cmp(&about_time(b)).then(margin(a).total_cmp(&margin(b))))
    })
}

/// `points` by load, those within 3 % of each other's loads as one: the means of their logarithms, or of their values
/// where one is not positive. What lines are drawn through; the points themselves are shown beside.
pub(crate) fn smooth(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut groups: Vec<Vec<(f64, f64)>> = Vec::new();
    for point in points {
        match groups.last_mut() {
            Some(group) if point.0 <= group[0].0 * 1.03 => group.push(*point),
            _ => groups.push(vec![*point]),
        }
    }
    groups
        .iter()
        .map(|group| (mean(group.iter().map(|point| point.0)), mean(group.iter().map(|point| point.1))))
        .collect()
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    if count > 1.0 && values.clone().all(|value| value > 0.0) {
        return (values.map(f64::ln).sum::<f64>() / count).exp();
    }
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::study::Question;
    use testkit::studies::{FindEnding, find};

    #[test]
    fn the_course_is_about_the_target_that_holds_the_line() {
        let record = find(FindEnding::LoadLine);
        let Question::Find(asked) = &record.question else { panic!("it is a find") };
        let course = Course::new(&record, asked);
        assert_eq!(
            course.clause.map(|clause| clause.target.to_string()).as_deref(),
            Some("Browse p95 < 300 ms")
        );
        assert_eq!(course.operation.as_deref(), Some("Browse"));
        assert_eq!((course.observed().count(), course.tiers()), (15, vec!["web", "db", "generator"]));
        assert_eq!(course.figure("p95", Some("Browse")).len(), 14, "one trial is not valid");
        assert!(course.cores("web").is_sorted_by(|a, b| a.0 <= b.0), "by load");
    }

    #[test]
    fn trials_at_about_the_same_load_are_one_point_of_a_line() {
        let smoothed = smooth(&[(100.0, 1.0), (102.0, 4.0), (200.0, 0.0)]);
        assert_eq!(smoothed.len(), 2);
        assert!((smoothed[0].1 - 2.0).abs() < 1e-12, "{smoothed:?}");
        assert_eq!(smoothed[1], (200.0, 0.0));
    }
}
