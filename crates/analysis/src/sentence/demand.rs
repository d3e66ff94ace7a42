//! What is said of the load that was asked for.

use model::load::{Load, Pattern};
use model::units;

use super::{number, percent};
use crate::demand::{AskedLoad, Fault, Rare, Seen};
use crate::metric::Bound;

pub(crate) fn arrivals(demand: &AskedLoad<'_>, intended: f64, in_number: bool, as_random: bool) -> String {
    let whole = demand.steady.whole();
    let (began, waited) = (whole.arrivals, whole.arrivals_waited);
    let seen = format!("{} of {} intended arrivals began", number(began as f64), number(intended.round()));
    if waited > 0 {
        let share = percent(waited as f64 / began.max(1) as f64);
        return format!(
            "{seen}, {} of them ({share}) only when one of {} users was free again: the load was not the one asked \
             for; the stack can't serve this rate, or allow more users (--users)",
            number(waited as f64),
            number(f64::from(demand.load.users))
        );
    }
    if !in_number {
        return format!(
            "{seen}: the load was not the one asked for; where the generator was not late (send_lag), all its users \
             were taken: lower the rate or allow more users (--users)"
        );
    }
    if !as_random {
        return format!(
            "{seen}, but their numbers by the second are not those of random arrivals: a stall of the generator \
             bunches them; see send_lag"
        );
    }
    let how = match demand.load.arrivals.map(|open| open.pattern) {
        Some(Pattern::Constant) => "evenly",
        _ => "at random",
    };
    format!("{seen}, {how}; none had to wait for a user")
}

pub(crate) fn mix(demand: &AskedLoad<'_>, chi2: f64, limit: f64, impossible: f64, freedom: usize) -> String {
    if impossible > 0.0 {
        return format!(
            "{} sessions began that the mix never asks for; this is a fault of the instrument, report it",
            number(impossible)
        );
    }
    if freedom == 0 {
        return match demand.mix.names.len() {
            1 => "there is one session, so there is no mix to judge".to_string(),
            _ => "nothing of the mix is left to chance, or too little was drawn to judge it".to_string(),
        };
    }
    let figures = format!("chi-square {} on {freedom} degrees of freedom", units::significant(chi2));
    if chi2 <= limit {
        return format!(
            "sessions were drawn as the mix asks ({figures}, at most {} allowed)",
            units::significant(limit)
        );
    }
    format!(
        "sessions were not drawn as the mix asks ({figures}, more than {}); this is a fault of the instrument, report it",
        units::significant(limit)
    )
}

pub(crate) fn rare(rare: &Rare<'_>) -> String {
    format!(
        "{} was drawn {} times instead of {}, fewer than chance gives of this mix; this is a fault of the instrument, \
         report it",
        rare.name,
        number(rare.drawn),
        number(rare.asked)
    )
}

/// `kept_s` is the mean as it was and as it was drawn, of all; `fault` the session that is furthest off.
pub(crate) fn pauses(by_cycles: bool, kept_s: (f64, f64), fault: Option<(&str, Fault)>) -> String {
    let what = if by_cycles { "cycle times" } else { "think times" };
    let Some((name, fault)) = fault else {
        let (kept, asked) = (units::show_seconds(kept_s.0), units::show_seconds(kept_s.1));
        return format!("{what} were {kept} on average, {asked} asked for");
    };
    let (seen, asked) = (units::show_seconds(fault.seen_s), units::show_seconds(fault.asked_s));
    let figures = format!("{what} after {name} were {seen} on average instead of {asked}");
    if !fault.drawn_right {
        return format!("{figures} when drawn; this is a fault of the instrument, report it");
    }
    let why = match by_cycles {
        true => {
            "sessions outlasted their cycles (each counts with the longer of the two), so that users fell behind what \
             was asked for: ask for fewer users"
        }
        false => "the generator was late (see send_lag)",
    };
    format!("{figures}: {why}")
}

pub(crate) fn shares(worst: &Seen<'_>, points: f64, load: &Load, ok: bool) -> String {
    let share = |ratio: f64| format!("{:.1} %", 100.0 * ratio);
    let figures = format!(
        "{} was {} of the sessions that completed, {} asked for",
        worst.name,
        share(worst.ratio),
        share(worst.expected_ratio)
    );
    let limit = match worst.allowed_ratio > points / 100.0 {
        true => format!(
            "{} points allowed instead of {}: chance does so much in a run of this length",
            units::significant(100.0 * worst.allowed_ratio),
            units::significant(points)
        ),
        false => format!("{} points allowed", units::significant(points)),
    };
    if ok {
        return format!("{figures}, the furthest off of all ({limit})");
    }
    if load.arrivals.is_some() {
        return format!(
            "{figures} ({limit}): it was another mix; who arrives begins where all begin: let users live longer (--lifetime), \
             or let operations arrive (--arriving operations)"
        );
    }
    format!(
        "{figures} ({limit}): it was another mix; sessions that fail are missing from it, see the errors, or run longer \
         (--steady)"
    )
}

pub(crate) fn bound(bound: &Bound, low: bool, high: bool) -> String {
    let show = |value: f64| measured(value, &bound.unit);
    let limits = [("at least", bound.at_least), ("at most", bound.at_most)];
    let limits: Vec<String> =
        limits.iter().filter_map(|(word, limit)| Some(format!("{word} {}", show((*limit)?)))).collect();
    let limits = limits.join(" and ");
    let Some(value) = bound.value else {
        return format!("{}: not judged, because there was none; {limits} asked for", bound.title);
    };
    let seen = format!("{}: {}", bound.title, show(value));
    if let Some(lacks_s) = bound.lacks_s {
        let takes = units::show_seconds(lacks_s);
        return format!(
            "{seen}; not judged: {limits} holds of users who have been there for {takes} of steady state"
        );
    }
    if !(low || high) {
        return format!("{seen}, {limits} asked for");
    }
    let why = bound.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("{seen} instead of {limits}{why}")
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
