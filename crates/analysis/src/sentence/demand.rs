//! What is said of the load that was asked for.

use model::load::Pattern;
use model::units;

use super::{number, percent};
use crate::demand::Demand;

pub(crate) fn arrivals(demand: &Demand<'_>, intended: f64, in_number: bool, as_random: bool) -> String {
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

pub(crate) fn mix(demand: &Demand<'_>, chi2: f64, limit: f64, impossible: f64, freedom: usize) -> String {
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

pub(crate) fn think(mean_s: f64, intended_s: f64, ok: bool) -> String {
    let (mean, intended) = (units::show_seconds(mean_s), units::show_seconds(intended_s));
    if ok {
        return format!("think times were {mean} on average, {intended} asked for");
    }
    format!(
        "think times were {mean} on average instead of {intended}: the load was not the one asked for; the generator was \
         late (see send_lag), or the steady state is too short for times this long (--steady)"
    )
}
