//! Whether users paused as long as they were asked to: by session, because sessions may differ in it.
//!
//! Two questions. Were pauses *drawn* as declared? The mean of those drawn in the window against the distribution's;
//! they are counted when they begin, so that a window that is short beside them favours none. And were they *kept*? What
//! became of those that ended in the window against what had been drawn for the same ones: the generator's lateness,
//! and of cycles the sessions that outlasted theirs.

use model::Distribution;
use model::record::Check;
use model::record::interval::Pauses;

use super::AskedLoad;
use crate::finding::{CheckOutcome, Finding, PauseFault};
use crate::limits;

/// What is wrong with the pauses after sessions of one name.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fault {
    /// The mean as it was, in seconds.
    seen_s: f64,
    /// The mean that was asked for.
    asked_s: f64,
    /// They were drawn right, and not kept.
    drawn_right: bool,
    /// By so much of what is allowed.
    excess: f64,
}

/// Thinks and cycles, whichever populations have; neither where no session has a pause, or none was seen.
pub(super) fn judged(demand: &AskedLoad<'_>) -> Vec<CheckOutcome> {
    [false, true].into_iter().filter_map(|by_cycles| kind(demand, by_cycles)).collect()
}

fn kind(demand: &AskedLoad<'_>, by_cycles: bool) -> Option<CheckOutcome> {
    let ratio = demand.tolerance.pause_ratio.unwrap_or(limits::PAUSE_RATIO);
    let seen = &demand.steady.whole().pauses;
    let (mut worst, mut all) = (None, Pauses::default());
    let mut intended_s = 0.0;
    let own = demand.populations.iter().filter(|population| population.by_cycles == by_cycles);
    let declared = own.flat_map(|population| {
        let seen = seen.iter().skip(population.first_session);
        population.sessions.iter().zip(&population.pauses).zip(seen)
    });
    for ((name, distribution), pauses) in declared {
        let Some(distribution) = distribution.filter(|_| pauses.drawn + pauses.ended > 0) else { continue };
        all.merge(pauses);
        intended_s += pauses.drawn as f64 * distribution.mean();
        let faults = [
            drawn(pauses, &distribution, ratio),
            not_kept(pauses, distribution.mean(), ratio, limits::PAUSES_JUDGED),
        ];
        for fault in faults.into_iter().flatten() {
            if worst.is_none_or(|(_, worst): (_, Fault)| worst.excess < fault.excess) {
                worst = Some((Some(name), fault));
            }
        }
    }
    if all.drawn + all.ended == 0 {
        return None;
    }
    let together = mean(intended_s, all.drawn)
        .and_then(|declared_s| not_kept(&all, declared_s, ratio, limits::PAUSES_JUDGED));
    worst = worst.or(together.map(|fault| (None, fault)));
    let mean_s = mean(all.took_sum_s, all.ended).or(mean(all.drawn_sum_s, all.drawn)).unwrap_or_default();
    let asked_s = mean(all.asked_sum_s, all.ended).or(mean(intended_s, all.drawn)).unwrap_or_default();
    let which = if by_cycles { Check::Cycle } else { Check::Think };
    let figures = worst.map_or((mean_s, asked_s), |(_, fault)| (fault.seen_s, fault.asked_s));
    let fault = worst.map(|(session, Fault { seen_s, asked_s, drawn_right, .. })| PauseFault {
        session: session.cloned(),
        seen_s,
        asked_s,
        drawn_right,
    });
    let finding = Finding::Pauses { by_cycles, mean_s, asked_s, fault };
    Some(CheckOutcome::new(which, worst.is_none(), Some(figures), finding))
}

fn mean(sum_s: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_s / count as f64)
}

/// The mean of what was drawn may be off by the ratio or by chance, whichever is more. Chance by Bernstein's
/// inequality, which holds for any number of draws of a distribution that has bounds (Boucheron, Lugosi and Massart,
/// *Concentration Inequalities*, 2013, corollary 2.11): |mean - μ| exceeds t with probability of at most
/// 2·exp(-n·t²/(2σ² + 2·M·t/3)), M being the furthest that a draw can be from μ.
fn drawn(pauses: &Pauses, distribution: &Distribution, ratio: f64) -> Option<Fault> {
    let seen_s = mean(pauses.drawn_sum_s, pauses.drawn)?;
    let (asked_s, n) = (distribution.mean(), pauses.drawn as f64);
    let (sd, furthest) = distribution.spread();
    let exponent = (2.0 / limits::FALSE_ALARM).ln();
    let third = furthest * exponent / 3.0;
    let chance = (third + (third * third + 2.0 * n * sd * sd * exponent).sqrt()) / n;
    // Times are recorded to seven digits.
    let allowed = (ratio * asked_s).max(chance) + 1e-6 * asked_s;
    let off = (seen_s - asked_s).abs();
    (off > allowed).then_some(Fault { seen_s, asked_s, drawn_right: false, excess: off / allowed })
}

/// What became of pauses against what had been drawn for the same ones; the generator's own lateness has its limit.
/// Few pauses may have met the one slow answer: those are judged together with the others, or not at all.
fn not_kept(pauses: &Pauses, declared_s: f64, ratio: f64, least: u64) -> Option<Fault> {
    if pauses.ended < least {
        return None;
    }
    let (seen_s, asked_s) = (mean(pauses.took_sum_s, pauses.ended)?, mean(pauses.asked_sum_s, pauses.ended)?);
    let allowed = ratio * declared_s + limits::SEND_LAG_P99_S;
    let off = seen_s - asked_s;
    (off > allowed).then_some(Fault { seen_s, asked_s, drawn_right: true, excess: off / allowed })
}
