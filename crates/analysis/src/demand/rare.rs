//! Whether a session was drawn too rarely, however rare it is meant to be.
//!
//! A chi-square over all rows hardly moves when one session in a thousand never comes, and what it lacks is within any
//! tolerance in points. So each session has bets of its own against the generator: that it passes over a part of the
//! draws that give this session, and draws again. Where p is the session's probability and κ the share of its draws
//! that is kept, a draw multiplies the stake by κ/(1 − p(1 − κ)) if it gives the session, and by 1/(1 − p(1 − κ)) if
//! not: by 1 on average if the generator is right, from wherever the user stands. So the wealth is a martingale,
//! whatever the walk, its length and the number of users, and the probability that it ever reaches 1/α is at most α
//! (Ville 1939). How draws of a matrix depend on those before them needs no allowance: p is the row's from which was
//! drawn.

use model::Mix;

/// What is bet on as the share κ of a session's draws that is kept: as good as none, to three in four.
const KEPT: [f64; 4] = [0.01, 0.25, 0.5, 0.75];

/// How often a session was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rare<'a> {
    /// The session.
    pub(super) name: &'a str,
    /// So often it was drawn.
    pub(super) drawn: f64,
    /// The number of draws that were to give it, by the rows from which they were made.
    pub(super) asked: f64,
    /// Natural logarithm of the wealth won by the best of the bets that it comes too rarely.
    pub(super) evidence: f64,
}

/// The session that most evidence is against, where that is more than chance gives with a probability of `false_alarm`.
/// `counts` are the draws by [`Mix::cells`].
pub(super) fn too_rare<'a>(mix: &'a Mix, counts: &[u64], false_alarm: f64) -> Option<Rare<'a>> {
    let limit = limit(mix, false_alarm);
    rarest(mix, counts).filter(|rare| rare.evidence > limit)
}

/// The evidence that all bets on all sessions together exceed by chance with that probability at most.
fn limit(mix: &Mix, probability: f64) -> f64 {
    ((mix.names.len() * KEPT.len()) as f64 / probability).ln()
}

fn rarest<'a>(mix: &'a Mix, counts: &[u64]) -> Option<Rare<'a>> {
    let all = (0..mix.names.len()).map(|session| tally(mix, counts, session));
    all.max_by(|a, b| a.evidence.total_cmp(&b.evidence))
}

fn tally<'a>(mix: &'a Mix, counts: &[u64], session: usize) -> Rare<'a> {
    let count = |cell: usize| counts.get(cell).copied().unwrap_or(0) as f64;
    let (mut drawn, mut asked, mut evidence) = (0.0, 0.0, [0.0; KEPT.len()]);
    for (first, shares) in mix.draws() {
        let total: f64 = (0..shares.len()).map(|at| count(first + at)).sum();
        let (came, share) = (count(first + session), shares[session]);
        drawn += came;
        asked += total * share;
        for (sum, kept) in evidence.iter_mut().zip(KEPT) {
            *sum += gain(came, total, share, kept);
        }
    }
    let evidence = evidence.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Rare { name: &mix.names[session], drawn, asked, evidence }
}

/// Natural logarithm of what the bet on `kept` makes of a stake in `total` draws, of which `came` gave a session of
/// probability `share`.
fn gain(came: f64, total: f64, share: f64, kept: f64) -> f64 {
    came * kept.ln() - total * (share * (kept - 1.0)).ln_1p()
}

#[cfg(test)]
mod tests;
