//! Whether the sessions that ended had the shares that the mix asks for, within points.

use model::catalogue::mix::Order;
use model::catalogue::population::{Population, Populations};
use model::record::{Check, OperationResult};

use super::AskedLoad;
use super::chain::{self, Share};
use crate::distribution::normal_quantile;
use crate::finding::{CheckOutcome, Finding, SessionShare};
use crate::limits;

/// Each completed session's share against that of the long run, of those of its population. It may be off by the kit's points. In
/// a short run chance alone does more: then by as many standard errors of the chain as chance exceeds, for any session, in one run
/// of 10,000, and by what the beginning of each user's walk leaves. Absent where nothing completed, or the mix has no long run; a
/// population is passed over whose sessions others have too, because nobody knows whose they were.
pub(super) fn judged(
    demand: &AskedLoad<'_>,
    points: f64,
    sessions: &[&OperationResult],
) -> Option<CheckOutcome> {
    let all = demand.populations.sessions().count();
    let quantile = normal_quantile(1.0 - limits::FALSE_ALARM / (2.0 * all as f64));
    let completed =
        |name: &String| sessions.iter().find(|row| row.name == *name).map_or(0.0, |row| row.completed as f64);
    let own = demand.populations.iter().filter(|population| has_its_own(demand.populations, population));
    let shares = own.filter_map(|population| {
        let completed: Vec<f64> = population.mix.names.iter().map(&completed).collect();
        of_population(population, &completed, walks(demand, population), (points, quantile))
    });
    let worst = shares.flatten().max_by(|a, b| a.excess().total_cmp(&b.excess()))?;
    let ok = worst.excess() <= 1.0;
    let figures = Some((worst.ratio, worst.expected_ratio));
    let finding = Finding::MixShares { worst, points, open: demand.load.arrivals.is_some() };
    Some(CheckOutcome::new(Check::MixShares, ok, figures, finding))
}

/// No other population has a session of the same name.
fn has_its_own(populations: &Populations, population: &Population) -> bool {
    let others = populations.iter().filter(|other| other.name != population.name);
    let mut theirs = others.flat_map(|other| &other.sessions);
    !theirs.any(|session| population.sessions.contains(session))
}

/// `completed` by the sessions of its mix, in a number of walks.
fn of_population(
    population: &Population,
    completed: &[f64],
    walks: f64,
    (points, quantile): (f64, f64),
) -> Option<Vec<SessionShare>> {
    let names = &population.mix.names;
    let total: f64 = completed.iter().sum();
    let shares = long_run(&population.mix.order, names.len())?;
    if total == 0.0 {
        return None;
    }
    // Counts of what is rare are skewed: the next term of Cornish and Fisher's expansion, of a Poisson count.
    let skew = quantile * quantile / 6.0;
    // Who begins with a session that the mix has too does so once more than the mix asks for.
    let once_more = |at: usize| f64::from(u8::from(population.begins_with == Some(at)));
    let share = |(at, ((name, share), completed)): (usize, ((&String, &Share), &f64))| {
        let chance = quantile * (share.variance * total).sqrt() + skew;
        let beginning = walks * (share.beginning + once_more(at));
        let allowed_ratio = (points / 100.0).max((chance + beginning) / total);
        let (ratio, expected_ratio) = (completed / total, share.expected);
        SessionShare { name: name.clone(), ratio, expected_ratio, allowed_ratio }
    };
    Some(names.iter().zip(&shares).zip(completed).enumerate().map(share).collect())
}

/// How many walks the window's edges cut, each of which may be off by what its beginning leaves. In the open model these are
/// the users who are there at once, not the places that there are for them. That each of them begins anew is no chance: users
/// who live too briefly for the mix make another one, however long the run.
/// Of users who are of several kinds there are no more than all of the population's that may be there.
fn walks(demand: &AskedLoad<'_>, population: &Population) -> f64 {
    if demand.load.arrivals.is_none() {
        return (f64::from(demand.load.users) * population.share_ratio).ceil();
    }
    let whole = demand.steady.whole();
    demand.steady.per_second(whole.busy_user_s + whole.thinking_user_s)
}

fn long_run(order: &Order, sessions: usize) -> Option<Vec<Share>> {
    match order {
        Order::Weights(weights) => {
            let share = |p: &f64| Share { expected: *p, variance: p * (1.0 - p), beginning: 0.0 };
            Some(weights.iter().map(share).collect())
        }
        Order::Matrix { rows, .. } => chain::shares(rows),
        Order::Sequence(order) => {
            let length = order.len() as f64;
            let times = |session: usize| order.iter().filter(|one| **one == session).count() as f64;
            // Of one user's part of the last round at most all, and at least none, are of one name.
            let share = |session: usize| Share {
                expected: times(session) / length,
                variance: 0.0,
                beginning: times(session),
            };
            Some((0..sessions).map(share).collect())
        }
    }
}
