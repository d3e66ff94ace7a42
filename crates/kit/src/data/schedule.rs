//! The order in which chunks are made: all parts advance together, so that all tables load at the same time.

use super::declaration::Declaration;

/// A range of things of one part, made in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Index of the part.
    pub(crate) part: usize,
    /// Which chunk of its part, from 0.
    pub(crate) number: u64,
    /// First thing, from 1.
    pub(crate) first: u64,
    /// Last thing, included.
    pub(crate) last: u64,
}

impl Chunk {
    /// The number of the chunk's random stream: a part that grows or is added leaves the others' rows as they are.
    pub(crate) fn stream(&self) -> u64 {
        ((self.part as u64) << 48) | self.number
    }
}

/// All chunks, by how much of its part each completes.
pub(crate) fn chunks(declaration: &Declaration) -> Vec<Chunk> {
    let mut list = Vec::new();
    for (index, part) in declaration.parts.iter().enumerate() {
        let total = part.count.div_ceil(part.chunk);
        for number in 0..total {
            let first = number * part.chunk + 1;
            let chunk = Chunk { part: index, number, first, last: (first + part.chunk - 1).min(part.count) };
            list.push(((number + 1) as f64 / total as f64, chunk));
        }
    }
    list.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    list.into_iter().map(|(_, chunk)| chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::super::declaration::Part;
    use super::*;

    fn declaration(parts: &[(u64, u64)]) -> Declaration {
        let part = |(count, chunk): &(u64, u64)| Part {
            name: "p".into(),
            count: *count,
            chunk: *chunk,
            rows: Vec::new(),
        };
        Declaration { tables: Vec::new(), parts: parts.iter().map(part).collect() }
    }

    #[test]
    fn every_thing_is_in_exactly_one_chunk() {
        let list = chunks(&declaration(&[(1001, 100), (7, 10)]));
        for (part, count) in [(0, 1001), (1, 7)] {
            let mut next = 1;
            for chunk in list.iter().filter(|chunk| chunk.part == part) {
                assert_eq!(chunk.first, next, "{chunk:?}");
                next = chunk.last + 1;
            }
            assert_eq!(next, count + 1);
        }
    }

    #[test]
    fn all_parts_advance_together() {
        let order: Vec<usize> =
            chunks(&declaration(&[(40, 10), (20, 10)])).iter().map(|chunk| chunk.part).collect();
        assert_eq!(order, [0, 0, 1, 0, 0, 1]);
    }
}
