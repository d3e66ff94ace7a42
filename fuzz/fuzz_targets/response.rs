//! Fuzzes the response reader. An input is a byte of options, eight lengths of reads that are used in turn, and what the
//! server sends. Whatever that is: no panic, and the same outcome in one piece, in reads, and with the body dropped, whether
//! the head is known or not.

#![no_main]

/// The engine's own file, without the rest of the engine.
#[path = "../../crates/engine/src/http"]
#[allow(dead_code)]
mod http {
    pub mod response;
}

use http::response::{Body, EVIDENCE_BYTES, Expected, Fault, KnownHeads, Response};
use libfuzzer_sys::fuzz_target;

const READS: usize = 8;

/// What is to be the same however the bytes come.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    end: Result<(), Fault>,
    status: u16,
    closes: bool,
    body_bytes: u64,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
}

fuzz_target!(|input: &[u8]| {
    let Some(([options], rest)) = input.split_first_chunk::<1>() else { return };
    let Some((reads, stream)) = rest.split_first_chunk::<READS>() else { return };
    let to_head = options & 1 == 1;
    let keep = Expected { to_head, body: Body::Keep };
    let discard = Expected { to_head, body: Body::Discard };
    let mut reader = Response::default();
    let (mut nothing, mut known) = (KnownHeads::default(), KnownHeads::default());

    let fresh = read((&mut reader, &mut nothing), keep, &[0; READS], stream);
    let whole = read((&mut reader, &mut known), keep, &[0; READS], stream);
    assert_eq!(whole, fresh);
    let again = read((&mut reader, &mut known), keep, &[0; READS], stream);
    assert_eq!(again, whole, "its head is known");
    let body = reader.body().to_vec();
    assert!(reader.kept_whole(), "inputs are short");

    // The reader is used again, whatever became of the answer before.
    let in_reads = read((&mut reader, &mut known), keep, reads, stream);
    assert_eq!(in_reads, whole, "in reads");
    assert_eq!(reader.body(), body, "in reads");

    let dropped = read((&mut reader, &mut known), discard, reads, stream);
    assert_eq!(dropped, whole, "dropped");
    assert!(body.starts_with(reader.body()) && reader.body().len() <= EVIDENCE_BYTES, "dropped");
    if (200..300).contains(&dropped.status) {
        assert!(reader.body().is_empty(), "nothing is kept of an answer that fits");
    }
});

/// Reads `stream` to its end. A read of length 0 takes all there is; what may be dropped is.
fn read(
    (reader, known): (&mut Response, &mut KnownHeads),
    expected: Expected,
    reads: &[u8; READS],
    stream: &[u8],
) -> Outcome {
    reader.begin(expected);
    let end = drain(reader, known, reads, stream);
    Outcome {
        end,
        status: reader.status(),
        closes: reader.closes(),
        body_bytes: reader.body_bytes(),
        headers: reader.headers().map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
    }
}

fn drain(
    reader: &mut Response,
    known: &mut KnownHeads,
    reads: &[u8; READS],
    mut stream: &[u8],
) -> Result<(), Fault> {
    let all = stream.len() as u64;
    for length in reads.iter().cycle() {
        if stream.is_empty() {
            reader.end_of_stream()?;
            break;
        }
        let length = if *length == 0 { stream.len() } else { stream.len().min(usize::from(*length)) };
        let droppable = reader.droppable().min(length as u64) as usize;
        let (now, later) = stream.split_at(if droppable > 0 { droppable } else { length });
        let done = if droppable > 0 { reader.dropped(droppable as u64)? } else { reader.feed_knowing(known, now)? };
        stream = later;
        if done && !stream.is_empty() {
            return Err(Fault::Surplus);
        }
        if done {
            break;
        }
    }
    assert_eq!(reader.received_bytes(), all, "every byte is counted");
    Ok(())
}
