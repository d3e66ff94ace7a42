//! HTTPS through the whole engine, against a server of rustls' own on a real socket.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::scenario::ConnectionPolicy;
use engine::{
    Audience, Control, Program, RunOptions, Scenario, Second, Source, Target, Tls, Totals, Trust, run,
};
use model::record::plan::Load;
use model::{Interval, Result};
use rustls::{HandshakeKind, ServerConfig, ServerConnection, Stream};

struct Sum(Interval);

impl Audience for Sum {
    fn second(&mut self, second: &Second<'_>) -> Result<()> {
        self.0.merge(second.interval);
        Ok(())
    }
}

/// A server for `localhost`; ends with the test's process. Its threads end with their connections.
struct Server {
    address: SocketAddr,
    certificate: Vec<u8>,
    resumed: Arc<AtomicU64>,
}

const BIG_BYTES: usize = 3_000_000;

fn server() -> Server {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).expect("a certificate");
    let key = rustls::pki_types::PrivateKeyDer::try_from(pair.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_no_client_auth().with_single_cert(vec![pair.cert.der().clone()], key)
        })
        .expect("a configuration");
    let (config, resumed) = (Arc::new(config), Arc::new(AtomicU64::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let count = Arc::clone(&resumed);
    std::thread::spawn(move || {
        for peer in listener.incoming().flatten() {
            let (config, count) = (Arc::clone(&config), Arc::clone(&count));
            std::thread::spawn(move || serve(peer, config, &count));
        }
    });
    Server { address, certificate: pair.cert.pem().into_bytes(), resumed }
}

/// Answers requests on one connection; what goes wrong ends it, and the run under test tells.
fn serve(mut peer: TcpStream, config: Arc<ServerConfig>, resumed: &AtomicU64) {
    let Ok(mut session) = ServerConnection::new(config) else { return };
    let mut stream = Stream::new(&mut session, &mut peer);
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    let mut counted = false;
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        if !std::mem::replace(&mut counted, true)
            && stream.conn.handshake_kind() == Some(HandshakeKind::Resumed)
        {
            resumed.fetch_add(1, Ordering::Relaxed);
        }
        text.extend_from_slice(&buffer[..length]);
        while let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = if text.starts_with(b"GET /big ") { vec![b'x'; BIG_BYTES] } else { b"hello".to_vec() };
            let closes = text[..end].windows(17).any(|window| window == b"Connection: close");
            text.drain(..end + 4);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).is_err() || closes {
                stream.conn.send_close_notify();
                let _ = stream.flush();
                return;
            }
        }
    }
}

fn target(server: &Server, trust: Trust, resumption_ratio: f64) -> Target {
    let tls = Tls { server_name: "localhost".to_string(), trust, resumption_ratio };
    Target { tls: Some(tls), ..server.address.into() }
}

fn drive(target: Target, script: &str, policy: ConnectionPolicy) -> (Totals, Interval) {
    let source = Source::of("session.lua", script, "visit");
    let scenario = Scenario { connections: policy, timeout_s: 10.0, ..Scenario::of(Program::Script(source)) };
    let load = Load { users: 5, ..Load::default() };
    let options = RunOptions { max_sessions: Some(4), ..RunOptions::of(scenario, load, target) };
    let mut sum = Sum(Interval::empty(0));
    let totals = run(&options, &Control::default(), &mut sum).expect("the run works");
    (totals, sum.0)
}

const SCRIPT: &str = "function visit() get('/a') local p = get('/big') check(#p == 3000000, 'whole') end";

#[test]
fn a_session_over_tls_gets_whole_answers_on_a_kept_connection() {
    let server = server();
    let trust = Trust::Roots(server.certificate.clone());
    let (totals, whole) = drive(target(&server, trust, 0.0), SCRIPT, ConnectionPolicy::Keep);
    assert!(totals.evidence.is_empty(), "{:#?}", totals.evidence);
    assert_eq!((totals.connects, whole.wire.handshakes, whole.wire.resumptions), (5, 5, 0));
    assert_eq!(whole.phases.tls.len(), 5, "handshakes are timed apart");
    assert!(
        whole.phases.tls.max() > whole.phases.connect.min(),
        "a handshake takes longer than a connection"
    );
}

#[test]
fn resumption_is_offered_to_a_share_of_the_connections_and_counted_as_the_server_counts_it() {
    let script = "function visit() get('/a') get('/b') end";
    for (ratio, least, most) in [(0.0, 0, 0), (0.5, 5, 30), (1.0, 35, 35)] {
        let server = server();
        let trust = Trust::Roots(server.certificate.clone());
        let (totals, whole) = drive(target(&server, trust, ratio), script, ConnectionPolicy::PerRequest);
        assert!(totals.evidence.is_empty(), "{:#?}", totals.evidence);
        assert_eq!(whole.wire.handshakes, 40, "five users, four sessions, two requests");
        assert_eq!(whole.wire.resumptions, server.resumed.load(Ordering::Relaxed), "ratio {ratio}");
        assert!(
            (least..=most).contains(&whole.wire.resumptions),
            "ratio {ratio}: {}",
            whole.wire.resumptions
        );
    }
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused_unless_anybody_will_do() {
    let server = server();
    let stranger = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).expect("a certificate");
    let roots = Trust::Roots(stranger.cert.pem().into_bytes());
    let (totals, _) = drive(target(&server, roots, 0.0), SCRIPT, ConnectionPolicy::Keep);
    let first = totals.evidence.first().expect("an error");
    assert_eq!(first.kind, "connect");
    assert!(first.message.starts_with("TLS: "), "{}", first.message);
    let (totals, _) = drive(target(&server, Trust::Anybody, 0.0), SCRIPT, ConnectionPolicy::Keep);
    assert!(totals.evidence.is_empty(), "{:#?}", totals.evidence);
}

#[test]
fn plain_http_where_tls_was_meant_is_named_as_such() {
    let tls = Tls { server_name: "localhost".to_string(), trust: Trust::Anybody, resumption_ratio: 0.0 };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            let _ = peer.read(&mut [0; 4096]);
            let _ = peer.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let target = Target { tls: Some(tls), ..address.into() };
    let (totals, _) = drive(target, SCRIPT, ConnectionPolicy::Keep);
    let first = totals.evidence.first().expect("an error");
    assert_eq!(first.kind, "connect");
    assert!(first.message.contains("plain HTTP"), "{}", first.message);
}

#[test]
fn users_live_on_when_a_server_answers_rubbish_and_resets() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            // The hello is there and is not read: closing then resets.
            let _ = peer.peek(&mut [0; 1]);
            let _ = peer.write_all(b"\x17\x03\x03\x00\x01x");
        }
    });
    let tls = Tls { server_name: "localhost".to_string(), trust: Trust::Anybody, resumption_ratio: 0.0 };
    let target = Target { tls: Some(tls), ..address.into() };
    // The script computes for a while, so that the reset is there before the rubbish is read.
    let script = "function visit() for _ = 1, 500000 do end get('/') end";
    let (totals, _) = drive(target, script, ConnectionPolicy::Keep);
    let session =
        totals.names.iter().position(|name| name.kind == model::OperationKind::Session).expect("a row");
    assert_eq!(totals.failed[session], 5 * 4, "each of five users goes through its four sessions");
}
