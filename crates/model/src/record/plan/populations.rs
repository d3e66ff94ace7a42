//! What a kind of load makes of users who are not alike, or of sessions that depend on each other.

use crate::KitManifest;
use crate::catalogue::load::{Arriving, Load};
use crate::catalogue::mix::Order;
use crate::catalogue::population::Population;
use crate::problem::Problem;

/// Arrivals that would make another workload of the kit's.
pub(super) fn misled_by_arrivals(kit: &KitManifest, load: &Load) -> Option<Problem> {
    match load.arrivals?.arriving {
        Arriving::Operations => not_by_whoever_is_free(kit),
        Arriving::Sessions if load.lifetime.is_some() => None,
        Arriving::Sessions => only_the_first(kit),
    }
}

/// An arriving operation is served by whichever user of the pool is free, so that the shares would be those of what they are quick at.
fn not_by_whoever_is_free(kit: &KitManifest) -> Option<Problem> {
    if kit.population.is_empty() {
        return None;
    }
    let what = format!(
        "operations arrive for whichever user is free, and those of kit {} are of several populations",
        kit.name
    );
    let why =
        "users whose sessions are short would be free more often, and have a larger share than they should";
    let remedy = "--arriving sessions lets users arrive, each population with its share";
    Some(Problem::recipe(what).key("arriving").why(why).remedy(remedy))
}

/// A user who arrives stays for one session, if nothing else is said. Where each session depends on the last one all users
/// would begin, and nobody go on.
fn only_the_first(kit: &KitManifest) -> Option<Problem> {
    // What is wrong with them is told elsewhere.
    let populations = kit.populations().ok()?;
    let (of, first) =
        populations.iter().find_map(|population| Some((population, first_of_several(population)?)))?;
    let whose =
        if of.name.is_empty() { format!("in kit {}", kit.name) } else { format!("of the {}", of.name) };
    let what = format!(
        "each user who arrives leaves after one session, and {whose} that is always {first}: nothing else would be asked for"
    );
    let why = "each session of its users depends on the one before, so the load would be another workload";
    let remedy = match of.name.is_empty() {
        true => {
            "--lifetime '100 sessions' lets users go on (the rate is that of users, then), or --arriving operations \
                 makes it the rate of their sessions"
        }
        false => "--lifetime '100 sessions' lets users go on (the rate is that of users, then)",
    };
    Some(Problem::recipe(what).key("rate").why(why).remedy(remedy))
}

/// The session that every user of it begins with and others follow; absent where any may be the first.
fn first_of_several(population: &Population) -> Option<&str> {
    let name = |session: usize| population.sessions[session].as_str();
    match (population.begins_with, &population.mix.order) {
        (Some(first), _) => Some(name(first)),
        (None, Order::Matrix { first, .. }) => Some(name(*first)),
        (None, Order::Sequence(order)) if order.len() > 1 => order.first().map(|first| name(*first)),
        (None, Order::Sequence(_) | Order::Weights(_)) => None,
    }
}
