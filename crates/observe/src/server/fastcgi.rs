//! One request of the responder role over FastCGI (FastCGI Specification 1.0, Open Market 1996), just enough for a
//! status: no input, one request on a connection.

use std::io;
use std::time::Instant;

use super::exchange::{Asker, wrong};

const VERSION: u8 = 1;
const BEGIN_REQUEST: u8 = 1;
const END_REQUEST: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const HEAD_BYTES: usize = 8;

/// The body of the answer to a GET of `path`, a script's file or what the server itself answers; with its query.
pub(super) fn get(asker: &mut Asker, path: &str, deadline: Instant) -> io::Result<Vec<u8>> {
    let ended = |answer: &[u8]| records(answer).any(|(kind, _)| kind == END_REQUEST);
    body(&asker.ask(&request(path), ended, deadline)?)
}

fn request(path: &str) -> Vec<u8> {
    let (script, query) = path.split_once('?').unwrap_or((path, ""));
    let mut params = Vec::new();
    for (name, value) in [
        ("GATEWAY_INTERFACE", "CGI/1.1"),
        ("REQUEST_METHOD", "GET"),
        ("SCRIPT_NAME", script),
        ("SCRIPT_FILENAME", script),
        ("QUERY_STRING", query),
        ("REQUEST_URI", path),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("SERVER_NAME", "localhost"),
    ] {
        length(name, &mut params);
        length(value, &mut params);
        params.extend_from_slice(name.as_bytes());
        params.extend_from_slice(value.as_bytes());
    }
    let mut bytes = Vec::new();
    // The role of a responder; the connection is closed after the answer.
    record(BEGIN_REQUEST, &[0, 1, 0, 0, 0, 0, 0, 0], &mut bytes);
    record(PARAMS, &params, &mut bytes);
    record(PARAMS, &[], &mut bytes);
    record(STDIN, &[], &mut bytes);
    bytes
}

/// One byte below 128, else four with the highest bit set.
fn length(text: &str, into: &mut Vec<u8>) {
    match u8::try_from(text.len()) {
        Ok(short) if short < 0x80 => into.push(short),
        _ => into.extend_from_slice(&(text.len() as u32 | 0x8000_0000).to_be_bytes()),
    }
}

/// Paths are far shorter than the 65,535 bytes of a record.
fn record(kind: u8, content: &[u8], into: &mut Vec<u8>) {
    let length = (content.len() as u16).to_be_bytes();
    into.extend_from_slice(&[VERSION, kind, 0, 1, length[0], length[1], 0, 0]);
    into.extend_from_slice(content);
}

/// The whole records of an answer: (type, content).
fn records(answer: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = answer;
    std::iter::from_fn(move || {
        let head = rest.get(..HEAD_BYTES)?;
        let end = HEAD_BYTES + usize::from(u16::from_be_bytes([head[4], head[5]]));
        let content = rest.get(HEAD_BYTES..end)?;
        rest = rest.get(end + usize::from(head[6])..)?;
        Some((head[1], content))
    })
}

/// What stands behind the CGI head, if that has no other status than 200.
fn body(answer: &[u8]) -> io::Result<Vec<u8>> {
    if !records(answer).any(|(kind, _)| kind == END_REQUEST) {
        return Err(wrong("the answer was cut off"));
    }
    let output: Vec<u8> = records(answer)
        .filter(|(kind, _)| *kind == STDOUT)
        .flat_map(|(_, content)| content)
        .copied()
        .collect();
    let end =
        output.windows(4).position(|four| four == b"\r\n\r\n").ok_or(wrong("the answer has no head"))?;
    let head = String::from_utf8_lossy(&output[..end]);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: "));
    if status.is_some_and(|status| !status.starts_with("200")) {
        return Err(wrong("the answer's status is not 200"));
    }
    Ok(output[end + 4..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(parts: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, content) in parts {
            record(*kind, content, &mut bytes);
            // Three bytes of padding, as servers that align their records send.
            let head = bytes.len() - content.len() - HEAD_BYTES;
            bytes[head + 6] = 3;
            bytes.extend_from_slice(&[9; 3]);
        }
        bytes
    }

    #[test]
    fn the_body_is_what_follows_the_head_over_all_records() {
        let whole = answer(&[
            (STDOUT, b"Content-Type: application/json\r\n\r\n{\"a\""),
            (7, b"a warning"),
            (STDOUT, b":1}"),
            (STDOUT, b""),
            (END_REQUEST, &[0; 8]),
        ]);
        assert_eq!(body(&whole).expect("a body"), b"{\"a\":1}");
        for end in 0..whole.len() - 3 {
            assert!(body(&whole[..end]).is_err(), "cut off at {end}");
        }
    }

    #[test]
    fn a_refusal_is_no_body() {
        let refused =
            answer(&[(STDOUT, b"Status: 404 Not Found\r\n\r\nFile not found."), (END_REQUEST, &[0; 8])]);
        assert!(body(&refused).is_err());
    }

    #[test]
    fn a_long_value_has_a_length_of_four_bytes() {
        let bytes = request(&format!("/{}?json", "x".repeat(200)));
        let name = bytes.windows(11).position(|part| part == b"SCRIPT_NAME").expect("it is there");
        assert_eq!(bytes[name - 5..name], [11, 0x80, 0, 0, 201], "then the name, then the value");
        let query = bytes.windows(16).position(|part| part == b"QUERY_STRINGjson").expect("it is there");
        assert_eq!(bytes[query - 2..query], [12, 4]);
    }
}
