//! Whether the generator made the load that was asked for: arrivals, draws from the mix, pauses. Each of them is
//! drawn by the generator itself, so a difference is a fault of the instrument, or of a stack so slow that users were
//! short.

mod chain;
mod pauses;
mod rare;
mod shares;

use model::catalogue::kit::Tolerance;
use model::catalogue::load::{Load, Pattern};
use model::catalogue::population::{Population, Populations};
use model::record::{Check, FleetResult, OperationResult};

use crate::finding::{ArrivalsFault, CheckOutcome, Finding, MixDraws};
use crate::limits;
use crate::steady::Steady;
use crate::validity::fleet;
use rare::Rare;

/// What was asked for, beside the number of users.
#[derive(Debug, Clone, Copy)]
pub struct AskedLoad<'a> {
    /// The load.
    pub load: &'a Load,
    /// Who the users are: which session comes next, and the pause after it.
    pub populations: &'a Populations,
    /// How far the load may be from what was asked for.
    pub tolerance: Tolerance,
    /// The seconds that count.
    pub steady: &'a Steady,
}

/// The checks of the demand: those that say something about this load. `sessions` are the rows of those that ended in
/// the steady state.
pub(crate) fn checks(
    demand: &AskedLoad<'_>,
    fleet: Option<&FleetResult>,
    sessions: &[&OperationResult],
) -> Vec<CheckOutcome> {
    let mut checks = Vec::new();
    if let Some(open) = &demand.load.arrivals {
        checks.push(arrivals(demand, fleet, open.pattern));
    }
    checks.push(mix(demand));
    checks.extend(demand.tolerance.mix_points.and_then(|points| shares::judged(demand, points, sessions)));
    checks.extend(pauses::judged(demand));
    checks
}

/// Arrivals that began against those intended, and whether any had to wait for a user.
fn arrivals(demand: &AskedLoad<'_>, fleet: Option<&FleetResult>, pattern: Pattern) -> CheckOutcome {
    let whole = demand.steady.whole();
    let profile = demand.load.profile();
    // A load by number of arrivals has no more than these, whenever the last of them came.
    let most = demand.load.sessions.map_or(f64::INFINITY, |sessions| sessions as f64);
    let of_all = |from_s, to_s| profile.area(to_s).min(most) - profile.area(from_s).min(most);
    let left = |span_s| fleet::left(fleet, span_s, &of_all);
    let intended = left(demand.steady.span_s());
    let allowed = match pattern {
        Pattern::Poisson => limits::NORMAL_QUANTILE * intended.sqrt(),
        Pattern::Constant => 1.0 + limits::ARRIVALS_RATIO * intended,
    };
    let (began, waited) = (whole.arrivals as f64, whole.arrivals_waited);
    let in_number = (began - intended).abs() <= allowed;
    let random = pattern == Pattern::Poisson && demand.load.sessions.is_none();
    let spread = random.then(|| dispersion(demand.steady, &left)).flatten();
    let as_random = spread.is_none_or(|(chi2, freedom)| {
        let (low, high) =
            (chi_square(freedom, -limits::NORMAL_QUANTILE), chi_square(freedom, limits::NORMAL_QUANTILE));
        (low..=high).contains(&chi2)
    });
    let fault = match (waited, in_number, as_random) {
        (1.., _, _) => Some(ArrivalsFault::NoFreeUser { waited, users: demand.load.users }),
        (0, false, _) => Some(ArrivalsFault::OtherNumber),
        (0, true, false) => Some(ArrivalsFault::NotRandom),
        (0, true, true) => None,
    };
    let finding = Finding::Arrivals { began: whole.arrivals, intended, pattern, fault };
    CheckOutcome::new(Check::Arrivals, fault.is_none(), Some((began, intended)), finding)
}

/// Fisher's index of dispersion: of Poisson counts by the second, the sum of (count − mean)²/mean is chi-square
/// distributed (Cox and Lewis, *The Statistical Analysis of Series of Events*, 1966, section 6.3). `None` where the
/// counts are too small for that.
fn dispersion(steady: &Steady, intended: &dyn Fn((f64, f64)) -> f64) -> Option<(f64, usize)> {
    let mut chi2 = 0.0;
    for second in steady.seconds() {
        let begin_s = f64::from(second.number);
        let expected = intended((begin_s, begin_s + 1.0));
        if expected < limits::MIN_EXPECTED {
            return None;
        }
        chi2 += (f64::from(second.arrivals) - expected).powi(2) / expected;
    }
    let freedom = steady.seconds().len();
    (freedom > 0).then_some((chi2, freedom))
}

/// Draws from the mix against its probabilities, by Pearson's chi-square; of a matrix row by row, summed (Anderson and
/// Goodman, "Statistical inference about Markov chains", Annals of Mathematical Statistics 28(1), 1957). And
/// whether one session was drawn too rarely, which the sum hardly shows.
fn mix(demand: &AskedLoad<'_>) -> CheckOutcome {
    let counts = &demand.steady.whole().choices;
    let count = |cell: usize| counts.get(cell).copied().unwrap_or(0) as f64;
    let (mut chi2, mut freedom, mut impossible) = (0.0, 0, 0.0);
    for (first, shares) in demand.populations.iter().flat_map(Population::draws) {
        let total: f64 = (0..shares.len()).map(|at| count(first + at)).sum();
        let (mut rare_expected, mut rare_seen, mut classes) = (0.0, 0.0, 0);
        for (at, share) in shares.iter().enumerate() {
            let (seen, expected) = (count(first + at), total * share);
            if *share == 0.0 {
                impossible += seen;
            } else if expected < limits::MIN_EXPECTED {
                rare_expected += expected;
                rare_seen += seen;
            } else {
                classes += 1;
                chi2 += (seen - expected).powi(2) / expected;
            }
        }
        if rare_expected >= limits::MIN_EXPECTED {
            classes += 1;
            chi2 += (rare_seen - rare_expected).powi(2) / rare_expected;
        }
        freedom += usize::saturating_sub(classes, 1);
    }
    let limit = chi_square(freedom, limits::NORMAL_QUANTILE);
    // A row may have one class that is not rare, of which the chi-square is no question of chance alone.
    let ok = impossible == 0.0 && (freedom == 0 || chi2 <= limit);
    if let Some(rare) = too_rare(demand.populations, counts).filter(|_| impossible == 0.0) {
        let (name, drawn, asked) = (rare.name.to_string(), rare.drawn, rare.asked);
        let finding = Finding::Mix(MixDraws::TooRare { name, drawn, asked });
        return CheckOutcome::new(Check::Mix, false, Some((drawn, asked)), finding);
    }
    let draws = match (freedom, demand.populations.sessions().count()) {
        _ if impossible > 0.0 => MixDraws::Impossible { drawn: impossible },
        (0, 1) => MixDraws::OneSession,
        (0, _) => MixDraws::NotJudged,
        (freedom, _) => MixDraws::ChiSquare { chi2, freedom, limit },
    };
    CheckOutcome::new(Check::Mix, ok, Some((chi2, limit)), Finding::Mix(draws))
}

/// The session that most evidence is against, of any population.
fn too_rare<'a>(populations: &'a Populations, counts: &[u64]) -> Option<Rare<'a>> {
    // The chi-square has the other half of the false alarms.
    let false_alarm = limits::FALSE_ALARM / 2.0 / populations.iter().count() as f64;
    let found = populations.iter().filter_map(|population| {
        let counts = counts.get(population.first_cell..).unwrap_or_default();
        rare::too_rare(&population.mix, counts, false_alarm)
    });
    found.max_by(|one, other| one.evidence.total_cmp(&other.evidence))
}

/// The chi-square quantile at the normal quantile `z` (Wilson and Hilferty, "The distribution of chi-square",
/// Proceedings of the National Academy of Sciences 17(12), 1931).
pub(crate) fn chi_square(freedom: usize, z: f64) -> f64 {
    let n = freedom as f64;
    if freedom == 0 {
        return 0.0;
    }
    n * (1.0 - 2.0 / (9.0 * n) + z * (2.0 / (9.0 * n)).sqrt()).max(0.0).powi(3)
}

#[cfg(test)]
mod tests;
