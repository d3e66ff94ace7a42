//! Fuzzes flash's reader of requests. An input is a length and what a client sends. Whatever that is: no panic; nothing is
//! taken that is not there; more bytes change nothing of a request that is whole, and fewer of one that is none; and no
//! path leads out of the root.

#![no_main]

/// The server's own files, without the rest of it.
#[path = "../../servers/flash/src/answer.rs"]
#[allow(dead_code)]
mod answer;
#[path = "../../servers/flash/src/request.rs"]
mod request;

use libfuzzer_sys::fuzz_target;
use request::{MAX_HEAD_BYTES, Parsed, parse};

fuzz_target!(|input: &[u8]| {
    let Some(([cut], stream)) = input.split_first_chunk::<1>() else { return };
    let first = parse(stream);
    assert!(first != Parsed::Part || stream.len() < MAX_HEAD_BYTES, "a head is refused at some length");
    let part = parse(&stream[..usize::from(*cut).min(stream.len())]);
    match (&first, part) {
        (Parsed::Whole(request, length), Parsed::Whole(again, shorter)) => {
            assert_eq!((request, *length), (&again, shorter), "more bytes change nothing");
        }
        (first, Parsed::Whole(..)) => panic!("a request became {first:?} with more bytes"),
        (_, Parsed::Part | Parsed::Bad) => {}
    }
    if let Parsed::Whole(request, length) = first {
        assert!(length <= stream.len() && length > 0);
        assert!(!request.path.contains(&0) && request.path.first() != Some(&b'/'));
        let mut segments = request.path.split(|&byte| byte == b'/');
        assert!(request.path.is_empty() || segments.all(|one| !matches!(one, b"" | b"." | b"..")));
        if let Some(time_s) = request.since_s {
            assert_eq!(answer::unix_time(answer::http_date(time_s).as_bytes()), Some(time_s));
        }
    }
});
