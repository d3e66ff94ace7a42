//! Whether the load was the one that was asked for.

use analysis::{ArrivalsFault, MixDraws, PauseFault, SessionShare};
use model::catalogue::load::Pattern;
use model::record::LoadChange;
use model::units::{self, number, percent};

use crate::asking::Asking;

pub(super) fn users(mean: f64, (asked, left): (u32, Option<f64>), ok: bool, asking: Asking) -> String {
    let tenths = |users: f64| number((users * 10.0).round() / 10.0);
    let mean = tenths(mean);
    if let Some(left) = left {
        let word = if ok { "" } else { ": the load was not the one that was left" };
        return format!(
            "{mean} of {} users were at work, which the lost agents left of {asked} on average{word}",
            tenths(left)
        );
    }
    if ok {
        return format!("{mean} of {asked} users were at work");
    }
    format!(
        "{mean} of {asked} users were at work: the load was not the one asked for{}",
        asking.longer_ramp_up("the ramp-up")
    )
}

pub(super) fn by_hand(changes: &[LoadChange]) -> String {
    let numbers = || changes.iter().flat_map(|change| [change.from, change.to]);
    match (changes.len(), numbers().min(), numbers().max()) {
        (times @ 1.., Some(fewest), Some(most)) => {
            let times = if times == 1 { "once".to_string() } else { format!("{times} times") };
            format!("load changed by hand {times}, {fewest} to {most} users")
        }
        _ => "load left to be changed by hand, which nobody did".to_string(),
    }
}

pub(super) fn arrivals(
    (began, intended): (u64, f64),
    pattern: Pattern,
    fault: Option<ArrivalsFault>,
    asking: Asking,
) -> String {
    let flag = asking.more_users();
    let seen = format!("{} of {} intended arrivals began", number(began as f64), number(intended.round()));
    match fault {
        Some(ArrivalsFault::NoFreeUser { waited, users }) => format!(
            "{seen}, {} of them ({}) only when one of {} users was free again: the load was not the one asked for; the \
             stack can't serve this rate, or allow more users ({flag})",
            number(waited as f64),
            percent(waited as f64 / began.max(1) as f64),
            number(f64::from(users))
        ),
        Some(ArrivalsFault::OtherNumber) => format!(
            "{seen}: the load was not the one asked for; where the generator was not late (send_lag), all its users \
             were taken: lower the rate or allow more users ({flag})"
        ),
        Some(ArrivalsFault::NotRandom) => format!(
            "{seen}, but their numbers by the second are not those of random arrivals: a stall of the generator \
             bunches them; see send_lag"
        ),
        None => {
            let how = if pattern == Pattern::Constant { "evenly" } else { "at random" };
            format!("{seen}, {how}; none had to wait for a user")
        }
    }
}

pub(super) fn mix(draws: &MixDraws) -> String {
    match draws {
        MixDraws::OneSession => "there is one session, so there is no mix to judge".to_string(),
        MixDraws::NotJudged => {
            "nothing of the mix is left to chance, or too little was drawn to judge it".to_string()
        }
        MixDraws::ChiSquare { chi2, freedom, limit } => {
            let figures = format!("chi-square {} on {freedom} degrees of freedom", units::significant(*chi2));
            let allowed = units::significant(*limit);
            match chi2 <= limit {
                true => format!("sessions were drawn as the mix asks ({figures}, at most {allowed} allowed)"),
                false => format!(
                    "sessions were not drawn as the mix asks ({figures}, more than {allowed}); this is a fault of the \
                     instrument, report it"
                ),
            }
        }
        MixDraws::Impossible { drawn } => format!(
            "{} sessions began that the mix never asks for; this is a fault of the instrument, report it",
            number(*drawn)
        ),
        MixDraws::TooRare { name, drawn, asked } => format!(
            "{name} was drawn {} times instead of {}, fewer than chance gives of this mix; this is a fault of the \
             instrument, report it",
            number(*drawn),
            number(*asked)
        ),
    }
}

/// `mean_s` is the mean as it was and as it was drawn, of all; `fault` what is furthest off.
pub(super) fn pauses(by_cycles: bool, mean_s: (f64, f64), fault: Option<&PauseFault>) -> String {
    let what = if by_cycles { "cycle times" } else { "think times" };
    let Some(fault) = fault else {
        let (mean, asked) = (units::show_seconds(mean_s.0), units::show_seconds(mean_s.1));
        return format!("{what} were {mean} on average, {asked} asked for");
    };
    let name = fault.session.as_deref().unwrap_or("all sessions");
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

/// `open`: users arrive.
pub(super) fn shares(worst: &SessionShare, points: f64, open: bool, ok: bool, asking: Asking) -> String {
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
    if open {
        return format!(
            "{figures} ({limit}): it was another mix; who arrives begins where all begin: let users live longer (--lifetime), \
             or let operations arrive (--arriving operations)"
        );
    }
    format!(
        "{figures} ({limit}): it was another mix; sessions that fail are missing from it, see the errors, or run longer ({})",
        asking.longer()
    )
}
