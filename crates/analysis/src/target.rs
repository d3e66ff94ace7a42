//! QoS targets against what was seen.

use model::catalogue::qos::Measure;
use model::record::TargetOutcome;
use model::record::interval::OperationName;
use model::{OperationInterval, OperationKind, QosTarget};

use crate::steady::Steady;
use crate::times::{mean_s, value_s};

/// Judges each target over the steady state.
///
/// A target without an operation is about all operations merged (sessions and requests are other views of the same
/// work). Times are response times of what completed; the error ratio is failed / (completed + failed). The share of
/// waiting users is the mean over the seconds' ends of those whose operation had been under way for so long, divided by
/// the mean number of users. A target is met when [`QosTarget::met_by`] says so; one about something that never
/// occurred is not met.
pub fn targets(targets: &[QosTarget], steady: &Steady, names: &[OperationName]) -> Vec<TargetOutcome> {
    targets.iter().map(|target| judge(target, &merged(target, steady, names), steady)).collect()
}

pub(crate) fn judge(target: &QosTarget, seen: &OperationInterval, steady: &Steady) -> TargetOutcome {
    let whole = steady.whole();
    let user_s = whole.busy_user_s + whole.thinking_user_s;
    let samples = match target.measure {
        Measure::Errors => seen.completed + seen.failed(),
        // Arrivals that are served at once leave less than a second of all users' time: enough to say that nobody waits.
        Measure::Waiting(_) => user_s.ceil() as u64,
        Measure::Throughput | Measure::Samples => seen.completed,
        Measure::Percentile(_) | Measure::Mean | Measure::Max => seen.response.len(),
    };
    let average_s = if target.measure.is_time() { mean_s(&seen.response) } else { None };
    let observed = (samples > 0).then(|| match target.measure {
        Measure::Percentile(percent) => value_s(&seen.response, percent),
        Measure::Mean => seen.response.mean() / 1e6,
        Measure::Max => seen.response.max() as f64 / 1e6,
        Measure::Errors => seen.failed() as f64 / samples as f64,
        Measure::Waiting(_) => whole.waiting_users as f64 / user_s,
        Measure::Throughput => steady.per_second(seen.completed as f64),
        Measure::Samples => seen.completed as f64,
    });
    TargetOutcome { average_s, ..TargetOutcome::of(target.clone(), observed, samples) }
}

/// What the target is about, merged: all operations, or the first of operation, session and request of that name.
pub(crate) fn merged(target: &QosTarget, steady: &Steady, names: &[OperationName]) -> OperationInterval {
    let mut merged = OperationInterval::empty();
    let mut add = |index: usize| {
        steady.whole().operations.get(index).into_iter().for_each(|part| merged.merge(part));
    };
    match &target.operation {
        None => names
            .iter()
            .enumerate()
            .filter(|(_, name)| name.kind == OperationKind::Operation)
            .for_each(|(index, _)| add(index)),
        Some(wanted) => [OperationKind::Operation, OperationKind::Session, OperationKind::Request]
            .iter()
            .find_map(|kind| names.iter().position(|name| name.kind == *kind && name.name == *wanted))
            .into_iter()
            .for_each(add),
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Interval;
    use model::record::interval::record_ns;

    fn names() -> Vec<OperationName> {
        let name = |kind, name: &str| OperationName { kind, name: name.to_string() };
        vec![
            name(OperationKind::Session, "order_cycle"),
            name(OperationKind::Operation, "Login"),
            name(OperationKind::Operation, "Browse"),
            name(OperationKind::Request, "/ds2/dsbrowse.php"),
        ]
    }

    /// 100 sessions of 5 s, 100 logins of 10 ms, 90 Browse of 100 ms and 10 of 3 s; 2 Browse failed.
    fn run() -> [Interval; 1] {
        let mut second = Interval::empty(0);
        let groups: [&[(u64, u64)]; 4] = [&[(100, 5000)], &[(100, 10)], &[(90, 100), (10, 3000)], &[]];
        for group in groups {
            let mut seen = OperationInterval::empty();
            for (count, each_ms) in group {
                seen.completed += count;
                (0..*count).for_each(|_| record_ns(&mut seen.response, each_ms * 1_000_000));
            }
            second.operations.push(seen);
        }
        second.operations[2].errors[2] = 2;
        [second]
    }

    fn one(text: &str) -> TargetOutcome {
        let target: QosTarget = text.parse().expect("a target");
        let run = run();
        targets(&[target], &Steady::of(&run, 0.0, 1.0), &names()).remove(0)
    }

    #[test]
    fn targets_are_judged_on_what_they_name() {
        let table = [
            ("p95 < 2s", true, 200, "190 of 200 operations are below 2 s"),
            ("p96 < 2s", false, 200, "10 of 200 operations took 3 s"),
            ("Browse p90 < 2s", true, 100, "90 of 100 are below 2 s"),
            ("Browse p91 < 2s", false, 100, "the 91st takes 3 s"),
            ("Login max < 20ms", true, 100, "all logins take 10 ms"),
            ("order_cycle mean < 4s", false, 100, "a session by name"),
            ("errors < 1%", true, 202, "2 of 202 failed: 0.99 %"),
            ("Browse errors < 1%", false, 102, "2 of 102 failed: 1.96 %"),
            ("Purchase p95 < 2s", false, 0, "it never occurred"),
            ("/ds2/dsbrowse.php mean < 1s", false, 0, "known, but nothing completed"),
        ];
        for (text, pass, samples, why) in table {
            let found = one(text);
            assert_eq!((found.pass, found.samples), (pass, samples), "{text}: {why}: {found:?}");
        }
    }

    #[test]
    fn what_is_asked_for_at_least_is_missed_below_its_limit() {
        let found = one("throughput > 200/s");
        assert_eq!((found.pass, found.observed, found.margin_ratio()), (true, Some(200.0), Some(0.0)));
        let found = one("Browse throughput > 125/s");
        assert_eq!((found.pass, found.observed, found.target.measure.unit()), (false, Some(100.0), "1/s"));
        assert!(found.margin_ratio().is_some_and(|margin| (margin + 0.2).abs() < 1e-9), "{found:?}");
        assert!(one("Login samples > 100").pass && !one("Login samples > 101").pass);
    }

    #[test]
    fn users_who_wait_are_a_share_of_all_users_over_time() {
        let second = |number| Interval {
            busy_user_s: 30.0,
            thinking_user_s: 70.0,
            waiting_users: if number == 1 { 4 } else { 2 },
            ..Interval::empty(number)
        };
        let run: Vec<Interval> = (0..2).map(second).collect();
        let target: QosTarget = "waiting over 4s < 2%".parse().expect("a target");
        let found = targets(&[target], &Steady::of(&run, 0.0, 2.0), &names()).remove(0);
        assert_eq!(
            (found.observed, found.pass, found.samples),
            (Some(0.03), false, 200),
            "6 of 200 user-seconds"
        );
    }

    #[test]
    fn users_who_are_hardly_ever_busy_are_still_judged_for_waiting() {
        let run = [Interval { busy_user_s: 0.3, ..Interval::empty(0) }];
        let target: QosTarget = "waiting over 2s < 5%".parse().expect("a target");
        let found = targets(&[target], &Steady::of(&run, 0.0, 1.0), &names()).remove(0);
        assert_eq!((found.observed, found.pass, found.samples), (Some(0.0), true, 1));
    }

    #[test]
    fn the_limit_itself_is_missed() {
        let mut target: QosTarget = "Login max < 20ms".parse().expect("a target");
        let run = run();
        let steady = Steady::of(&run, 0.0, 1.0);
        let seen = targets(std::slice::from_ref(&target), &steady, &names()).remove(0).observed;
        target.limit = seen.expect("logins completed");
        let found = targets(&[target], &steady, &names()).remove(0);
        assert!(!found.pass && found.margin_ratio() == Some(0.0), "{found:?}");
    }

    #[test]
    fn an_average_that_hides_a_missed_percentile_is_pointed_out() {
        let missed = one("Browse p95 < 2s");
        assert!(missed.average_would_pass() && missed.average_s.is_some_and(|mean| mean < 0.4), "{missed:?}");
        assert!(!one("Browse p90 < 2s").average_would_pass(), "it passes anyway");
        assert!(!one("order_cycle p95 < 2s").average_would_pass(), "the average is 5 s");
        assert!(!one("order_cycle mean < 2s").average_would_pass(), "the target is the average");
    }

    #[test]
    fn the_margin_is_the_share_of_the_limit_that_is_left() {
        let margin = one("Login max < 20ms").margin_ratio().expect("observed");
        assert!((margin - 0.5).abs() < 1e-3, "{margin}");
        assert_eq!(one("Purchase p95 < 2s").margin_ratio(), None);
    }
}
