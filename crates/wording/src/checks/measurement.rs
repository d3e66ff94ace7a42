//! Whether the measurement was long enough, has samples enough, and balances.

use analysis::{BalanceOf, Little, LittleExcuse, SteadyEnd, limits};
use model::units::{self, percent};

use crate::asking::Asking;

pub(super) fn duration(steady_s: f64, planned_s: f64, end: SteadyEnd, asking: Asking) -> String {
    let planned = units::show_seconds(planned_s);
    let recorded = format!("{} of {planned} steady state", units::show_seconds(steady_s));
    let why = match end {
        SteadyEnd::Whole => return format!("{recorded} recorded"),
        SteadyEnd::UnderASecond if asking == Asking::Hit => {
            return format!(
                "it was over in {planned}, too soon for the instrument to judge itself by whole seconds: ask for more \
                 requests (-n), or for a time ({})",
                asking.longer()
            );
        }
        SteadyEnd::UnderASecond => {
            return format!(
                "it was over after {planned}: the instrument judges itself by whole seconds; ask for more"
            );
        }
        SteadyEnd::Unsettled { after_s } => {
            let after = units::show_seconds(after_s);
            return format!("no steady state within {after}: throughput or response times kept changing");
        }
        SteadyEnd::Interrupted => "the run was interrupted",
        SteadyEnd::Aborted => "the run was given up",
        SteadyEnd::Unfinished => "the run did not end: the tool died or is still at it",
        SteadyEnd::Gaps => "the recording has gaps",
    };
    format!("{why} after {recorded}: repeat it and let it end")
}

pub(super) fn viewer(cores: f64, ok: bool) -> String {
    let (used, limit) = (percent(cores), percent(limits::VIEWER_CORES));
    let page = format!("the laboratory's page took {used} of a CPU on average");
    if !ok {
        return format!(
            "{page}, more than {limit}: what was measured lacked it; close what is open of the page and repeat the run"
        );
    }
    if cores > limits::VIEWER_NOTICED_CORES {
        let usual = percent(limits::VIEWER_NOTICED_CORES);
        return format!("{page}, at most {limit} allowed, but more than {usual}: fewer open pages take less");
    }
    format!("{page}, at most {limit} allowed")
}

/// `excuse` is what the law stumbles over that another check or a target tells already.
pub(super) fn little(little: &Little, excuse: Option<LittleExcuse>, asking: Asking) -> String {
    let (of, worst) = little.worst();
    let by_count = format!(
        "{} users by time integral, {} by X·(R+Z)",
        units::significant(little.users_mean()),
        units::significant(little.users_by_little())
    );
    let ratio = |seconds: f64| percent(seconds / worst.integral_s.max(f64::MIN_POSITIVE));
    if worst.holds() {
        let allowed = if worst.integral_s > 0.0 { ratio(worst.allowed_s()) } else { "0 %".to_string() };
        return format!("Little's law holds: {by_count}; largest difference within {allowed}");
    }
    if excuse == Some(LittleExcuse::TierEnded) {
        return "Little's law can't be judged: a tier ended, and what was under way then was never answered"
            .to_string();
    }
    if excuse == Some(LittleExcuse::Waiting) {
        let open = ratio(worst.difference_s().abs());
        return format!(
            "Little's law holds with the users who were still waiting when the steady state ended ({open} of all user \
             time): the instrument lost nothing, the stack did not answer"
        );
    }
    let what = match of {
        BalanceOf::Sessions => "sessions",
        BalanceOf::Thinks => "thinks",
        BalanceOf::Users => "users",
    };
    if worst.ended == 0 {
        return format!(
            "none of the {what} ended within the steady state; lengthen it ({})",
            asking.longer()
        );
    }
    let fault = if worst.integral_s <= 0.0 {
        "ended without having been under way".to_string()
    } else {
        format!("differ by {}, more than {}", ratio(worst.difference_s().abs()), ratio(worst.allowed_s()))
    };
    let cause = match (worst.is_explained_by_edges(), worst.difference_s() < 0.0) {
        (true, true) => format!(
            "those under way at the end of the steady state explain it: the stack stood still then, or users hang; \
             lengthen the steady state ({})",
            asking.longer()
        ),
        (true, false) => format!(
            "those under way at the start of the steady state explain it: the ramp-up had not settled{}",
            asking.longer_ramp_up("it")
        ),
        (false, true) => "completed work was lost; this is a fault of the instrument, report it".to_string(),
        (false, false) => "work was counted twice; this is a fault of the instrument, report it".to_string(),
    };
    format!("Little's law is broken: counted and integrated {what} {fault} ({by_count}); {cause}")
}
