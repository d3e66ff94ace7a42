//! What users of each kind did.

use model::catalogue::load::Load;
use model::catalogue::population::{Population, Populations};
use model::record::PopulationResult;

use crate::steady::Steady;

/// Each population over the steady state; none where all users are alike.
pub fn populations(populations: &Populations, load: &Load, steady: &Steady) -> Vec<PopulationResult> {
    let users = populations.of_users(load.users);
    let result = |(population, users): (&Population, u32)| {
        let sessions = steady.whole().choices.get(population.begun_cell()?).copied().unwrap_or_default();
        Some(PopulationResult {
            name: population.name.clone(),
            share_ratio: population.share_ratio,
            users: load.arrivals.is_none().then_some(users),
            sessions,
            sessions_per_s: steady.per_second(sessions as f64),
        })
    };
    populations.iter().zip(users).filter_map(result).collect()
}
