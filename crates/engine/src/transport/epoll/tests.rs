//! The transport on real sockets of every kind.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::time::Instant;

use super::*;
use crate::target::Endpoint;
use crate::transport::ConnectFault;

fn transport(target: impl Into<Target>) -> EpollTransport {
    let clock = MonotonicClock::default();
    clock.start_at(Instant::now());
    EpollTransport::new(&target.into(), clock).expect("epoll is there")
}

fn wait_for(transport: &mut EpollTransport, want: impl Fn(&Ready) -> bool) -> Vec<Ready> {
    let mut ready = Vec::new();
    while !ready.iter().any(&want) {
        let until = transport.clock.now_ns() + 5_000_000_000;
        transport.wait(until, &mut ready).expect("waiting works");
        assert!(transport.clock.now_ns() < until, "nothing came within 5 s: {ready:?}");
    }
    ready
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

fn connected(transport: &mut EpollTransport, listener: &TcpListener) -> TcpStream {
    transport.connect(0).expect("connecting starts");
    let (peer, _) = listener.accept().expect("a connection");
    wait_for(transport, |ready| ready.writable);
    transport.finish_connect(0).expect("it is connected");
    peer
}

fn from(address: SocketAddr, sources: &[[u8; 4]]) -> Target {
    let sources = sources.iter().map(|source| IpAddr::V4(Ipv4Addr::from(*source))).collect();
    Target { sources, ..address.into() }
}

/// A path for a socket that no other test uses.
fn socket_path(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("plimsoll-{}-{name}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn on_unix_socket(path: &std::path::Path) -> Target {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
    Target { endpoint: Endpoint::Unix(path.to_path_buf()), ..nowhere.into() }
}

#[test]
fn bytes_go_there_and_back() {
    let (listener, address) = listener();
    let mut transport = transport(address);
    let mut peer = connected(&mut transport, &listener);
    assert_eq!(transport.send(0, b"ping").ok(), Some(4));
    let mut got = [0; 4];
    peer.read_exact(&mut got).expect("the bytes arrive");
    peer.write_all(b"pong!").expect("the answer goes out");
    wait_for(&mut transport, |ready| ready.readable);
    let mut buffer = [0; 64];
    assert_eq!(transport.receive(0, &mut buffer).ok(), Some(5));
    drop(peer);
    wait_for(&mut transport, |ready| ready.readable);
    assert_eq!(transport.receive(0, &mut buffer).ok(), Some(0));
}

#[test]
fn bytes_go_there_and_back_over_ipv6() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        assert!(!std::path::Path::new("/proc/net/if_inet6").exists(), "IPv6 is there but ::1 is not");
        return;
    };
    let address = listener.local_addr().expect("an address");
    let source = "::1".parse().expect("an address");
    let mut transport = transport(Target { sources: vec![source], ..address.into() });
    let mut peer = connected(&mut transport, &listener);
    assert_eq!(peer.peer_addr().expect("an address").ip(), source);
    peer.write_all(b"six").expect("the answer goes out");
    wait_for(&mut transport, |ready| ready.readable);
    assert_eq!(transport.receive(0, &mut [0; 64]).ok(), Some(3));
}

#[test]
fn bytes_go_there_and_back_over_a_unix_socket() {
    let path = socket_path("there-and-back");
    let listener = UnixListener::bind(&path).expect("a socket file");
    let mut transport = transport(on_unix_socket(&path));
    transport.connect(0).expect("connecting works at once");
    let (mut peer, _) = listener.accept().expect("a connection");
    wait_for(&mut transport, |ready| ready.writable);
    transport.finish_connect(0).expect("it is connected");
    assert_eq!(transport.send(0, b"ping").ok(), Some(4));
    let mut got = [0; 4];
    peer.read_exact(&mut got).expect("the bytes arrive");
    peer.write_all(b"thrown away, kept").expect("the answer goes out");
    drop(peer);
    wait_for(&mut transport, |ready| ready.ended);
    assert_eq!(transport.discard(0, 13).ok(), Some(13));
    let mut buffer = [0; 64];
    assert_eq!(transport.receive(0, &mut buffer).ok(), Some(4));
    assert_eq!(&buffer[..4], b"kept");
    assert_eq!(transport.receive(0, &mut buffer).ok(), Some(0));
    std::fs::remove_file(&path).expect("the socket file was there");
}

#[test]
fn a_unix_socket_that_is_not_there_or_has_no_listener_says_which() {
    let path = socket_path("nobody");
    let mut transport = transport(on_unix_socket(&path));
    let fault = |result: io::Result<()>| ConnectFault::of(&result.expect_err("nobody is there"));
    assert_eq!(fault(transport.connect(0)), ConnectFault::NoSocketFile);
    drop(UnixListener::bind(&path).expect("a socket file"));
    assert_eq!(fault(transport.connect(0)), ConnectFault::Refused);
    std::fs::remove_file(&path).expect("the socket file was there");
}

#[test]
fn discarding_throws_away_what_came_but_no_more_than_asked() {
    let (listener, address) = listener();
    let mut transport = transport(address);
    let mut peer = connected(&mut transport, &listener);
    let nothing = transport.discard(0, 10).map_err(|error| error.kind());
    assert_eq!(nothing, Err(io::ErrorKind::WouldBlock));
    peer.write_all(&[b'x'; 1000]).expect("the answer goes out");
    peer.write_all(b"kept").expect("the answer goes out");
    drop(peer);
    wait_for(&mut transport, |ready| ready.ended);
    assert_eq!(transport.discard(0, 400).ok(), Some(400));
    assert_eq!(transport.discard(0, 600).ok(), Some(600));
    let mut buffer = [0; 64];
    assert_eq!(transport.receive(0, &mut buffer).ok(), Some(4));
    assert_eq!(&buffer[..4], b"kept");
    assert_eq!(transport.discard(0, 10).ok(), Some(0), "the end of the stream");
}

#[test]
fn a_unix_socket_throws_away_all_that_is_asked_for_when_it_has_come_already() {
    let path = socket_path("much");
    let listener = UnixListener::bind(&path).expect("a socket file");
    let mut transport = transport(on_unix_socket(&path));
    transport.connect(0).expect("connecting works at once");
    let (mut peer, _) = listener.accept().expect("a connection");
    // More than is thrown away with one call, less than the kernel queues; else this would wait for ever.
    peer.set_write_timeout(Some(std::time::Duration::from_secs(5))).expect("a limit");
    peer.write_all(&vec![b'x'; 100_000]).expect("the answer goes out");
    peer.write_all(b"kept").expect("the answer goes out");
    wait_for(&mut transport, |ready| ready.readable);
    assert_eq!(transport.discard(0, 100_000).ok(), Some(100_000));
    assert_eq!(transport.discard(0, 100_000).ok(), Some(4), "less than asked: nothing more has come");
    let nothing = transport.discard(0, 10).map_err(|error| error.kind());
    assert_eq!(nothing, Err(io::ErrorKind::WouldBlock));
    drop(peer);
    wait_for(&mut transport, |ready| ready.ended);
    assert_eq!(transport.discard(0, 10).ok(), Some(0), "the end of the stream");
    std::fs::remove_file(&path).expect("the socket file was there");
}

#[test]
fn after_a_short_read_what_comes_next_and_the_end_make_events_of_their_own() {
    let (listener, address) = listener();
    let mut transport = transport(address);
    let mut peer = connected(&mut transport, &listener);
    let mut buffer = [0; 64];
    for _ in 0..3 {
        peer.write_all(b"some").expect("the answer goes out");
        let ready = wait_for(&mut transport, |ready| ready.readable);
        assert!(!ready.iter().any(|ready| ready.ended), "{ready:?}");
        assert_eq!(transport.receive(0, &mut buffer).ok(), Some(4));
    }
    drop(peer);
    wait_for(&mut transport, |ready| ready.ended);
}

#[test]
fn a_refused_connection_is_told_and_not_hung() {
    let (listener, target) = listener();
    drop(listener);
    let mut transport = transport(target);
    if transport.connect(0).is_ok() {
        wait_for(&mut transport, |ready| ready.writable);
        let error = transport.finish_connect(0).expect_err("nobody listens");
        assert_eq!(ConnectFault::of(&error), ConnectFault::Refused, "{error}");
    }
}

#[test]
fn a_closed_slot_gets_no_event_of_its_former_connection() {
    let (listener, address) = listener();
    let mut transport = transport(address);
    let peer = connected(&mut transport, &listener);
    transport.close(0);
    drop(peer);
    let mut ready = Vec::new();
    let until = transport.clock.now_ns() + 20_000_000;
    transport.wait(until, &mut ready).expect("waiting works");
    assert_eq!(ready, []);
}

#[test]
fn connections_leave_from_the_source_addresses_in_turn() {
    let (listener, address) = listener();
    let sources = [[127, 0, 0, 2], [127, 0, 0, 3], [127, 0, 0, 4]];
    let mut transport = transport(from(address, &sources));
    let mut seen = Vec::new();
    for slot in 0..6 {
        transport.connect(slot).expect("connecting starts");
        let (_, peer) = listener.accept().expect("a connection");
        seen.push(peer.ip());
    }
    let expected: Vec<IpAddr> = sources.iter().cycle().take(6).map(|source| IpAddr::from(*source)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_source_that_is_not_this_machines_is_refused_before_the_first_connection() {
    let (_listener, address) = listener();
    let clock = MonotonicClock::default();
    // Reserved for documentation (RFC 5737): nobody's.
    let error = EpollTransport::new(&from(address, &[[127, 0, 0, 2], [192, 0, 2, 1]]), clock.clone());
    let message = error.err().expect("it can't be bound").to_string();
    assert!(message.contains("192.0.2.1"), "{message}");
    let six = Target { sources: vec!["::1".parse().expect("an address")], ..address.into() };
    let error = EpollTransport::new(&six, clock).err().expect("it is of another family");
    assert!(error.to_string().contains("family"), "{error}");
}
