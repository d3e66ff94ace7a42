//! The server keeps its word: delays, counts and faults as asked for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Origin, Refusing, Reply};

const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

fn connect(origin: &Origin) -> TcpStream {
    let stream = TcpStream::connect(origin.address()).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit can be set");
    stream
}

#[test]
fn an_answer_comes_after_its_delay_and_both_moments_are_noted() {
    let origin = Origin::fixed(Duration::from_millis(30)).expect("a loopback port");
    let mut stream = connect(&origin);
    let before = Instant::now();
    stream.write_all(REQUEST).expect("it reads");
    let mut answer = [0; 512];
    let length = stream.read(&mut answer).expect("it answers");
    let took = before.elapsed();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
    let ledger = origin.ledger();
    let exchange = &ledger.exchanges[0];
    let told = exchange.took().expect("it has answered");
    assert!(told >= Duration::from_millis(30) && told <= took, "{told:?} inside of {took:?}");
    assert_eq!(exchange.late(), Some(told - Duration::from_millis(30)));
    assert_eq!((ledger.connections, ledger.exchanges.len(), &*exchange.path), (1, 1, "/a"));
}

#[test]
fn whoever_asks_the_same_port_of_127_0_0_1_is_not_in_the_ledger() {
    let origin = Origin::fixed(Duration::ZERO).expect("a loopback port");
    // Refused as a rule; where another test listens there, it is that one's connection.
    let _stranger = TcpStream::connect(("127.0.0.1", origin.address().port()));
    let mut stream = connect(&origin);
    stream.write_all(REQUEST).expect("it reads");
    assert!(stream.read(&mut [0; 512]).is_ok_and(|length| length > 0), "it answers");
    assert!(origin.address().ip().is_loopback(), "{} is no loopback address", origin.address());
    assert_eq!(origin.ledger().connections, 1);
}

#[test]
fn the_function_sees_number_path_and_connection_and_bodies_are_skipped() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let notes = std::sync::Arc::clone(&seen);
    let origin = Origin::start(move |arrival| {
        let words = (arrival.number, arrival.connection, format!("{} {}", arrival.method, arrival.path));
        notes.lock().expect("nobody panics here").push(words);
        Reply::After(Duration::ZERO)
    })
    .expect("a loopback port");
    let mut buffer = [0; 512];
    for _ in 0..2 {
        let mut stream = connect(&origin);
        stream.write_all(b"POST /up HTTP/1.1\r\nContent-Length: 9\r\n\r\nGET / HT").expect("it reads");
        stream.write_all(b"T").expect("it reads");
        assert!(stream.read(&mut buffer).is_ok_and(|length| length > 0), "it answers");
    }
    let expected = [(0, 0, "POST /up".to_string()), (1, 1, "POST /up".to_string())];
    assert_eq!(*seen.lock().expect("nobody panics here"), expected);
}

#[test]
fn it_closes_drips_and_sends_rubbish_when_told_to() {
    let origin = Origin::start(|arrival| match arrival.number {
        0 => Reply::Drip(Duration::from_millis(5), b"abcd".to_vec()),
        1 => Reply::Bytes(Duration::ZERO, b"\0\xff".to_vec()),
        2 => Reply::BytesThenClose(Duration::ZERO, b"end".to_vec()),
        _ => Reply::Close(Duration::ZERO),
    })
    .expect("a loopback port");
    let mut stream = connect(&origin);
    let before = Instant::now();
    stream.write_all(REQUEST).expect("it reads");
    let mut four = [0; 4];
    stream.read_exact(&mut four).expect("all of them come");
    assert_eq!(&four, b"abcd");
    assert!(before.elapsed() >= Duration::from_millis(20), "four bytes in {:?}", before.elapsed());
    stream.write_all(REQUEST).expect("it reads");
    let mut two = [0; 2];
    stream.read_exact(&mut two).expect("rubbish comes");
    assert_eq!(two, [0, 0xff]);
    stream.write_all(REQUEST).expect("it reads");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("it ends well");
    assert_eq!(rest, b"end");
    let mut stream = connect(&origin);
    stream.write_all(REQUEST).expect("it reads");
    assert_eq!(stream.read(&mut four).expect("it ends well"), 0);
    assert_eq!(origin.ledger().exchanges[3].answered, None);
}

#[test]
fn a_refusing_port_refuses() {
    let refusing = Refusing::start().expect("a loopback port");
    let error = TcpStream::connect(refusing.address()).expect_err("nobody listens");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
}
