//! What a run's checks mean for a trial.

use model::catalogue::kit::Metric;
use model::record::study::Fault;
use model::record::{Check, RunRecord};

/// The checks of the run that did not hold, for whoever reads the trial to make of them what they mean there: a stack
/// beyond its limits breaks some by itself. That no steady state was found is no fault; the trial says it in its
/// `warm_up_s`.
pub(super) fn faults(record: &RunRecord, unsettled: bool) -> Vec<Fault> {
    let broken = record.validity.iter().filter(|check| !check.ok);
    let counts = broken.filter(|check| !(unsettled && check.check == Check::Duration));
    counts.map(|check| Fault { check: check.check.clone(), sentence: check.sentence.clone() }).collect()
}

/// The faults of a trial, and those that only mark it as overloaded: where its load is `given`, that the stack does not
/// carry it is a result and no fault.
pub(super) fn marks(faults: Vec<Fault>, metrics: &[Metric], given: bool) -> (Vec<Fault>, Vec<Fault>) {
    let users = metrics.iter().filter(|metric| analysis::of_users(metric));
    let users: Vec<&str> = users.map(|metric| metric.name.as_str()).collect();
    faults.into_iter().partition(|fault| !(given && analysis::by_overload(&fault.check, &users)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::catalogue::kit::Per;

    fn faults(checks: &[&str]) -> Vec<Fault> {
        checks.iter().map(|check| Fault { check: Check::of(check), sentence: "it broke".into() }).collect()
    }

    fn metric(name: &str, of: &str) -> Metric {
        Metric {
            name: name.into(),
            title: name.into(),
            unit: String::new(),
            mix: None,
            of: of.into(),
            per: Per::Total,
            times: 1.0,
            at_least: None,
            at_most: Some(1.0),
            judged_from_s: 0.0,
            at_least_samples: 0,
            why: None,
        }
    }

    #[test]
    fn what_an_overload_breaks_marks_a_trial_at_a_given_load_and_is_a_fault_elsewhere() {
        let metrics = [metric("users_per_operation", "users"), metric("event_images", "images")];
        let by_load = ["cycle", "mix_shares", "metric:users_per_operation"];
        let broken = || faults(&[&by_load[..], &["metric:event_images", "little"]].concat());
        let (left, overloaded) = marks(broken(), &metrics, true);
        assert_eq!(left, faults(&["metric:event_images", "little"]));
        assert_eq!(overloaded, faults(&by_load));
        assert_eq!(marks(broken(), &metrics, false), (broken(), Vec::new()));
    }
}
