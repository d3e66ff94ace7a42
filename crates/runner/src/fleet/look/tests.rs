use std::net::{Ipv4Addr, TcpListener};

use engine::{Tls, Trust};
use fleet::permissions::{Allowed, Permissions};

use super::*;

fn taken() -> Look {
    let address = SocketAddr::from(([10, 0, 0, 5], 80));
    Look {
        version: VERSION,
        cpus: vec![1, 2],
        steal_ratio: Some(0.01),
        port_range: (32_768, 60_999),
        ports: 28_232,
        max_open_files: None,
        null_server: Some(NullServerLook::Measured {
            requests_per_s: 25_000.0,
            lag_p99_s: 0.001,
            waited_ratio: 0.0,
            steal_ratio: None,
            shares_cpus: true,
        }),
        target: Some(TargetLook {
            resolved: vec![address.ip()],
            ways: vec![
                Way { address, end: WayEnd::Connected { connect_s: 0.001, tls_s: Some(0.002) } },
                Way { address, end: WayEnd::NotAllowed { why: "no".to_string() } },
            ],
        }),
    }
}

#[test]
fn an_answer_is_read_as_it_was_written() {
    let text = serde_json::to_string(&taken()).expect("JSON");
    assert_eq!(Look::read(&format!("{text}\n")), Ok(taken()));
    assert!(!text.contains('\n'), "it is one line");
    // A later program may say more of what it says now.
    let more = text.replacen('{', "{\"colour\": \"red\", ", 1);
    assert_eq!(Look::read(&more), Ok(taken()));
}

#[test]
fn rubbish_a_long_answer_and_one_of_a_newer_program_are_refused_without_their_words() {
    let text = serde_json::to_string(&taken()).expect("JSON");
    let newer = text.replacen("\"version\":1", "\"version\":2,\"of\":\"EVIL\"", 1);
    let cut = &text[..text.len() / 2];
    let other = text.replace("28232", "\"EVIL \u{1b}[2J\"");
    let long = format!("{text}{}", " ".repeat(MAX_ANSWER_BYTES));
    for (answer, why) in [
        ("", "not one of `plimsoll agent --look`"),
        ("EVIL \u{1b}[2J", "wrong at line 1, column 1"),
        ("{\"EVIL\": 1}", "not one of"),
        (cut, "not one of"),
        (&other, "not one of"),
        (&format!("{text}{text}"), "not one of"),
        (&long, "at most 32768 are read"),
        (&newer, "version 2, and this program reads 1"),
    ] {
        let said = Look::read(answer).expect_err(answer);
        assert!(said.contains(why) && !said.contains("EVIL") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn a_question_that_is_none_or_of_a_newer_program_is_refused() {
    let ask = |text: &str| answer(text.as_bytes(), &AgentAsked::default(), &Interrupt::default());
    for (text, why) in [
        ("", "can't be read"),
        ("what?", "can't be read"),
        ("{\"version\": 2, \"null_server\": false, \"target\": null}", "version 2"),
    ] {
        let said = ask(text).expect_err(text).to_string();
        assert!(said.contains(why), "{said}");
    }
}

fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

fn way_to(address: SocketAddr, tls: Option<Tls>, permissions: &Permissions) -> TargetLook {
    let asked = TargetAsked { host: "localhost".to_string(), addresses: vec![address], tls };
    target::look(&asked, permissions, &Interrupt::default()).expect("nobody stops it")
}

#[test]
fn a_server_that_listens_is_connected_to_and_one_that_is_gone_is_not() {
    let (listener, address) = listening();
    let found = way_to(address, None, &Permissions::default());
    assert!(
        matches!(found.ways[0].end, WayEnd::Connected { tls_s: None, connect_s } if connect_s > 0.0),
        "{found:?}"
    );
    assert!(found.resolved.contains(&IpAddr::V4(Ipv4Addr::LOCALHOST)), "{found:?}");
    drop(listener);
    let found = way_to(address, None, &Permissions::default());
    assert!(matches!(&found.ways[0].end, WayEnd::Failed { why } if why.contains("refused")), "{found:?}");
}

#[test]
fn a_server_that_the_operator_does_not_allow_gets_no_packet_and_its_name_is_not_looked_up() {
    // 0.0.0.0 is this machine, and no loopback address.
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    listener.set_nonblocking(true).expect("it can be asked");
    let address =
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, listener.local_addr().expect("it is bound").port()));
    let brief = Permissions { max_duration_s: Some(1.0), ..Permissions::default() };
    let found = way_to(address, None, &brief);
    assert!(
        matches!(&found.ways[0].end, WayEnd::NotAllowed { why } if why.contains("not among the `targets`")),
        "{found:?}"
    );
    assert_eq!(found.resolved, [] as [IpAddr; 0]);
    assert!(listener.accept().is_err(), "nobody has come");
    let allowed = Permissions { targets: vec![Allowed::read("0.0.0.0").expect("one")], ..brief };
    let found = way_to(address, None, &allowed);
    assert!(matches!(found.ways[0].end, WayEnd::Connected { .. }), "{found:?}");
    assert!(listener.accept().is_ok(), "this time somebody has");
}

#[test]
fn a_handshake_is_timed_and_a_server_that_does_not_encrypt_or_is_not_believed_is_said() {
    let made = rcgen::generate_simple_self_signed(vec!["shop.example".to_string()]).expect("a certificate");
    let config = rustls::ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![made.cert.der().clone()],
            rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into(),
        )
        .expect("a key");
    let config = std::sync::Arc::new(config);
    let (listener, address) = listening();
    // It ends with the process: nobody waits for it.
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut tls = rustls::ServerConnection::new(config.clone()).expect("a connection");
            while tls.is_handshaking() && tls.complete_io(&mut connection).is_ok() {}
        }
    });
    let tls = |trust| Some(Tls { server_name: "shop.example".to_string(), trust, resumption_ratio: 0.0 });
    let end = |address, trust| way_to(address, tls(trust), &Permissions::default()).ways.remove(0).end;
    let found = end(address, Trust::Roots(made.cert.pem().into_bytes()));
    assert!(matches!(found, WayEnd::Connected { tls_s: Some(tls_s), .. } if tls_s > 0.0), "{found:?}");
    assert!(matches!(end(address, Trust::Anybody), WayEnd::Connected { .. }));
    let other = rcgen::generate_simple_self_signed(vec!["shop.example".to_string()]).expect("a certificate");
    let found = end(address, Trust::Roots(other.cert.pem().into_bytes()));
    assert!(matches!(&found, WayEnd::Failed { why } if why.contains("TLS doesn't")), "{found:?}");
    let plain = engine::null_server::NullServer::start(None).expect("a loopback port");
    let found = end(plain.address(), Trust::Anybody);
    assert!(matches!(&found, WayEnd::Failed { why } if why.contains("TLS doesn't")), "{found:?}");
}
