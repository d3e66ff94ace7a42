use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;
use proptest::prelude::*;

const PAGE: &str = "a page, a page, a page\na page, a page, a page\na page, a page, a page\n";
/// [`PAGE`] by Node.js' zlib.brotliCompressSync, since we only decode.
const PAGE_BR: &str = "1b4400f88d946edeb406092b83930a2c675d0831c9e8a30318c001130cd98b4a9003";
/// 20 MiB of zeros, likewise.
const BOMB_BR: &str = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd5ffeffffe09f0088c30200ddfb1f";

fn bytes_of(hex: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn decoded(encoding: &str, body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    decode(encoding.as_bytes(), body, &mut out).map(|()| out)
}

/// Every coding with [`PAGE`] in it.
fn samples() -> [(&'static str, &'static str, Vec<u8>); 5] {
    let page = PAGE.as_bytes();
    [
        ("gzip", "gzip", gzip(page)),
        ("X-GZIP", "gzip", gzip(page)),
        ("deflate", "deflate", zlib(page)),
        ("Deflate", "deflate", deflate(page)),
        ("br", "br", bytes_of(PAGE_BR)),
    ]
}

#[test]
fn every_coding_is_undone() {
    for (encoding, _, body) in samples() {
        assert_eq!(decoded(encoding, &body).as_deref(), Ok(PAGE.as_bytes()), "{encoding}");
    }
    for encoding in ["", "identity", " Identity , "] {
        assert_eq!(decoded(encoding, b"as it is").as_deref(), Ok(&b"as it is"[..]), "{encoding}");
    }
    assert_eq!(decoded("gzip", b"").as_deref(), Ok(&b""[..]), "no body");
}

#[test]
fn codings_are_undone_from_the_last_to_the_first() {
    let twice = gzip(&zlib(PAGE.as_bytes()));
    assert_eq!(decoded("deflate, gzip", &twice).as_deref(), Ok(PAGE.as_bytes()));
    assert!(decoded("gzip, deflate", &twice).is_err());
    let thrice = zlib(&twice);
    assert_eq!(decoded("deflate, gzip, identity, deflate", &thrice).as_deref(), Ok(PAGE.as_bytes()));
    assert!(matches!(decoded("gzip,gzip,gzip,gzip,gzip", &thrice), Err(DecodeError::Unknown(_))));
}

#[test]
fn gzip_may_come_in_several_members() {
    let members = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decoded("gzip", &members).as_deref(), Ok(&b"one two"[..]));
}

#[test]
fn a_body_cut_anywhere_is_truncated() {
    for (encoding, coding, body) in samples() {
        // Of a single byte nobody can say what it is.
        for cut in 2..body.len() {
            let error = decoded(encoding, &body[..cut]).expect_err(&format!("{encoding} cut at {cut}"));
            assert_eq!(error, DecodeError::Truncated(coding), "{encoding} cut at {cut}");
        }
    }
}

#[test]
fn a_corrupt_body_is_an_error_that_says_so() {
    let mut wrong_sum = gzip(PAGE.as_bytes());
    let last = wrong_sum.len() - 5;
    wrong_sum[last] ^= 1;
    for (encoding, body) in [
        ("gzip", &b"<html>not compressed</html>"[..]),
        ("gzip", &wrong_sum),
        ("deflate", b"<html>not compressed</html>"),
        ("br", b"<html>not compressed</html>"),
    ] {
        let error = decoded(encoding, body).expect_err(encoding);
        assert!(matches!(error, DecodeError::Corrupt(..)), "{encoding}: {error:?}");
        assert!(error.to_string().contains(&format!("body is not {encoding}: ")), "{error}");
    }
    let error = decoded("zstd", b"x").expect_err("zstd is not understood").to_string();
    assert!(error.contains("`zstd`") && error.contains("gzip, deflate and br"), "{error}");
}

#[test]
fn a_bomb_is_an_error_and_not_memory() {
    let zeros = vec![0; MAX_DECODED_BYTES + 1];
    let bombs = [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("br", bytes_of(BOMB_BR))];
    for (encoding, bomb) in bombs {
        assert!(bomb.len() < 20_000, "{encoding}");
        let mut out = Vec::new();
        assert_eq!(decode(encoding.as_bytes(), &bomb, &mut out), Err(DecodeError::TooLong), "{encoding}");
        assert!(out.capacity() <= 2 * MAX_DECODED_BYTES, "{encoding}: {} bytes", out.capacity());
    }
    assert_eq!(decoded("gzip", &gzip(&zeros[1..])).map(|out| out.len()), Ok(MAX_DECODED_BYTES));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        at in 0usize..1000,
        byte in any::<u8>(),
    ) {
        for (encoding, _, mut sample) in samples() {
            let _ = decoded(encoding, &body);
            let at = at % sample.len();
            sample[at] = byte;
            let _ = decoded(encoding, &sample);
        }
    }
}
