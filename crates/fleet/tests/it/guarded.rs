//! A bus that is guarded: agents and their controller over TLS, each with a key of its own and no more rights than it needs.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use fleet::bus::{Announcer, Broker, BusError, Heard, Reader, Station, StreamOf};
use fleet::heartbeat::Heartbeat;
use fleet::want::Claim;
use fleet::{Authority, Certificate, Credentials, new_user_seed};
use model::record::plan::Load;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

use crate::agents::{Key, agents, controller, controller_at, expect_no_listener};
use crate::broker::Nats;
use crate::bus::{expect, expect_no_more, reader, tell, teller, voice};
use crate::guard::{Guard, lab};
use crate::runs::{expect_all_of, load, origin, pages, run};
use crate::wait::{LONG, wait_until};

fn broker(credentials: &Credentials) -> Broker {
    credentials.broker().unwrap_or_else(|why| panic!("{why}"))
}

/// Why nobody comes onto the bus with that.
fn refusal(broker: Broker) -> String {
    let stream = StreamOf { fleet: lab(), run: voice("a1").run, max_bytes: 1 << 20 };
    let began = std::time::Instant::now();
    let refused = Reader::begin(broker, stream, BTreeMap::new(), LONG).expect_err("it is refused");
    assert!(began.elapsed() < LONG / 2, "it was tried for {:?}", began.elapsed());
    assert!(matches!(refused, BusError::Unreachable { is_final: true, .. }), "{refused}");
    refused.to_string()
}

#[test]
fn agents_over_a_guarded_bus_drive_what_they_would_over_a_plain_one() {
    let Some(guard) = Guard::begin(&["a1", "a2"]) else { return };
    let Some(nats) = Nats::begin() else { return };
    let sessions = || Load { sessions: Some(400), ..load(20, 1e6) };
    let (plain, key, folder) = (origin(), Key::new(), tempfile::tempdir().expect("a folder"));
    let with_plain = agents(&nats, folder.path(), &["b1", "b2"], &key);
    let mut fleet = controller(&nats, &key, 2);
    let ran = run(&mut fleet, (&plain.address().into(), sessions()), |_| ());
    expect_all_of(&plain, &ran);
    drop(with_plain);

    let guarded = origin();
    let processes: Vec<_> = guard.agents.iter().map(|agent| guard.start(agent)).collect();
    let mut fleet = controller_at(broker(&guard.boss), &guard.key, 2);
    let ran = run(&mut fleet, (&guarded.address().into(), sessions()), |_| ());
    expect_all_of(&guarded, &ran);
    assert_eq!(pages(&plain), pages(&guarded));
    let driven = ran.driven.expect("it was looked at");
    for agent in &driven.agents {
        assert!(agent.late_ns.is_some() && agent.drift_ns.is_some(), "{agent:?}");
    }
    processes.iter().for_each(expect_no_listener);
    fleet.0.keep().unwrap_or_else(|problems| panic!("{problems}"));
    let is_empty = |agent| !guard.spools(agent).read_dir().is_ok_and(|mut dir| dir.next().is_some());
    wait_until("its spools are gone", || guard.agents.iter().all(is_empty));
}

#[test]
fn a_guarded_broker_that_is_killed_and_comes_back_costs_the_run_nothing() {
    let Some(mut guard) = Guard::begin(&["a1", "a2"]) else { return };
    let origin = origin();
    let processes: Vec<_> = guard.agents.iter().map(|agent| guard.start(agent)).collect();
    let mut fleet = controller_at(broker(&guard.boss), &guard.key, 2);
    let ran = run(&mut fleet, (&origin.address().into(), load(10, 6.0)), |second| {
        if second == 2 {
            guard.nats.kill();
            guard.nats.start();
        }
    });
    expect_all_of(&origin, &ran);
    drop(processes);
}

#[test]
fn nobody_comes_in_without_a_key_and_nobody_without_encryption() {
    let Some(guard) = Guard::begin(&["a1"]) else { return };
    let said = guard.stranger(None).map(drop).expect_err("it has no key");
    assert!(said.contains("authorization violation"), "{said}");
    guard.stranger(Some(&guard.agents[0])).map(drop).expect("an agent's key is good");
    let plain = format!("nats://127.0.0.1:{}", guard.nats.port());
    let said = refusal(Broker::local(plain));
    assert!(said.contains("it encrypts its connections"), "{said}");
    let mut socket = TcpStream::connect(("127.0.0.1", guard.nats.port())).expect("it listens");
    socket.set_read_timeout(Some(LONG)).expect("a time limit");
    socket.write_all(b"CONNECT {\"verbose\":true}\r\nPING\r\n").expect("it is connected");
    let mut said = Vec::new();
    // However it ends: it is the broker that ends it.
    _ = socket.read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("INFO") && !said.contains("PONG") && !said.contains("+OK"), "{said}");
}

/// A certificate of an authority for a broker on loopback, which is no longer valid.
fn expired() -> (String, Certificate) {
    let mut root = CertificateParams::new(Vec::new()).expect("no names");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_key = KeyPair::generate().expect("a key");
    let authority = root.self_signed(&root_key).expect("a certificate").pem();
    let issuer = Issuer::new(root, root_key);
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_string()]).expect("an address");
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let key = KeyPair::generate().expect("a key");
    let certificate_pem = params.signed_by(&key, &issuer).expect("a certificate").pem();
    (authority, Certificate { certificate_pem, key_pem: key.serialize_pem() })
}

#[test]
fn a_broker_that_is_not_the_fleet_s_is_not_spoken_with() {
    let Some(guard) = Guard::begin(&["a1"]) else { return };
    let right = &guard.agents[0];
    let authority = Authority::new(&lab()).expect("a key");
    let of_another = Credentials { authority: authority.certificate_pem.clone(), ..right.clone() };
    let said = refusal(broker(&of_another));
    assert!(said.contains("not of the authority in the credentials file"), "{said}");
    let of_nobody = Credentials { seed: new_user_seed().expect("a seed"), ..right.clone() };
    let said = refusal(broker(&of_nobody));
    assert!(said.contains("it refuses this key") && !said.contains(&of_nobody.seed), "{said}");
    let elsewhere = Credentials { broker: format!("tls://localhost:{}", guard.nats.port()), ..right.clone() };
    let said = refusal(broker(&elsewhere));
    assert!(said.contains("is for another host"), "{said}");
    let (authority, certificate) = expired();
    let Some(late) = Guard::with(&authority, &certificate, &["a1"]) else { return };
    let said = refusal(broker(&late.agents[0]));
    assert!(said.contains("has expired"), "{said}");
    let Some(plain) = Nats::begin() else { return };
    let plain = Credentials { broker: format!("tls://127.0.0.1:{}", plain.port()), ..right.clone() };
    let said = refusal(broker(&plain));
    assert!(said.contains("does not encrypt its connections"), "{said}");
}

#[test]
fn a_broker_is_reached_by_a_name_that_its_certificate_has() {
    let authority = Authority::new(&lab()).expect("a key");
    let hosts = ["bus.example".to_string(), "localhost".to_string()];
    let certificate = authority.broker_certificate(&hosts).expect("a certificate");
    let Some(guard) = Guard::with(&authority.certificate_pem, &certificate, &[]) else { return };
    let by_name =
        Credentials { broker: format!("tls://localhost:{}", guard.nats.port()), ..guard.boss.clone() };
    drop(reader(broker(&by_name), &[]));
    let said = refusal(broker(&guard.boss));
    assert!(said.contains("is for another host"), "{said}");
}

#[test]
fn an_agent_with_another_fleet_s_credentials_ends_and_says_why() {
    let Some(guard) = Guard::begin(&["a1"]) else { return };
    let authority = Authority::new(&lab()).expect("a key");
    let of_another = Credentials { authority: authority.certificate_pem, ..guard.agents[0].clone() };
    let words = guard.words(&of_another);
    let mut command = Command::new(&words[0]);
    let command = command.args(&words[1..]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it can be started");
    // It would end with its input.
    let input = process.stdin.take();
    let ended = process.wait_with_output().expect("it ends");
    drop(input);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("not of the authority"), "{said}");
    assert!(!said.contains(&of_another.seed), "{said}");
}

#[test]
fn an_agent_s_key_is_good_for_nothing_that_is_another_one_s() {
    let Some(guard) = Guard::begin(&["a1", "a2"]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let controller = reader(broker(&guard.boss), &[]);
    let other = guard.stranger(Some(&guard.agents[1])).expect("its key is good");
    for subject in [
        "pl.lab.r.r-1.a1.second",
        "pl.lab.r.r-1.a1.end",
        "pl.lab.beacon",
        "pl.lab.hb.a1",
        "pl.lab.kept.a1",
        "pl.lab.clock.a1",
        "_INBOX_boss.x",
        "$O.PL_lab_r-1.C.x",
        "$JS.API.STREAM.INFO.PL_lab_r-1",
        "$JS.API.STREAM.MSG.GET.PL_lab_r-1",
        "$JS.API.STREAM.DELETE.PL_lab_r-1",
        "$JS.API.STREAM.PURGE.PL_lab_r-1",
        "$JS.API.STREAM.CREATE.x",
        "$JS.API.CONSUMER.CREATE.PL_lab_r-1",
        "$JS.API.CONSUMER.CREATE.PL_lab_r-1.x.pl.lab.r.r-1.a2.second",
        "$JS.API.CONSUMER.DURABLE.CREATE.PL_lab_r-1.x",
        "$JS.API.STREAM.NAMES",
        "$SYS.REQ.SERVER.PING",
    ] {
        other.expect_no_publishing(subject);
    }
    for subject in [
        "pl.lab.kept.a1",
        "pl.lab.clock.a1",
        "pl.lab.hb.*",
        "pl.lab.>",
        ">",
        "_INBOX_a1.>",
        "_INBOX_boss.>",
        "$O.>",
    ] {
        other.expect_no_subscribing(subject);
    }
    // The broker drops a message whose id it knows, whoever told the first one.
    for number in 0..3 {
        let id = format!("r-1.a1.7.{number}.0");
        other.publish("pl.lab.r.r-1.a2.event", Some(("Nats-Msg-Id", &id)), (None, ""));
    }
    let own = teller(broker(&guard.agents[0]), "a1", folder.path());
    tell(&own, 0..3);
    expect(&controller, 0..3);
    expect_no_more(&controller);
}

#[test]
fn an_agent_does_not_speak_for_another_one_under_its_own_name() {
    let Some(guard) = Guard::begin(&["a1", "a2"]) else { return };
    let key = guard.key.signer();
    let announcer = Announcer::begin(broker(&guard.boss), key, Claim::of(1, "a test"), LONG)
        .unwrap_or_else(|error| panic!("{error}"));
    let other = guard.stranger(Some(&guard.agents[1])).expect("its key is good");
    let says =
        |name: &str| serde_json::to_string(&Heartbeat::of(name, 1, "x", &[0])).expect("text and numbers");
    other.publish("pl.lab.hb.a2", None, (None, &says("a1")));
    other.publish("pl.lab.hb.a2", None, (None, &says("a2")));
    wait_until("the second one is heard", || !announcer.agents().is_empty());
    assert_eq!(announcer.agents().into_keys().collect::<Vec<_>>(), ["a2"]);
}

/// What was asked for; the controller's beacons come meanwhile, too.
fn fetched(station: &Station) -> Result<Vec<u8>, String> {
    loop {
        match station.next(LONG) {
            Some(Heard::Bundle { fetched, .. }) => return fetched,
            Some(Heard::Beacon { .. }) => (),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_agent_fetches_a_bundle_of_many_messages_and_reads_nothing_else() {
    let Some(guard) = Guard::begin(&["a1"]) else { return };
    let boss = Announcer::begin(broker(&guard.boss), guard.key.signer(), Claim::of(1, "a test"), LONG);
    let boss = boss.unwrap_or_else(|error| panic!("{error}"));
    let run = voice("a1").run;
    let bytes: Vec<u8> = (0..3_300_001u32).map(|number| (number / 7) as u8).collect();
    boss.put(&run, "before", vec![7; 600_000]).unwrap_or_else(|error| panic!("{error}"));
    boss.put(&run, "it", bytes.clone()).unwrap_or_else(|error| panic!("{error}"));
    let station =
        Station::begin(broker(&guard.agents[0]), lab(), Heartbeat::of("a1", 1, "x", &[0])).expect("a thread");
    assert!(matches!(station.next(LONG), Some(Heard::Connected)), "it is connected");
    wait_until("it is connected", || !boss.agents().is_empty());
    let fetch = |name: &str| {
        station.fetch(run.clone(), name.to_string());
        fetched(&station)
    };
    assert!(fetch("it").is_ok_and(|it| it == bytes), "it is another one");
    assert!(fetch("other").is_err_and(|why| why.contains("doesn't have the bundle")));
    // The run's stream answers nobody who asks this way.
    let _stream = reader(broker(&guard.boss), &[]);
    let stranger = guard.stranger(Some(&guard.agents[0])).expect("its key is good");
    let own = teller(broker(&guard.agents[0]), "a1", &guard.spools(&guard.agents[0]));
    tell(&own, 0..1);
    wait_until("it is there", || own.telling().acknowledged == 1);
    let asking = stranger.client.request("$JS.API.DIRECT.GET.PL_lab_r-1", r#"{"seq":1}"#.into());
    let asking = async { tokio::time::timeout(Duration::from_secs(1), asking).await };
    let answered = stranger.runtime.block_on(asking);
    assert!(!matches!(answered, Ok(Ok(_))), "{answered:?}");
}

/// The broker sends an answer wherever the question says, its own API included: what a publication is acknowledged with, and what it
/// says of a message that isn't there, which is empty, as some requests are.
#[test]
fn an_answer_that_goes_to_the_broker_s_api_removes_nothing() {
    let Some(guard) = Guard::begin(&["a1", "a2"]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let first = reader(broker(&guard.boss), &[]);
    let boss = Announcer::begin(broker(&guard.boss), guard.key.signer(), Claim::of(1, "a test"), LONG);
    let boss = boss.unwrap_or_else(|error| panic!("{error}"));
    let run = voice("a1").run;
    boss.put(&run, "it", vec![7; 3_000_000]).unwrap_or_else(|error| panic!("{error}"));
    let own = teller(broker(&guard.agents[0]), "a1", folder.path());
    tell(&own, 0..10);
    expect(&first, 0..10);
    let other = guard.stranger(Some(&guard.agents[1])).expect("its key is good");
    for stream in ["PL_lab_r-1", "OBJ_PL_lab_r-1"] {
        for api in ["STREAM.PURGE", "STREAM.MSG.DELETE", "STREAM.DELETE", "STREAM.UPDATE", "STREAM.SNAPSHOT"]
        {
            let reply = format!("$JS.API.{api}.{stream}");
            for _ in 0..12 {
                other.publish("pl.lab.r.r-1.a2.event", None, (Some(&reply), ""));
            }
            for seq in [1, 999_999] {
                let question = format!(r#"{{"seq":{seq}}}"#);
                other.publish("$JS.API.DIRECT.GET.OBJ_PL_lab_r-1", None, (Some(&reply), &question));
            }
        }
    }
    // What the broker does then it does at once.
    thread::sleep(Duration::from_secs(1));
    drop(first);
    let second = reader(broker(&guard.boss), &[]);
    expect(&second, 0..10);
    let station =
        Station::begin(broker(&guard.agents[0]), lab(), Heartbeat::of("a1", 1, "x", &[0])).expect("a thread");
    assert!(matches!(station.next(LONG), Some(Heard::Connected)), "it is connected");
    wait_until("it is connected", || !boss.agents().is_empty());
    station.fetch(run, "it".to_string());
    let bytes = fetched(&station).unwrap_or_else(|why| panic!("the bundle is gone: {why}"));
    assert!(bytes == [7; 3_000_000], "{} bytes of it are left", bytes.len());
}
