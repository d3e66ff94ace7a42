//! What can be tested without a connection.

use std::sync::Arc;

use crate::answer::{http_date, unix_time};
use crate::knobs::{Files, Knobs, Pass};
use crate::lru::Lru;
use crate::request::{Method, Parsed, Request, parse};

fn request(text: &str) -> Request {
    match parse(text.as_bytes()) {
        Parsed::Whole(request, length) if length == text.len() => request,
        other => panic!("{text:?} is {other:?}"),
    }
}

#[test]
fn a_request_gives_method_path_query_and_whether_the_connection_is_kept() {
    let first = request("GET /a%20b//./c/?q=1#top HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!((first.method, &first.path[..], first.keep), (Method::Get, &b"a b/c/index.html"[..], true));
    assert_eq!(first.query, b"q=1#top");
    assert_eq!(request("HEAD / HTTP/1.1\r\nhost: x\r\n\r\n").path, b"index.html");
    assert_eq!(request("PUT /x HTTP/1.1\r\nHost: x\r\n\r\n").method, Method::Other);
    for (head, keeps) in [
        ("GET /x HTTP/1.0", false),
        ("GET /x HTTP/1.0\r\nConnection: Keep-Alive", true),
        ("GET /x HTTP/1.1\r\nHost: x\r\nConnection: te, Close", false),
        ("GET /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0", true),
        ("GET /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3", false),
        ("GET /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked", false),
    ] {
        assert_eq!(request(&format!("{head}\r\n\r\n")).keep, keeps, "{head}");
    }
}

#[test]
fn what_is_no_request_or_leaves_the_root_is_refused_and_a_part_of_one_is_waited_for() {
    for line in [
        "GET /../x HTTP/1.1",
        "GET /a/%2e%2e/x HTTP/1.1",
        "GET /%00 HTTP/1.1",
        "GET /%zz HTTP/1.1",
        "GET /% HTTP/1.1",
        "GET x HTTP/1.1",
        "GET /x HTTP/2.0",
        "GET  /x HTTP/1.1",
        "GET /x y HTTP/1.1",
        "GET /x",
        "G{T /x HTTP/1.1",
        "GET /x HTTP/1.1\r\nno colon",
        "GET /x HTTP/1.1\r\n folded: x",
        "GET /x HTTP/1.1\r\nHost: y",
    ] {
        let text = format!("{line}\r\nHost: x\r\n\r\n");
        assert_eq!(parse(text.as_bytes()), Parsed::Bad, "{line}");
    }
    assert_eq!(parse(b"GET /x HTTP/1.1\r\n\r\n"), Parsed::Bad, "no host");
    assert_eq!(parse(b"GET /x HTTP/1.1\r\nHost: x\r\n"), Parsed::Part);
    assert_eq!(parse(&[b'A'; 8192]), Parsed::Bad);
}

#[test]
fn dates_are_written_and_read_as_http_has_them() {
    for (time_s, text) in [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ] {
        assert_eq!((http_date(time_s).as_str(), unix_time(text.as_bytes())), (text, Some(time_s)));
    }
    for wrong in ["", "yesterday", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nvo 1994 08:49:37 GMT"] {
        assert_eq!(unix_time(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn what_was_used_longest_ago_goes_first_and_one_too_heavy_is_alone() {
    let mut cache = Lru::new(100);
    let key = |name: &str| Arc::<[u8]>::from(name.as_bytes());
    for name in ["a", "b", "c"] {
        cache.insert(key(name), name, 30);
    }
    assert_eq!(cache.get(b"a"), Some(&"a"));
    cache.insert(key("d"), "d", 30);
    assert_eq!((cache.get(b"a").is_some(), cache.get(b"b").is_some()), (true, false));
    cache.insert(key("e"), "e", 500);
    assert_eq!((cache.len(), cache.weight()), (1, 500));
    cache.remove(b"e");
    assert_eq!((cache.len(), cache.weight()), (0, 0));
}

#[test]
fn a_knob_that_is_none_and_a_value_that_it_can_not_have_are_told() {
    let knobs = |words: &str| Knobs::of(&words.split(' ').map(String::from).collect::<Vec<_>>());
    let right = knobs("--pass names --files uring --processes 4 --data-cache 400").expect("right knobs");
    assert_eq!((right.pass, right.files, right.data_cache_bytes), (Pass::Names, Files::Uring, 100));
    for (words, said) in [
        ("--pass some", "--pass can't be `some`"),
        ("--helpers 0", "--helpers can't be `0`"),
        ("--listen here", "--listen can't be `here`"),
        ("--pas both", "there is no knob --pas"),
        ("--pass", "--pass has no value"),
    ] {
        assert_eq!(knobs(words).expect_err(words), said);
    }
}
