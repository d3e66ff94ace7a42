//! Channels against a server in the same thread.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use super::*;
use crate::target::Trust;

/// No two authorities have the same name.
static AUTHORITIES: AtomicU32 = AtomicU32::new(0);

/// An authority, and a server's configuration with a certificate that it signed.
struct Site {
    root_pem: Vec<u8>,
    server: Arc<ServerConfig>,
}

impl Site {
    fn named(name: &str) -> Site {
        Site::with(name, |_| {}, |_| {})
    }

    fn with(
        name: &str,
        certificate: impl FnOnce(&mut CertificateParams),
        server: impl FnOnce(&mut ServerConfig),
    ) -> Site {
        let mut root = CertificateParams::new(Vec::new()).expect("no names");
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let number = AUTHORITIES.fetch_add(1, Ordering::Relaxed);
        root.distinguished_name.push(DnType::CommonName, format!("authority {number}"));
        let root_key = KeyPair::generate().expect("a key");
        let root_pem = root.self_signed(&root_key).expect("a certificate").pem().into_bytes();
        let issuer = Issuer::new(root, root_key);
        let mut params = CertificateParams::new(vec![name.to_string()]).expect("a name");
        certificate(&mut params);
        let key = KeyPair::generate().expect("a key");
        let chain = vec![params.signed_by(&key, &issuer).expect("a certificate").der().clone()];
        Site { root_pem, server: serving(chain, &key, server) }
    }

    fn server(&self) -> ServerConnection {
        ServerConnection::new(Arc::clone(&self.server)).expect("a server")
    }

    fn setup(&self, resumption_ratio: f64) -> TlsSetup {
        setup("web.test", Trust::Roots(self.root_pem.clone()), resumption_ratio)
    }
}

fn serving(
    chain: Vec<CertificateDer<'static>>,
    key: &KeyPair,
    change: impl FnOnce(&mut ServerConfig),
) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("the key fits");
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ticketer = ring::Ticketer::new().expect("tickets");
    change(&mut config);
    Arc::new(config)
}

fn setup(name: &str, trust: Trust, resumption_ratio: f64) -> TlsSetup {
    TlsSetup::new(&Tls { server_name: name.into(), trust, resumption_ratio }).expect("a setup")
}

/// A channel that offers nothing.
fn fresh(setup: &TlsSetup) -> TlsChannel {
    setup.open(&mut None, 1.0).expect("a channel")
}

/// Carries bytes both ways, `step` at a time, until neither has anything to say or the server has sent `max` bytes.
/// What the client reads comes back.
fn talk(
    client: &mut TlsChannel,
    server: &mut ServerConnection,
    step: usize,
    max: usize,
) -> Result<Vec<u8>, TlsFault> {
    let (mut plaintext, mut left) = (Vec::new(), max);
    loop {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        client.pull(&mut up)?;
        let mut rest = &up[..];
        while !rest.is_empty() {
            server.read_tls(&mut rest).expect("bytes from memory");
            // A server that dislikes what it gets says so in an alert.
            let _ = server.process_new_packets();
        }
        while server.wants_write() {
            server.write_tls(&mut down).expect("bytes to memory");
        }
        if up.is_empty() && down.is_empty() {
            return Ok(plaintext);
        }
        down.truncate(left);
        left -= down.len();
        for bytes in down.chunks(step) {
            client.push(bytes, &mut plaintext)?;
        }
        if left == 0 {
            return Ok(plaintext);
        }
    }
}

fn talk_freely(client: &mut TlsChannel, server: &mut ServerConnection) -> Result<Vec<u8>, TlsFault> {
    talk(client, server, usize::MAX, usize::MAX)
}

fn received(server: &mut ServerConnection) -> Vec<u8> {
    let mut got = Vec::new();
    // The end of what is there is WouldBlock.
    let _ = server.reader().read_to_end(&mut got);
    got
}

/// One request and its answer on a new connection; true when the server resumed a session.
fn visit(setup: &TlsSetup, site: &Site, wallet: &mut Option<Box<Wallet>>, draw: f64) -> bool {
    let mut client = setup.open(wallet, draw).expect("a channel");
    let mut server = site.server();
    talk_freely(&mut client, &mut server).expect("the handshake works");
    assert!(!client.handshaking());
    let resumed = server.handshake_kind() == Some(HandshakeKind::Resumed);
    assert_eq!(client.resumed(), resumed, "both sides agree");
    resumed
}

#[test]
fn a_request_written_before_the_handshake_arrives_after_it_and_is_answered() {
    let site = Site::named("web.test");
    let (mut client, mut server) = (fresh(&site.setup(0.0)), site.server());
    assert!(client.handshaking());
    assert_eq!(client.write(b"GET / HTTP/1.1\r\n\r\n"), Ok(18));
    assert_eq!(talk_freely(&mut client, &mut server), Ok(Vec::new()));
    assert!(!client.handshaking() && !client.resumed());
    assert_eq!(client.protocol(), Some(&b"http/1.1"[..]));
    assert_eq!(received(&mut server), b"GET / HTTP/1.1\r\n\r\n");
    server.writer().write_all(b"HTTP/1.1 204 No\r\n\r\n").expect("room");
    assert_eq!(talk_freely(&mut client, &mut server).as_deref(), Ok(&b"HTTP/1.1 204 No\r\n\r\n"[..]));
}

#[test]
fn a_server_of_tls_1_2_is_understood_and_resumes_too() {
    let mut site = Site::named("web.test");
    let config = Arc::get_mut(&mut site.server).expect("nobody else has it");
    let only_12 = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .expect("a version")
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(&config.cert_resolver));
    *config = only_12;
    let (setup, mut wallet) = (site.setup(1.0), None);
    assert!(!visit(&setup, &site, &mut wallet, 0.5));
    assert!(visit(&setup, &site, &mut wallet, 0.5));
}

#[test]
fn bytes_one_by_one_say_the_same_as_all_at_once() {
    let site = Site::named("web.test");
    let (mut client, mut server) = (fresh(&site.setup(0.0)), site.server());
    talk(&mut client, &mut server, 1, usize::MAX).expect("the handshake works");
    server.writer().write_all(b"drop by drop").expect("room");
    let got = talk(&mut client, &mut server, 1, usize::MAX);
    assert_eq!(got.as_deref(), Ok(&b"drop by drop"[..]));
}

#[test]
fn a_user_resumes_its_own_sessions_and_nobody_elses() {
    let site = Site::named("web.test");
    let setup = site.setup(1.0);
    let (mut ann, mut bob) = (None, None);
    assert!(!visit(&setup, &site, &mut ann, 0.5), "there is nothing to resume yet");
    assert!(visit(&setup, &site, &mut ann, 0.5));
    assert!(!visit(&setup, &site, &mut bob, 0.5), "Ann's ticket is not Bob's");
    assert!(visit(&setup, &site, &mut bob, 0.5));
}

#[test]
fn without_resumption_every_handshake_is_a_full_one() {
    let site = Site::named("web.test");
    let (setup, mut wallet) = (site.setup(0.0), None);
    assert!((0..3).all(|_| !visit(&setup, &site, &mut wallet, 0.0)));
    assert!(wallet.is_none(), "nothing is kept");
}

#[test]
fn the_ratio_is_the_share_of_connections_that_resume() {
    let site = Site::named("web.test");
    let (setup, mut wallet) = (site.setup(0.3), None);
    visit(&setup, &site, &mut wallet, 0.99);
    let resumed = (0..100).filter(|draw| visit(&setup, &site, &mut wallet, f64::from(*draw) / 100.0)).count();
    assert_eq!(resumed, 30, "each draw below 0.3 and no other");
}

fn refusal(setup: &TlsSetup, site: &Site) -> TlsFault {
    let (mut client, mut server) = (fresh(setup), site.server());
    let fault = talk_freely(&mut client, &mut server).expect_err("the certificate is no good");
    assert!(client.handshaking());
    let mut alert = Vec::new();
    client.pull(&mut alert).expect("memory");
    assert!(!alert.is_empty(), "the server is told");
    fault
}

#[test]
fn a_certificate_for_another_name_is_refused_with_the_names() {
    let site = Site::named("other.test");
    let fault = refusal(&site.setup(0.0), &site);
    assert!(matches!(fault, TlsFault::WrongName(_)), "{fault:?}");
    let words = fault.to_string();
    assert!(words.contains("web.test") && words.contains("other.test"), "{words}");
}

#[test]
fn a_certificate_of_an_unknown_issuer_is_refused() {
    let (site, stranger) = (Site::named("web.test"), Site::named("web.test"));
    assert_eq!(refusal(&stranger.setup(0.0), &site), TlsFault::UnknownIssuer);
}

/// A site whose certificate is its own authority.
fn on_its_own(name: &str, is_ca: IsCa) -> Site {
    let mut params = CertificateParams::new(vec![name.to_string()]).expect("a name");
    params.is_ca = is_ca;
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let server = serving(vec![certificate.der().clone()], &key, |_| {});
    Site { root_pem: certificate.pem().into_bytes(), server }
}

const BOTH_KINDS: [IsCa; 2] = [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)];

#[test]
fn a_certificate_that_signs_itself_is_refused_as_nobodys() {
    let stranger = Site::named("web.test").setup(0.0);
    for is_ca in BOTH_KINDS {
        assert_eq!(refusal(&stranger, &on_its_own("web.test", is_ca)), TlsFault::UnknownIssuer);
    }
}

#[test]
fn a_certificate_that_signs_itself_is_believed_when_it_is_given_and_for_its_own_name_only() {
    for is_ca in BOTH_KINDS {
        let site = on_its_own("web.test", is_ca);
        assert!(!visit(&site.setup(0.0), &site, &mut None, 0.0));
        let other = on_its_own("other.test", is_ca);
        let fault = refusal(&other.setup(0.0), &other);
        assert!(matches!(fault, TlsFault::WrongName(_)), "{fault:?}");
    }
}

#[test]
fn a_certificate_that_has_expired_or_is_not_valid_yet_is_refused() {
    let old = Site::with("web.test", |params| params.not_after = date_time_ymd(2020, 1, 1), |_| {});
    assert_eq!(refusal(&old.setup(0.0), &old), TlsFault::Expired);
    let young = Site::with("web.test", |params| params.not_before = date_time_ymd(2999, 1, 1), |_| {});
    assert_eq!(refusal(&young.setup(0.0), &young), TlsFault::NotYetValid);
}

#[test]
fn whoever_trusts_anybody_gets_through_with_any_certificate() {
    let site = Site::with("other.test", |params| params.not_after = date_time_ymd(2020, 1, 1), |_| {});
    let setup = setup("web.test", Trust::Anybody, 0.0);
    assert!(!visit(&setup, &site, &mut None, 0.0));
}

#[test]
fn a_server_without_a_common_protocol_is_said_to_have_none() {
    let site = Site::with("web.test", |_| {}, |config| config.alpn_protocols = vec![b"h9".to_vec()]);
    let (mut client, mut server) = (fresh(&site.setup(0.0)), site.server());
    let fault = talk_freely(&mut client, &mut server).expect_err("no protocol");
    assert_eq!(fault, TlsFault::Alert("NoApplicationProtocol".into()));
}

#[test]
fn an_answer_in_plain_http_or_anything_else_is_named() {
    let setup = Site::named("web.test").setup(0.0);
    let answers: [(&[u8], TlsFault); 3] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", TlsFault::PlainHttp),
        (b"<!DOCTYPE html><title>400</title>", TlsFault::PlainHttp),
        (b"SSH-2.0-OpenSSH_9.2\r\n", TlsFault::NotTls),
    ];
    for (answer, fault) in answers {
        for step in [1, answer.len()] {
            let mut client = fresh(&setup);
            let fed: Result<(), TlsFault> =
                answer.chunks(step).try_for_each(|bytes| client.push(bytes, &mut Vec::new()));
            assert_eq!(fed, Err(fault.clone()), "{step} bytes at a time");
        }
    }
}

#[test]
fn a_connection_closed_at_any_byte_of_the_handshake_is_an_error() {
    let site = Site::named("web.test");
    let setup = site.setup(0.0);
    for max in 0.. {
        let (mut client, mut server) = (fresh(&setup), site.server());
        let talked = talk(&mut client, &mut server, usize::MAX, max);
        assert_eq!(talked, Ok(Vec::new()), "after {max} bytes");
        if !client.handshaking() {
            assert!(max > 500, "a handshake of {max} bytes");
            assert_eq!(client.end_of_stream(), Err(TlsFault::CutOff));
            return;
        }
        assert_eq!(client.end_of_stream(), Err(TlsFault::EndedInHandshake), "after {max} bytes");
    }
}

#[test]
fn a_changed_byte_anywhere_in_the_servers_first_flight_never_panics_or_hangs() {
    let site = Site::named("web.test");
    let setup = site.setup(0.0);
    for position in 0.. {
        let (mut client, mut server) = (fresh(&setup), site.server());
        let (mut up, mut down) = (Vec::new(), Vec::new());
        client.pull(&mut up).expect("memory");
        server.read_tls(&mut &up[..]).expect("bytes from memory");
        server.process_new_packets().expect("the client is right");
        while server.wants_write() {
            server.write_tls(&mut down).expect("bytes to memory");
        }
        let Some(byte) = down.get_mut(position) else { return };
        *byte ^= 0x41;
        let mut plaintext = Vec::new();
        let _ = client.push(&down, &mut plaintext);
        assert_eq!(plaintext, b"");
        let _ = client.pull(&mut up);
    }
}

#[test]
fn the_end_with_and_without_a_word_are_told_apart() {
    let site = Site::named("web.test");
    let setup = site.setup(0.0);
    let (mut client, mut server) = (fresh(&setup), site.server());
    talk_freely(&mut client, &mut server).expect("the handshake works");
    assert_eq!(client.end_of_stream(), Err(TlsFault::CutOff));
    server.writer().write_all(b"the last").expect("room");
    server.send_close_notify();
    assert_eq!(talk_freely(&mut client, &mut server).as_deref(), Ok(&b"the last"[..]));
    assert!(client.closed());
    assert_eq!(client.end_of_stream(), Ok(()));
    let mut plaintext = Vec::new();
    assert_eq!(client.push(b"bytes after the end", &mut plaintext), Ok(()));
    assert_eq!(plaintext, b"");
}

#[test]
fn big_transfers_go_through_both_ways() {
    let site = Site::named("web.test");
    let (mut client, mut server) = (fresh(&site.setup(0.0)), site.server());
    server.set_buffer_limit(None);
    let body: Vec<u8> = (0..3_000_000_u32).map(|number| (number * 7 / 5) as u8).collect();
    server.writer().write_all(&body).expect("no limit");
    assert!(
        talk(&mut client, &mut server, 10_000, usize::MAX).as_ref() == Ok(&body),
        "what came is not what went"
    );
    let (mut sent, mut got) = (0, Vec::new());
    while sent < body.len() {
        let wrote = client.write(&body[sent..]).expect("the channel is open");
        assert!(wrote > 0, "there is room after each pull");
        sent += wrote;
        let mut up = Vec::new();
        client.pull(&mut up).expect("memory");
        let mut bytes = &up[..];
        while !bytes.is_empty() {
            server.read_tls(&mut bytes).expect("bytes from memory");
            server.process_new_packets().expect("the client is right");
            got.extend(received(&mut server));
        }
    }
    assert!(got == body, "what came is not what went");
}

#[test]
fn unusable_roots_and_names_are_problems_with_a_remedy() {
    let of = |name: &str, trust| {
        let tls = Tls { server_name: name.into(), trust, resumption_ratio: 0.0 };
        TlsSetup::new(&tls).expect_err("it is unusable").to_string()
    };
    assert!(of("web.test", Trust::Roots(b"nothing".to_vec())).contains("BEGIN CERTIFICATE"));
    assert!(of("no name", Trust::Anybody).contains("`no name`"));
}
