use super::*;
use proptest::prelude::*;

fn read(pieces: &[&[u8]]) -> Result<(bool, Response), Fault> {
    let mut response = Response::default();
    response.begin(Expected::default());
    let mut done = false;
    for piece in pieces {
        done = response.feed(piece)?;
    }
    Ok((done, response))
}

fn whole(bytes: &[u8]) -> Response {
    let (done, response) = read(&[bytes]).expect("the answer is right");
    assert!(done, "the answer is complete: {}", String::from_utf8_lossy(bytes));
    response
}

#[test]
fn an_answer_with_a_length_is_read() {
    let response = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello");
    assert_eq!((response.status(), response.body()), (200, &b"hello"[..]));
    assert_eq!(response.header("x-a").next(), Some(&b"1"[..]));
    assert!(!response.closes());
}

#[test]
fn a_chunked_answer_with_extensions_and_trailers_is_read() {
    let response = whole(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n00b\r\n over there\r\n\
          0\r\nX-T: 1\r\n\r\n",
    );
    assert_eq!(response.body(), b"hello over there");
}

#[test]
fn a_known_head_says_what_it_says_when_it_is_read() {
    let heads: Vec<String> = (0..6)
        .flat_map(|n| {
            [
                format!("HTTP/1.1 200 OK\r\nSet-Cookie: a={n}\r\nContent-Length: 2\r\n\r\n"),
                format!("HTTP/1.1 40{n} No\r\nConnection: close\r\n\r\n"),
            ]
        })
        .collect();
    let said = |response: &mut Response, known: &mut KnownHeads, head: &str, to_head: bool| {
        response.begin(Expected { to_head, body: Body::Keep });
        let fed =
            response.feed_knowing(known, format!("{head}{}", if to_head { "" } else { "ok" }).as_bytes());
        let ended = response.end_of_stream();
        let headers: Vec<Vec<u8>> =
            response.headers().map(|(name, value)| [name, b"=", value].concat()).collect();
        let cookies = response.set_cookies().count();
        let (body, bytes) = (response.body().to_vec(), response.received_bytes());
        (fed, ended, response.status(), response.closes(), headers, cookies, body, bytes)
    };
    let (mut response, mut known) = (Response::default(), KnownHeads::default());
    for round in 0..200 {
        // Each one ten times in a row, then all in turn, of which some are known and some no longer.
        let head = &heads[if round < 100 { round / 10 } else { round * 7 } % heads.len()];
        let to_head = round % 3 == 0;
        let again = said(&mut response, &mut known, head, to_head);
        let fresh = said(&mut Response::default(), &mut KnownHeads::default(), head, to_head);
        assert_eq!(again, fresh, "round {round}: {head}");
    }
}

#[test]
fn an_interim_answer_comes_before_the_answer() {
    let response = whole(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(response.status(), 201);
}

#[test]
fn answers_without_a_body_are_complete_at_once() {
    for head in ["204 No Content", "304 Not Modified"] {
        whole(format!("HTTP/1.1 {head}\r\n\r\n").as_bytes());
    }
    let mut response = Response::default();
    response.begin(Expected { to_head: true, body: Body::Keep });
    assert_eq!(response.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Ok(true));
}

#[test]
fn a_transfer_coding_overrides_the_length() {
    let (done, response) = read(&[
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ])
    .expect("it is right");
    assert!(done);
    assert_eq!(response.body(), b"hello");
}

#[test]
fn an_answer_without_a_length_ends_with_the_connection() {
    let (done, mut response) = read(&[b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo"]).expect("it is right so far");
    assert!(!done);
    assert_eq!(response.end_of_stream(), Ok(()));
    assert_eq!(response.body(), b"hello");
    assert!(response.closes());
}

fn discarding() -> Response {
    let mut response = Response::default();
    response.begin(Expected { to_head: false, body: Body::Discard });
    response
}

#[test]
fn a_discarded_body_may_be_dropped_unread() {
    let mut response = discarding();
    assert_eq!(response.droppable(), 0, "a head is read");
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    assert_eq!(response.feed(head), Ok(false));
    assert_eq!(response.feed(b"0123456789"), Ok(false));
    assert_eq!((response.droppable(), response.body()), (990, &b""[..]));
    assert!(response.ends_with_droppable());
    assert_eq!(response.dropped(991), Err(Fault::Surplus));
    assert_eq!((response.dropped(90), response.dropped(900)), (Ok(false), Ok(true)));
    assert_eq!((response.body_bytes(), response.received_bytes()), (1000, 1000 + head.len() as u64));
    assert_eq!((response.droppable(), response.kept_whole()), (0, false));
}

#[test]
fn only_the_data_of_a_chunk_may_be_dropped() {
    let mut response = discarding();
    assert_eq!(response.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhe"), Ok(false));
    assert!(!response.ends_with_droppable(), "the chunk's end comes behind it");
    assert_eq!((response.droppable(), response.dropped(3)), (3, Ok(false)));
    assert_eq!(response.droppable(), 0, "the chunk's end is read");
    assert_eq!(response.feed(b"\r\n0\r\nT: 1\r\n\r\n"), Ok(true));
    assert_eq!(response.body_bytes(), 5);
}

#[test]
fn a_body_up_to_the_end_of_the_connection_may_be_dropped_until_then() {
    let mut response = discarding();
    assert_eq!(response.feed(b"HTTP/1.1 200 OK\r\n\r\n"), Ok(false));
    assert_eq!((response.droppable(), response.dropped(7)), (u64::MAX, Ok(false)));
    assert_eq!((response.end_of_stream(), response.body_bytes()), (Ok(()), 7));
}

#[test]
fn a_body_that_is_kept_may_not_be_dropped_until_enough_of_it_is_kept() {
    let mut response = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
    assert!(response.kept_whole());
    response.begin(Expected::default());
    let length = MAX_KEPT_BYTES + 10;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    assert_eq!((response.feed(head.as_bytes()), response.droppable()), (Ok(false), 0));
    assert_eq!(response.feed(&vec![b'x'; MAX_KEPT_BYTES]), Ok(false));
    assert_eq!((response.droppable(), response.dropped(10)), (10, Ok(true)));
    assert_eq!((response.body().len(), response.kept_whole()), (MAX_KEPT_BYTES, false));
}

#[test]
fn the_beginning_of_a_discarded_refusal_is_evidence() {
    let mut response = discarding();
    assert_eq!(response.feed(b"HTTP/1.1 500 No\r\nContent-Length: 2000\r\n\r\nno database"), Ok(false));
    assert_eq!(response.droppable(), 0);
    assert_eq!(response.feed(&[b'x'; 1100]), Ok(false));
    assert_eq!((response.body().len(), response.droppable()), (EVIDENCE_BYTES, 2000 - 11 - 1100));
    assert!(response.body().starts_with(b"no database"));
}

#[test]
fn headers_are_found_whatever_their_case_and_number() {
    let response = whole(
        b"HTTP/1.1 302 Found\r\nLOCATION:  /a \r\nset-cookie: a=1\r\nX:\r\nSet-Cookie: b=2\r\n\
          Content-Encoding: br\r\nContent-Length: 0\r\n\r\n",
    );
    assert_eq!(response.set_cookies().collect::<Vec<_>>(), [&b"a=1"[..], b"b=2"]);
    assert_eq!((response.location(), response.content_encoding()), (Some(&b"/a"[..]), Some(&b"br"[..])));
    assert_eq!((response.headers().count(), response.header("x").next()), (6, Some(&b""[..])));
    let bare = whole(b"HTTP/1.1 204 None\r\n\r\n");
    assert_eq!((bare.location(), bare.content_encoding(), bare.headers().count()), (None, None, 0));
}

#[test]
fn a_connection_is_kept_or_closed_as_the_head_says() {
    let table = [
        ("HTTP/1.1 204 A\r\n", false),
        ("HTTP/1.1 204 A\r\nConnection: Upgrade, Close\r\n", true),
        ("HTTP/1.0 204 A\r\n", true),
        ("HTTP/1.0 204 A\r\nConnection: Keep-Alive\r\n", false),
        // RFC 9112 section 6.1: HTTP/1.0 has no transfer codings, so that its framing is not to be trusted.
        ("HTTP/1.0 204 A\r\nConnection: Keep-Alive\r\nTransfer-Encoding: chunked\r\n", true),
    ];
    for (head, closes) in table {
        assert_eq!(whole(format!("{head}\r\n").as_bytes()).closes(), closes, "{head}");
    }
}

#[test]
fn what_is_not_http_is_a_fault_of_the_right_kind() {
    let cases: [(&[u8], Fault); 10] = [
        (b"SSH-2.0-OpenSSH\r\n\r\n", Fault::Head),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", Fault::Head),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Fault::Head),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", Fault::Head),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", Fault::Chunk),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", Fault::Chunk),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", Fault::Chunk),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r3\nab\r\n0\r\n\r\n", Fault::Chunk),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", Fault::Head),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", Fault::Surplus),
    ];
    for (bytes, fault) in cases {
        assert_eq!(read(&[bytes]).err(), Some(fault), "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn endless_heads_and_trailers_are_faults_with_bounded_memory() {
    let mut response = Response::default();
    response.begin(Expected::default());
    let line = b"X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
    assert_eq!(response.feed(b"HTTP/1.1 200 OK\r\n"), Ok(false));
    let fault = (0..10_000).find_map(|_| response.feed(line).err());
    assert_eq!(fault, Some(Fault::HeadTooLong));
    assert!(response.head_bytes.len() <= MAX_HEAD_BYTES + 1);
    response.begin(Expected::default());
    response.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n").expect("right so far");
    let fault = (0..10_000).find_map(|_| response.feed(line).err());
    assert_eq!(fault, Some(Fault::Chunk));
}

#[test]
fn hostile_heads_are_faults_and_bare_line_feeds_are_not() {
    for head in [
        "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 099 Early\r\n\r\n",
    ] {
        assert_eq!(read(&[head.as_bytes()]).err(), Some(Fault::Head), "{head:?}");
    }
    assert_eq!(whole(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok").body(), b"ok");
    let endless = "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000);
    assert_eq!(read(&[endless.as_bytes()]).err(), Some(Fault::HeadTooLong));
}

#[test]
fn an_answer_cut_short_at_any_byte_is_truncated() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nT: 1\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 None\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 204 None\r\n\r\n",
    ] {
        for cut in 0..answer.len() {
            let (done, mut response) = read(&[&answer[..cut]]).expect("a beginning is no fault");
            assert!(!done, "cut at {cut}");
            assert_eq!(response.end_of_stream(), Err(Fault::Truncated), "cut at {cut}");
        }
        whole(answer);
    }
}

proptest! {
    #[test]
    fn every_split_of_an_answer_reads_the_same(cuts in proptest::collection::vec(0usize..140, 0..6)) {
        let answer: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: \
            a=b\r\n\r\n5\r\nhello\r\nA;x\r\n0123456789\r\n0\r\nT: 1\r\n\r\n";
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(answer.len())).collect();
        cuts.extend([0, answer.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &answer[pair[0]..pair[1]]).collect();
        let (done, response) = read(&pieces).expect("the answer is right");
        prop_assert!(done || pieces.last().is_some_and(|last| last.is_empty()));
        prop_assert_eq!(response.body(), b"hello0123456789");
        prop_assert_eq!(response.header("set-cookie").next(), Some(&b"a=b"[..]));
    }

    #[test]
    fn random_bytes_never_panic_and_never_grow_without_bound(pieces in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..200), 0..20)) {
        let mut response = Response::default();
        response.begin(Expected::default());
        for piece in &pieces {
            if response.feed(piece).is_err() { break }
        }
        let _ = response.end_of_stream();
    }
}
