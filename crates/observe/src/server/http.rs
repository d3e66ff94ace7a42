//! One GET over HTTP/1.1 on a connection of its own: a kept one would pin a worker of a server that has a process or
//! thread for each.

use std::io;
use std::time::Instant;

use super::exchange::{Asker, wrong};

/// The body of the answer to a GET, if its status is 200.
pub(super) fn get(asker: &mut Asker, path: &str, deadline: Instant) -> io::Result<Vec<u8>> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: plimsoll-observer\r\nConnection: close\r\n\r\n"
    );
    body(&asker.ask(request.as_bytes(), |_| false, deadline)?)
}

/// The body of a whole answer.
fn body(answer: &[u8]) -> io::Result<Vec<u8>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let start = match head.parse(answer) {
        Ok(httparse::Status::Complete(start)) => start,
        _ => return Err(wrong("the answer is no HTTP")),
    };
    if head.code != Some(200) {
        return Err(wrong("the answer's status is not 200"));
    }
    let header = |name: &str| {
        let found = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok())
    };
    if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return dechunked(&answer[start..]);
    }
    let body = &answer[start..];
    match header("content-length").map(|value| value.trim().parse::<usize>()) {
        Some(Ok(length)) => body.get(..length).map(<[u8]>::to_vec).ok_or(wrong("the answer was cut off")),
        Some(Err(_)) => Err(wrong("the answer's length is no number")),
        None => Ok(body.to_vec()),
    }
}

fn dechunked(mut rest: &[u8]) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let Ok(httparse::Status::Complete((start, length))) = httparse::parse_chunk_size(rest) else {
            return Err(wrong("the answer was cut off"));
        };
        if length == 0 {
            return Ok(body);
        }
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let chunk = end.and_then(|end| rest.get(start..end)).ok_or(wrong("the answer was cut off"))?;
        body.extend_from_slice(chunk);
        rest = rest.get(start + chunk.len() + 2..).ok_or(wrong("the answer was cut off"))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_whether_chunked_or_with_a_length_or_until_the_end() {
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n";
        assert_eq!(body(chunked).expect("a body"), b"abcd0123456789");
        let with_length = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef";
        assert_eq!(body(with_length).expect("a body"), b"abc");
        assert_eq!(body(b"HTTP/1.0 200 OK\r\n\r\nabc").expect("a body"), b"abc");
    }

    #[test]
    fn an_answer_that_was_cut_off_or_refused_is_none() {
        let cut: [&[u8]; 7] = [
            b"",
            b"HTTP/1.1 200",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nab",
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            b"HTTP/1.1 403 Forbidden\r\n\r\nno",
            b"\x16\x03\x01 no HTTP at all",
        ];
        for answer in cut {
            assert!(body(answer).is_err(), "{:?}", String::from_utf8_lossy(answer));
        }
    }
}
