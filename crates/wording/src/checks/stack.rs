//! Whether the stack did its work, all of it and all the time.

use analysis::{Bound, Lack, LogAlarm, TierEvent, TierFault};
use model::record::{ConsistencyResult, Evidence, LinkResult, UntimedResult};
use model::units::{self, number, percent};

use crate::asking::Asking;

pub(super) fn tiers(events: &[TierEvent]) -> String {
    if events.is_empty() {
        return "every tier ran from start to end".to_string();
    }
    let events: Vec<String> = events.iter().map(tier_event).collect();
    format!("{}; the figures are not those of the whole stack: see its log", events.join("; "))
}

/// What each way took, beside what was asked for.
pub(super) fn links(links: &[LinkResult]) -> String {
    let said = |link: &LinkResult| {
        let after = link.after_s.map(|after_s| format!(" and {} after them", units::show_seconds(after_s)));
        format!(
            "a byte to {} and back took {} before the users{}; {} were asked for",
            link.tier,
            units::show_seconds(link.before_s),
            after.unwrap_or_default(),
            units::show_seconds(link.asked_s),
        )
    };
    links.iter().map(said).collect::<Vec<_>>().join("; ")
}

fn tier_event(event: &TierEvent) -> String {
    let (tier, second) = (&event.tier, event.second);
    let who = match event.instance {
        Some(one) => format!("{tier}-{} of {}", one.number, one.all),
        None => format!("tier {tier}"),
    };
    let mut what = match &event.fault {
        TierFault::Died(how) => format!("{who} died in second {second} ({how})"),
        TierFault::OutOfMemory(kill) => {
            format!("{who} was {kill}, in second {second} (more: {})", kill.remedy(tier))
        }
        TierFault::Restarted => format!("{who} restarted in second {second}"),
        TierFault::Aborted(aborted) => crate::aborted(aborted),
    };
    if let Some(line) = &event.log_line {
        what.push_str(&format!(", its log ends with `{}`", line.trim()));
    }
    if let Some(living) = event.instance.map(|one| one.living).filter(|living| *living > 0) {
        what.push_str(&format!("; {living} went on"));
    }
    what
}

/// `never` is an operation of which none completed, and how many of it failed.
pub(super) fn operations(
    (completed, failed): (u64, u64),
    never: Option<&(String, u64)>,
    first: Option<&Evidence>,
    asking: Asking,
) -> String {
    let (done, all) = (number(completed as f64), number((completed + failed) as f64));
    if let (Some((name, count)), true) = (never, completed > 0) {
        let first = first.map(|first| format!("; the first ({}): {}", first.kind, first.message.trim()));
        return format!(
            "{name} never completed, all {} failed{}{}",
            number(*count as f64),
            first.unwrap_or_default(),
            asking.one_user("; ")
        );
    }
    if completed > 0 && failed <= completed {
        return format!("{done} of {all} operations completed");
    }
    if failed == 0 {
        let (longer, one_user) = (asking.longer(), asking.one_user(", or "));
        return format!("no operation ended in the steady state; lengthen it ({longer}){one_user}");
    }
    let first = first.map(|first| {
        format!("; the first: {} failed ({}): {}", first.operation, first.kind, first.message.trim())
    });
    let first = first.unwrap_or_default();
    if completed > 0 {
        return format!(
            "{} of {all} operations failed, more than completed: the figures are those of a minority{first}; ask for less \
             load{}",
            number(failed as f64),
            asking.one_user(", or ")
        );
    }
    format!("all {all} operations failed{first}{}", asking.one_user("; "))
}

/// `627 operations that the script abandoned, 12 % of all`.
pub fn abandoned(untimed: &UntimedResult) -> String {
    let plural = if untimed.count == 1 { "operation" } else { "operations" };
    let count = number(untimed.count as f64);
    format!("{count} {plural} that the script abandoned, {} of all", percent(untimed.share_ratio))
}

pub(super) fn untimed(untimed: Option<&UntimedResult>, strictest_s: Option<f64>, ok: bool) -> String {
    let Some(untimed) = untimed else { return "the script abandoned no operation".to_string() };
    let what = abandoned(untimed);
    let Some(limit_s) = strictest_s else {
        return format!("{what}; no target has a limit on times to hold them to");
    };
    let Some(p99_s) = untimed.p99_s else {
        return format!("{what}; too few to have a p99");
    };
    let (p99, limit) = (units::show_seconds(p99_s), units::show_seconds(limit_s));
    if ok {
        return format!("{what}: p99 {p99}, at most {limit} allowed");
    }
    format!(
        "{what}: p99 {p99}, more than {limit}, the strictest limit on times, and no target sees it: users waited where \
         nothing is timed; look at what delayed them, or time these operations in the session"
    )
}

pub(super) fn alarms(alarms: &[LogAlarm]) -> String {
    if alarms.is_empty() {
        return "no tier's log raised an alarm".to_string();
    }
    let one = |alarm: &LogAlarm| {
        let times = if alarm.count > 1 { format!(" {} times", alarm.count) } else { String::new() };
        format!("tier {} logged `{}`{times}: {}", alarm.tier, alarm.line.trim(), alarm.means)
    };
    let mut sorted: Vec<&LogAlarm> = alarms.iter().collect();
    sorted.sort_by_key(|alarm| !alarm.invalid);
    sorted.into_iter().map(one).collect::<Vec<_>>().join("; ")
}

/// `first` is the first of the `broken` statements.
pub(super) fn consistency(all: usize, broken: usize, first: Option<&ConsistencyResult>) -> String {
    match (all, first) {
        (0, _) => "the kit declares no consistency check, or it was not reached".to_string(),
        (all, None) => format!("the data is consistent: {all} of {all} statements hold"),
        (all, Some(first)) => format!(
            "the data is not consistent: {broken} of {all} statements broken; {}: {}",
            first.name, first.sentence
        ),
    }
}

pub(super) fn metric(bound: &Bound, outside: bool) -> String {
    let show = |value: f64| measured(value, &bound.unit);
    let limits = [("at least", bound.at_least), ("at most", bound.at_most)];
    let limits: Vec<String> =
        limits.iter().filter_map(|(word, limit)| Some(format!("{word} {}", show((*limit)?)))).collect();
    let limits = limits.join(" and ");
    let Some(value) = bound.value else {
        return format!("{}: not judged, because there was none; {limits} asked for", bound.title);
    };
    let figure = format!("{}: {}", bound.title, show(value));
    match bound.lacks {
        Some(Lack::Seconds(lacks_s)) => {
            let takes = units::show_seconds(lacks_s);
            return format!(
                "{figure}; not judged: {limits} holds of users who have been there for {takes} of steady state"
            );
        }
        Some(Lack::Samples { there, needed }) => {
            return format!(
                "{figure}; not judged: {limits} is asked of {needed} samples, and there were {there}"
            );
        }
        None => {}
    }
    if !outside {
        return format!("{figure}, {limits} asked for");
    }
    let why = bound.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("{figure} instead of {limits}{why}")
}

/// A figure with its unit; seconds as people read times.
fn measured(value: f64, unit: &str) -> String {
    match unit {
        "s" => units::show_seconds(value),
        "ratio" => percent(value),
        "" => number(value),
        unit => format!("{} {unit}", number(value)),
    }
}
