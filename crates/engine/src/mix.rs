//! Which session a user begins next, and a count of what was chosen.

use model::catalogue::mix::{Mix, Order};
use model::catalogue::population::{Population, Populations};

use crate::random::Stream;

/// A user that has begun no session yet.
pub(crate) const FRESH: u16 = u16::MAX;
/// A user that has begun the session with which its population begins, and none of the mix.
const BEGUN: u16 = u16::MAX - 1;

/// All populations ready to draw from.
#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    populations: Populations,
    /// One for each.
    choosers: Vec<Chooser>,
}

impl Crowd {
    pub(crate) fn new(populations: Populations) -> Crowd {
        let choosers = populations.iter().map(|population| Chooser::of(&population.mix)).collect();
        Crowd { populations, choosers }
    }

    /// The next session, by its number through all populations, of the user with that number over all threads, who stands at
    /// `state`.
    pub(crate) fn next(&self, user: u32, state: u16, stream: &mut Stream) -> Choice {
        let of = self.populations.of_user(user.into());
        let population = self.populations.get(of);
        let chosen = match population.begins_with.filter(|_| state == FRESH) {
            Some(session) => Choice { session, state: BEGUN, cell: None, begun_cell: None },
            None => self.choosers[of].next(state, stream),
        };
        chosen.of(population)
    }
}

/// A mix ready to draw from. A user's part of it is two bytes: where it stands.
#[derive(Debug, Clone)]
pub(crate) enum Chooser {
    /// Upper ends of the cumulative distribution.
    Weights(Vec<f64>),
    Matrix {
        first: u16,
        rows: Vec<Vec<f64>>,
    },
    Sequence(Vec<u16>),
}

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The session's number.
    pub(crate) session: usize,
    /// Where the user stands from now on.
    pub(crate) state: u16,
    /// The cell in which the choice counts ([`Mix::cells`]); absent where there was none.
    pub(crate) cell: Option<usize>,
    /// The cell in which the population's sessions are counted; absent where all users are alike.
    begun_cell: Option<usize>,
}

impl Choice {
    /// The cells that count it.
    pub(crate) fn cells(&self) -> impl Iterator<Item = usize> + use<> {
        self.cell.into_iter().chain(self.begun_cell)
    }

    /// The choice of a population among those of all.
    fn of(self, population: &Population) -> Choice {
        Choice {
            session: population.first_session + self.session,
            state: self.state,
            cell: self.cell.map(|cell| population.first_cell + cell),
            begun_cell: population.begun_cell(),
        }
    }
}

impl Chooser {
    pub(crate) fn of(mix: &Mix) -> Chooser {
        match &mix.order {
            Order::Weights(weights) => Chooser::Weights(ends(weights)),
            Order::Matrix { first, rows } => {
                Chooser::Matrix { first: *first as u16, rows: rows.iter().map(|row| ends(row)).collect() }
            }
            Order::Sequence(order) => {
                Chooser::Sequence(order.iter().map(|session| *session as u16).collect())
            }
        }
    }

    /// The next session of a user that stands at `state`.
    pub(crate) fn next(&self, state: u16, stream: &mut Stream) -> Choice {
        match self {
            Chooser::Weights(ends) => {
                let session = draw(ends, stream);
                Choice { session, state, cell: Some(session), begun_cell: None }
            }
            Chooser::Matrix { first, rows } => {
                let last = usize::from(state);
                let Some(row) = rows.get(last) else {
                    let first = usize::from(*first);
                    let cell = Some(rows.len() * rows.len() + first);
                    return Choice { session: first, state: first as u16, cell, begun_cell: None };
                };
                let session = draw(row, stream);
                let cell = Some(last * rows.len() + session);
                Choice { session, state: session as u16, cell, begun_cell: None }
            }
            Chooser::Sequence(order) => {
                let at = if state >= BEGUN { 0 } else { (usize::from(state) + 1) % order.len() };
                Choice { session: usize::from(order[at]), state: at as u16, cell: None, begun_cell: None }
            }
        }
    }
}

fn ends(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut ends: Vec<f64> = shares.iter().map(|share| (sum += share, sum).1).collect();
    // Rounding must not leave a gap below 1, nor give it to a session of probability 0.
    if let Some(last) = shares.iter().rposition(|share| *share > 0.0) {
        ends[last..].fill(1.0);
    }
    ends
}

/// Of equal ends the first is taken: the others have probability 0.
fn draw(ends: &[f64], stream: &mut Stream) -> usize {
    let u = stream.unit();
    ends.partition_point(|end| *end <= u).min(ends.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_probability_0_is_never_drawn() {
        let mix = Mix {
            names: vec!["a".into(), "b".into(), "c".into()],
            order: Order::Weights(vec![0.0, 1.0, 0.0]),
        };
        let chooser = Chooser::of(&mix);
        let mut stream = Stream::new(1, 1);
        assert!((0..10_000).all(|_| chooser.next(FRESH, &mut stream).session == 1));
    }

    #[test]
    fn each_transition_of_a_matrix_has_a_cell_and_so_has_each_beginning() {
        let rows = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        let mix = Mix { names: vec!["a".into(), "b".into()], order: Order::Matrix { first: 1, rows } };
        let (chooser, mut stream, mut state) = (Chooser::of(&mix), Stream::new(1, 1), FRESH);
        let cells: Vec<usize> = (0..4)
            .map(|_| {
                let choice = chooser.next(state, &mut stream);
                state = choice.state;
                choice.cell.expect("a matrix counts every choice")
            })
            .collect();
        assert_eq!(cells, [5, 2, 1, 2]);
        assert!(cells.iter().all(|cell| *cell < mix.cells()));
    }

    #[test]
    fn a_sequence_repeats() {
        let mix = Mix { names: vec!["a".into(), "b".into()], order: Order::Sequence(vec![0, 0, 1]) };
        let (chooser, mut stream, mut state) = (Chooser::of(&mix), Stream::new(1, 1), FRESH);
        let sessions: Vec<usize> = (0..7)
            .map(|_| {
                let choice = chooser.next(state, &mut stream);
                state = choice.state;
                choice.session
            })
            .collect();
        assert_eq!(sessions, [0, 0, 1, 0, 0, 1, 0]);
    }
}
