//! Histograms of times as bytes: HdrHistogram's V2 encoding, not deflated, because deflating costs the generator's
//! core more than the disk is worth.

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use crate::Times;

/// The first four bytes of a plain V2 histogram.
const COOKIE: u32 = 0x1c84_9313;

/// Bytes before the counts: cookie, length, offset, digits, lowest, highest, ratio.
const HEADER_BYTES: usize = 40;

/// Slots of one width at the beginning of a histogram with three significant digits.
const SUB_BUCKETS: usize = 2_048;

/// Writes histograms; keeps its buffer between calls.
#[derive(Default)]
pub struct Encoder {
    serializer: Option<V2Serializer>,
}

impl Encoder {
    /// The bytes of `times`, `None` when it is empty.
    ///
    /// # Errors
    /// Its bounds can't be said in this form.
    pub fn encode(&mut self, times: &Times) -> Result<Option<Vec<u8>>, String> {
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
pub fn decode(bytes: &[u8], like: &Times) -> Result<Times, String> {
    counts(bytes, like)?;
    let mut rest = bytes;
    Deserializer::new().deserialize(&mut rest).map_err(|error| format!("a histogram is damaged: {error}"))
}

/// Adds the histogram behind `bytes` to `times`. Most of its slots are empty: to make one of it first costs thirty times as much.
///
/// # Errors
/// What is wrong with the bytes; `times` may then have a part of them.
pub fn add(bytes: &[u8], times: &mut Times) -> Result<(), String> {
    let counts = counts(bytes, times)?;
    each_slot(counts, times.distinct_values(), |slot, count| times.saturating_record_n(value(slot), count))
}

/// Whether `bytes` are a histogram with the bounds of `like`, which [`add`] then takes.
///
/// # Errors
/// What is wrong with them.
pub fn check(bytes: &[u8], like: &Times) -> Result<(), String> {
    each_slot(counts(bytes, like)?, like.distinct_values(), |_, _| {})
}

/// Goes through the counts that are not zero, of a histogram with that number of slots.
fn each_slot(mut rest: &[u8], slots: usize, mut act: impl FnMut(usize, u64)) -> Result<(), String> {
    let mut slot = 0;
    while !rest.is_empty() {
        let number = number(&mut rest).ok_or("a histogram is damaged: it is cut off")?;
        // A number of slots without any is told as a negative one.
        match usize::try_from(number) {
            Ok(0) => slot += 1,
            Ok(_) if slot < slots => {
                act(slot, number.unsigned_abs());
                slot += 1;
            }
            Ok(_) => return Err("a histogram is damaged: it has more slots than there are".to_string()),
            Err(_) => {
                slot = slot.saturating_add(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX))
            }
        }
    }
    Ok(())
}

/// The counts behind the header of `bytes`, which must have the bounds of `like`.
fn counts<'a>(bytes: &'a [u8], like: &Times) -> Result<&'a [u8], String> {
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
    let counts = bytes.get(HEADER_BYTES..).filter(|_| fits);
    counts.ok_or_else(|| "a histogram is damaged: its header is not one of ours".to_string())
}

/// The next number of `rest`: 7 bits a byte, the lowest first, all 8 of a ninth one; its sign is its lowest bit.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let mut bits = 0;
    for at in 0..9 {
        let (byte, others) = rest.split_first()?;
        *rest = others;
        let own = if at == 8 { *byte } else { *byte & 0x7f };
        bits |= u64::from(own) << (7 * at);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((bits >> 1) as i64 ^ -((bits & 1) as i64))
}

/// The least value of a slot: the first [`SUB_BUCKETS`] are a microsecond wide each, each half as many after them twice as wide as
/// those before.
fn value(slot: usize) -> u64 {
    let half = SUB_BUCKETS / 2;
    let bucket = (slot / half).saturating_sub(1);
    ((slot - bucket * half) as u64) << bucket
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{new_times, record_ns, record_ns_times};

    fn sample() -> Times {
        let mut times = new_times();
        (1..2_000u64).for_each(|i| record_ns(&mut times, i * i * 1_000));
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
    fn what_is_added_as_it_is_kept_is_what_is_added_after_it_was_read() {
        let random = |seed: u64| {
            let mut times = new_times();
            let mut state = seed;
            for _ in 0..500 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let nanos = (state >> 11) % (1 << (state >> 58));
                record_ns_times(&mut times, nanos, 1 + (state >> 20) % 300);
            }
            times
        };
        for seed in 0..50 {
            let (mut quick, mut slow) = (sample(), sample());
            let bytes =
                Encoder::default().encode(&random(seed)).expect("it encodes").expect("it is not empty");
            assert_eq!(add(&bytes, &mut quick), Ok(()));
            slow.add(decode(&bytes, &new_times()).expect("it is ours")).expect("the same bounds");
            assert_eq!(quick, slow, "seed {seed}");
            assert_eq!((quick.max(), quick.min(), quick.len()), (slow.max(), slow.min(), slow.len()));
        }
    }

    #[test]
    fn damaged_bytes_are_refused_and_never_panic() {
        let bytes = Encoder::default().encode(&sample()).expect("it encodes").expect("it is not empty");
        let like = new_times();
        for length in (0..=HEADER_BYTES).chain((HEADER_BYTES..bytes.len()).step_by(61)) {
            _ = decode(&bytes[..length], &like);
            _ = add(&bytes[..length], &mut new_times());
        }
        for at in (0..HEADER_BYTES).chain((HEADER_BYTES..bytes.len()).step_by(61)) {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                assert_eq!(check(&damaged, &like), add(&damaged, &mut new_times()), "byte {at} ^ {flip:#x}");
                if let Ok(times) = decode(&damaged, &like) {
                    _ = (times.len(), times.max(), times.value_at_quantile(0.99));
                }
            }
        }
        assert!(decode(&bytes[..39], &like).is_err());
        assert!(decode(b"", &like).is_err());
    }
}
