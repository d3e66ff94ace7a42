//! Lists of a second as bytes: the ends of its last sessions, draws from the mix, pauses.

use model::record::interval::{Pauses, SessionEnd};

/// Bytes of one session's end.
const SESSION_BYTES: usize = 20;

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
    use super::*;

    #[test]
    fn pauses_are_read_as_they_were_written() {
        let seen = Pauses { drawn: 3, drawn_sum_s: 1.5, ended: 2, asked_sum_s: 1.0, took_sum_s: 1.25 };
        let bytes = encode_pauses(&[Pauses::default(), seen]);
        assert_eq!(decode_pauses(&bytes), [Pauses::default(), seen]);
        assert_eq!(decode_pauses(&bytes[..79]), [Pauses::default()], "a cut-off one is left out");
    }
}
