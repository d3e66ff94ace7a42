//! Each message once and in its agent's order, out of a stream that may tell it twice, in pieces, or from the beginning.

use std::collections::BTreeMap;

use super::address::{Kind, Part, Voice};

/// More parts are no message: half a gigabyte.
const MAX_PARTS: u32 = 1024;

/// A piece of a message as it comes.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) voice: Voice,
    pub(super) kind: Kind,
    /// Of the message, counted by its agent from 0.
    pub(super) number: u64,
    pub(super) part: Part,
    pub(super) bytes: Vec<u8>,
}

/// A message of which all pieces are there, and all messages before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) kind: Kind,
    pub(super) number: u64,
    pub(super) bytes: Vec<u8>,
}

/// What is next of every agent.
#[derive(Debug, Default)]
pub(super) struct Order {
    voices: BTreeMap<Voice, Next>,
}

#[derive(Debug, Default)]
struct Next {
    message: u64,
    /// Those of its parts that have come, in their order.
    parts: Vec<Vec<u8>>,
    /// Pieces that came before those that they follow.
    ahead: BTreeMap<(u64, u32), Piece>,
}

impl Order {
    /// All messages of `voice` below that number came in an earlier life.
    pub(super) fn had(&mut self, voice: Voice, below: u64) {
        self.voices.insert(voice, Next { message: below, ..Next::default() });
    }

    /// The messages that are whole with this piece and follow what came. A piece that came before leads to
    /// none, as does one that others have to come before: after a broker lost what it had acknowledged, an agent's messages may be
    /// in the stream in another order than they were told.
    pub(super) fn take(&mut self, piece: Piece) -> Vec<Whole> {
        let next = self.voices.entry(piece.voice.clone()).or_default();
        let Part { number: part, of } = piece.part;
        if of == 0 || part >= of || of > MAX_PARTS || next.has((piece.number, part)) {
            return Vec::new();
        }
        next.ahead.insert((piece.number, part), piece);
        next.follow()
    }
}

impl Next {
    fn expected(&self) -> (u64, u32) {
        (self.message, self.parts.len() as u32)
    }

    fn has(&self, piece: (u64, u32)) -> bool {
        piece < self.expected() || self.ahead.contains_key(&piece)
    }

    /// Takes what follows, as far as it is there.
    fn follow(&mut self) -> Vec<Whole> {
        let mut whole = Vec::new();
        while let Some(Piece { kind, number, part, bytes, .. }) = self.ahead.remove(&self.expected()) {
            self.parts.push(bytes);
            if self.parts.len() == part.of as usize {
                let bytes = std::mem::take(&mut self.parts).concat();
                whole.push(Whole { kind, number, bytes });
                self.message += 1;
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::address::Name;
    use super::*;

    fn voice(agent: &str) -> Voice {
        let name = |text| Name::of(text).expect("a name");
        Voice { fleet: name("lab"), run: name("r"), agent: name(agent), incarnation: 1 }
    }

    fn piece(agent: &str, number: u64, part: u32, of: u32) -> Piece {
        let bytes = vec![number as u8, part as u8];
        Piece { voice: voice(agent), kind: kind(number), number, part: Part { number: part, of }, bytes }
    }

    /// Of messages of every other number another one.
    fn kind(number: u64) -> Kind {
        if number.is_multiple_of(2) { Kind::Second } else { Kind::Event }
    }

    fn whole(number: u64, bytes: &[u8]) -> Whole {
        Whole { kind: kind(number), number, bytes: bytes.to_vec() }
    }

    #[test]
    fn pieces_are_joined_and_repeats_left_out() {
        let mut order = Order::default();
        assert_eq!(order.take(piece("a", 0, 0, 1)), [whole(0, &[0, 0])]);
        assert_eq!(order.take(piece("a", 1, 0, 2)), []);
        assert_eq!(order.take(piece("a", 0, 0, 1)), [], "it came before");
        assert_eq!(order.take(piece("a", 1, 0, 2)), [], "so did this part");
        assert_eq!(order.take(piece("b", 0, 0, 1)), [whole(0, &[0, 0])], "of another agent");
        assert_eq!(order.take(piece("a", 1, 1, 2)), [whole(1, &[1, 0, 1, 1])]);
        assert_eq!(order.take(piece("a", 2, 0, 0)), [], "a message of no parts is none");
    }

    #[test]
    fn what_comes_too_early_waits_for_what_it_follows() {
        let mut order = Order::default();
        assert_eq!(order.take(piece("a", 2, 0, 1)), []);
        assert_eq!(order.take(piece("a", 1, 1, 2)), []);
        assert_eq!(order.take(piece("a", 0, 0, 1)), [whole(0, &[0, 0])]);
        assert_eq!(order.take(piece("a", 1, 0, 2)), [whole(1, &[1, 0, 1, 1]), whole(2, &[2, 0])]);
    }

    #[test]
    fn what_came_in_an_earlier_life_is_left_out() {
        let mut order = Order::default();
        order.had(voice("a"), 5);
        assert_eq!(order.take(piece("a", 4, 0, 1)), []);
        assert_eq!(order.take(piece("a", 5, 0, 1)), [whole(5, &[5, 0])]);
    }

    proptest! {
        /// Pieces of the stream in any order and number, and then all of them: all messages come once, in their order.
        #[test]
        fn each_message_comes_once_in_whichever_order_its_pieces_do(
            parts in prop::collection::vec(1u32..4, 1..12),
            before in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let pieces: Vec<(u64, u32, u32)> = parts
                .iter()
                .enumerate()
                .flat_map(|(number, of)| (0..*of).map(move |part| (number as u64, part, *of)))
                .collect();
            let mut order = Order::default();
            let mut came = Vec::new();
            for (number, part, of) in before.iter().map(|index| index.get(&pieces)).chain(&pieces) {
                came.extend(order.take(piece("a", *number, *part, *of)));
            }
            let numbers: Vec<u64> = came.iter().map(|one| one.number).collect();
            let all: Vec<u64> = (0..parts.len() as u64).collect();
            prop_assert_eq!(numbers, all);
            for (one, of) in came.iter().zip(&parts) {
                let joined: Vec<u8> = (0..*of).flat_map(|part| [one.number as u8, part as u8]).collect();
                prop_assert_eq!(one, &whole(one.number, &joined));
            }
        }
    }
}
