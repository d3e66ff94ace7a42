//! How many samples a run can have at best, before it begins: from who the users are, how long they pause and which operations
//! their sessions have. Answers are taken to need no time at all, so there are fewer where they do.

use model::QosTarget;
use model::catalogue::load::{Arriving, Lifetime, Load};
use model::catalogue::occurrence::{Occurrence, Occurrences};
use model::catalogue::population::{Population, Populations};
use model::catalogue::qos::Measure;

/// What a target can have of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedSamples {
    /// The target.
    pub target: QosTarget,
    /// Those that it needs.
    pub needed: u64,
    /// Those that come in the steady state, at most.
    pub expected: f64,
    /// Seconds of steady state that give it what it needs, at least; absent where no length does.
    pub enough_after_s: Option<f64>,
    /// It may take longer, because what a session sees decides how often the operation comes.
    pub at_least: bool,
}

impl ExpectedSamples {
    /// There can't be as many as it needs.
    pub fn is_short(&self) -> bool {
        self.expected < self.needed as f64
    }
}

/// Seconds of a steady state that give `needed` samples where `per_s` come in each; absent where none come.
pub fn enough_after_s(needed: u64, per_s: f64) -> Option<f64> {
    (per_s > 0.0).then(|| needed as f64 / per_s)
}

/// What each target can have in `steady_s` seconds; nothing of those of which that can't be told: of users who don't pause, of
/// operations that come as often as a session's page says, of a load by number of sessions.
pub fn expected_samples(
    targets: &[QosTarget],
    load: &Load,
    populations: &Populations,
    operations: &Occurrences,
    steady_s: f64,
) -> Vec<ExpectedSamples> {
    let Some(sessions) = sessions_per_s(load, populations).filter(|_| load.sessions.is_none()) else {
        return Vec::new();
    };
    let expected = |target: &QosTarget| {
        let counted =
            matches!(target.measure, Measure::Percentile(_) | Measure::Mean | Measure::Max | Measure::Errors);
        let per_s = counted.then(|| per_s(target.operation.as_deref(), &sessions, operations))?;
        let (rate, at_least) = match per_s {
            Occurrence::Times(rate) => (rate, false),
            Occurrence::AtMost(rate) => (rate, true),
            Occurrence::Unknown => return None,
        };
        let needed = target.samples_needed();
        Some(ExpectedSamples {
            target: target.clone(),
            needed,
            expected: rate * steady_s,
            enough_after_s: enough_after_s(needed, rate),
            at_least,
        })
    };
    targets.iter().filter_map(expected).collect()
}

/// How often an operation, or all together, come in a second.
fn per_s(wanted: Option<&str>, sessions: &[(&str, f64)], operations: &Occurrences) -> Occurrence {
    let of_session = |name: &str| {
        let Some(known) = operations.get(name) else { return Occurrence::Unknown };
        if known.has_others {
            return Occurrence::Unknown;
        }
        let all =
            known.operations.iter().filter(|(operation, _)| wanted.is_none_or(|wanted| wanted == *operation));
        let operations = all.fold(None, |sum: Option<Occurrence>, (_, times)| {
            Some(sum.map_or(*times, |sum| sum.and(*times)))
        });
        // A target may be of the sessions themselves.
        let none = if wanted == Some(name) { 1.0 } else { 0.0 };
        operations.unwrap_or(Occurrence::Times(none))
    };
    sessions.iter().fold(Occurrence::Times(0.0), |sum, (name, rate)| {
        sum.and(of_session(name).for_each(Occurrence::Times(*rate)))
    })
}

/// Sessions by name, with how many of them begin in a second at most; absent where nothing but the answers' times limits that.
fn sessions_per_s<'a>(load: &Load, populations: &'a Populations) -> Option<Vec<(&'a str, f64)>> {
    let mut sessions = Vec::new();
    for (population, users) in populations.iter().zip(populations.of_users(load.users)) {
        let shares = population.mix.shares();
        let cycle_s: f64 = shares
            .iter()
            .zip(&population.pauses)
            .map(|(share, pause)| share * pause.map_or(0.0, |pause| pause.mean()))
            .sum();
        let (in_all_per_s, lives_per_s) = rates(load, population, f64::from(users), cycle_s)?;
        let named = population.sessions.iter().map(String::as_str);
        sessions.extend(named.zip(shares.iter().map(|share| share * in_all_per_s)));
        let first = population.begins_with.map(|session| population.sessions[session].as_str());
        sessions.extend(first.map(|first| (first, lives_per_s)));
    }
    Some(sessions)
}

/// Sessions of the population's mix, and users whose life begins, in a second of the steady state.
fn rates(load: &Load, population: &Population, users: f64, cycle_s: f64) -> Option<(f64, f64)> {
    let begins_with = f64::from(u8::from(population.begins_with.is_some()));
    let lifetime = load.lifetime.as_ref();
    if let Some(open) = &load.arrivals {
        let arrivals_per_s = population.share_ratio * (open.from_per_s + open.to_per_s) / 2.0;
        return match (open.arriving, lifetime) {
            (Arriving::Operations, _) => Some((arrivals_per_s, 0.0)),
            (Arriving::Sessions, None) => Some((arrivals_per_s * (1.0 - begins_with), arrivals_per_s)),
            (Arriving::Sessions, Some(Lifetime::Sessions(drawn))) => {
                Some((arrivals_per_s * (drawn.mean() - begins_with).max(0.0), arrivals_per_s))
            }
            (Arriving::Sessions, Some(Lifetime::Seconds(drawn))) if cycle_s > 0.0 => {
                // The one that is under way at the end of a life is ended.
                Some((arrivals_per_s * (drawn.mean() / cycle_s + 1.0), arrivals_per_s))
            }
            (Arriving::Sessions, Some(_)) => None,
        };
    }
    if cycle_s <= 0.0 {
        return None;
    }
    let in_all_per_s = users / cycle_s;
    let lives_per_s = match lifetime {
        None => 0.0,
        Some(Lifetime::Sessions(drawn)) => in_all_per_s / drawn.mean().max(1.0),
        Some(Lifetime::Seconds(drawn)) => users / drawn.mean().max(cycle_s),
        Some(Lifetime::Operations(_)) if begins_with > 0.0 => return None,
        Some(Lifetime::Operations(_)) => 0.0,
    };
    Some(((in_all_per_s - lives_per_s * begins_with).max(0.0), lives_per_s))
}

#[cfg(test)]
mod tests;
