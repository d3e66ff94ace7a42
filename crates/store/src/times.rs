//! Histograms of times as bytes: HdrHistogram's V2 encoding, not deflated, because deflating costs the generator's
//! core more than the disk is worth. An empty histogram is NULL. Beside them, the ends of the last sessions.

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use model::record::interval::{Pauses, SessionEnd, Times};

/// The first four bytes of a plain V2 histogram.
const COOKIE: u32 = 0x1c84_9313;

/// Bytes before the counts: cookie, length, offset, digits, lowest, highest, ratio.
const HEADER_BYTES: usize = 40;

/// Bytes of one session's end.
const SESSION_BYTES: usize = 20;

/// Writes histograms; keeps its buffer between calls.
#[derive(Default)]
pub(crate) struct Encoder {
    serializer: Option<V2Serializer>,
}

impl Encoder {
    /// The bytes of `times`, `None` when it is empty.
    pub(crate) fn encode(&mut self, times: &Times) -> Result<Option<Vec<u8>>, String> {
        if times.is_empty() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let serializer = self.serializer.get_or_insert_with(V2Serializer::new);
        serializer.serialize(times, &mut bytes).map_err(|error| error.to_string())?;
        Ok(Some(bytes))
    }
}

/// The histogram behind `bytes`, which must have the bounds of `like`. Bytes that we did not write are refused before
/// they are believed: their header says how much memory would be taken.
pub(crate) fn decode(bytes: &[u8], like: &Times) -> Result<Times, String> {
    let word =
        |at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
    let long =
        |at: usize| bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map(u64::from_be_bytes);
    let length = bytes.len().checked_sub(HEADER_BYTES).and_then(|length| u32::try_from(length).ok());
    let fits = word(0) == Some(COOKIE)
        && length.is_some()
        && word(4) == length
        && word(12) == Some(u32::from(like.sigfig()))
        && long(16) == Some(like.low())
        && long(24) == Some(like.high());
    if !fits {
        return Err("a histogram is damaged: its header is not one of ours".to_string());
    }
    let mut rest = bytes;
    Deserializer::new().deserialize(&mut rest).map_err(|error| format!("a histogram is damaged: {error}"))
}

/// The last sessions of a second, 20 bytes each: operation, end, duration; little-endian.
pub(crate) fn encode_sessions(sessions: &[SessionEnd]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sessions.len() * SESSION_BYTES);
    for session in sessions {
        bytes.extend((session.operation as u32).to_le_bytes());
        bytes.extend(session.ended_ns.to_le_bytes());
        bytes.extend(session.took_ns.to_le_bytes());
    }
    bytes
}

/// The sessions behind `bytes`; a cut-off one at their end is left out.
pub(crate) fn decode_sessions(bytes: &[u8]) -> Vec<SessionEnd> {
    let long = |part: &[u8]| part.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let session = |part: &[u8]| SessionEnd {
        operation: long(&part[..4]) as usize,
        ended_ns: long(&part[4..12]),
        took_ns: long(&part[12..20]),
    };
    bytes.chunks_exact(SESSION_BYTES).map(session).collect()
}

/// Draws from the mix in a second, 8 bytes a cell; little-endian.
pub(crate) fn encode_choices(choices: &[u64]) -> Vec<u8> {
    choices.iter().flat_map(|count| count.to_le_bytes()).collect()
}

/// The draws behind `bytes`.
pub(crate) fn decode_choices(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|count| u64::from_le_bytes(*count)).collect()
}

/// Pauses in a second, five numbers of 8 bytes a session; little-endian.
pub(crate) fn encode_pauses(pauses: &[Pauses]) -> Vec<u8> {
    let numbers = |seen: &Pauses| {
        let Pauses { drawn, drawn_sum_s, ended, asked_sum_s, took_sum_s } = *seen;
        [drawn as f64, drawn_sum_s, ended as f64, asked_sum_s, took_sum_s]
    };
    pauses.iter().flat_map(numbers).flat_map(f64::to_le_bytes).collect()
}

/// The pauses behind `bytes`; cut-off ones at their end are left out.
pub(crate) fn decode_pauses(bytes: &[u8]) -> Vec<Pauses> {
    let numbers: Vec<f64> = bytes.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect();
    let pauses = |part: &[f64; 5]| Pauses {
        drawn: part[0] as u64,
        drawn_sum_s: part[1],
        ended: part[2] as u64,
        asked_sum_s: part[3],
        took_sum_s: part[4],
    };
    numbers.as_chunks().0.iter().map(pauses).collect()
}

#[cfg(test)]
mod tests {
    use model::record::interval::new_times;

    use super::*;

    fn sample() -> Times {
        let mut times = new_times();
        (1..2_000u64).for_each(|i| model::record::interval::record_ns(&mut times, i * i * 1_000));
        times
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut encoder = Encoder::default();
        let bytes = encoder.encode(&sample()).expect("it encodes");
        assert_eq!(decode(&bytes.expect("it is not empty"), &new_times()), Ok(sample()));
        assert_eq!(encoder.encode(&new_times()), Ok(None), "an empty histogram takes no room");
    }

    #[test]
    fn pauses_are_read_as_they_were_written() {
        let seen = Pauses { drawn: 3, drawn_sum_s: 1.5, ended: 2, asked_sum_s: 1.0, took_sum_s: 1.25 };
        let bytes = encode_pauses(&[Pauses::default(), seen]);
        assert_eq!(decode_pauses(&bytes), [Pauses::default(), seen]);
        assert_eq!(decode_pauses(&bytes[..79]), [Pauses::default()], "a cut-off one is left out");
    }

    #[test]
    fn damaged_bytes_are_refused_and_never_panic() {
        let bytes = Encoder::default().encode(&sample()).expect("it encodes").expect("it is not empty");
        let like = new_times();
        for length in (0..=HEADER_BYTES).chain((HEADER_BYTES..bytes.len()).step_by(61)) {
            _ = decode(&bytes[..length], &like);
        }
        for at in (0..HEADER_BYTES).chain((HEADER_BYTES..bytes.len()).step_by(61)) {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                if let Ok(times) = decode(&damaged, &like) {
                    _ = (times.len(), times.max(), times.value_at_quantile(0.99));
                }
            }
        }
        assert!(decode(&bytes[..39], &like).is_err());
        assert!(decode(b"", &like).is_err());
    }
}
