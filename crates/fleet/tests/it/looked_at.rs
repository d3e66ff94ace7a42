//! What can be found out about a guarded bus without disturbing anybody: who is let in, and how fast it is.

use std::fs;

use fleet::bus::{Broker, Listener, Name, is_open_to_anybody, is_open_without_key};
use fleet::{Authority, Credentials, new_user_seed};

use crate::broker::Nats;
use crate::guard::{Guard, lab};
use crate::wait::{LONG, wait_until};

fn broker(credentials: &Credentials) -> Broker {
    credentials.broker().unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn who_encrypts_and_has_no_key_is_let_in_by_a_broker_that_asks_for_none_and_refused_by_a_fleet_s() {
    let Some(guard) = Guard::begin(&[]) else { return };
    assert_eq!(is_open_without_key(&broker(&guard.boss)), Ok(false));

    let authority = Authority::new(&lab()).expect("a key");
    let certificate = authority.broker_certificate(&["127.0.0.1".to_string()]).expect("a certificate");
    let careless = Nats::configured(|listen, folder| {
        let [cert, key] =
            [("c.pem", &certificate.certificate_pem), ("k.pem", &certificate.key_pem)].map(|(name, text)| {
                let file = folder.join(name);
                fs::write(&file, text).expect("a file");
                file
            });
        format!("listen: \"{listen}\"\ntls {{ cert_file: {cert:?}, key_file: {key:?} }}\n")
    });
    let Some(careless) = careless else { return };
    let place = format!("127.0.0.1:{}", careless.port());
    let credentials = Credentials {
        broker: format!("tls://{place}"),
        fleet: lab().to_string(),
        name: "boss".to_string(),
        seed: new_user_seed().expect("a seed"),
        controllers: Vec::new(),
        authority: authority.certificate_pem,
    };
    assert_eq!(is_open_without_key(&broker(&credentials)), Ok(true));
    assert!(!is_open_to_anybody(&place), "it doesn't speak without encryption");
    // A stranger who believes another authority says nothing of whether a key is asked for, and gives nothing away.
    let other = Credentials { authority: guard.boss.authority.clone(), ..credentials };
    assert_eq!(is_open_without_key(&broker(&other)), Ok(false));
}

#[test]
fn how_fast_a_guarded_bus_is_both_ways_takes_no_right_that_an_agent_lacks() {
    let Some(guard) = Guard::begin(&["a1"]) else { return };
    let agent = guard.start(&guard.agents[0]);
    let listener = Listener { broker: broker(&guard.boss), fleet: lab(), connect_timeout: LONG };
    let [a1, nobody] = ["a1", "nobody"].map(|name| Name::of(name).expect("a name"));
    wait_until("the agent answers", || {
        listener.clock(&a1, 1).unwrap_or_else(|error| panic!("{error}")).len() == 1
    });
    let speed = listener.speed(&a1).unwrap_or_else(|error| panic!("{error}"));
    for (way, rate) in [("to", speed.to_agent_bytes_per_s), ("from", speed.from_agent_bytes_per_s)] {
        let rate = rate.unwrap_or_else(|| panic!("{way} it nothing came: {speed:?}"));
        // Half a MB within a second: anything on this machine does that.
        assert!((5e5..1e11).contains(&rate), "{way} it: {rate} bytes/s");
    }
    assert_eq!(listener.clock(&a1, 3).map(|answers| answers.len()), Ok(3), "its clock is told as before");
    let silent = listener.speed(&nobody).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((silent.to_agent_bytes_per_s, silent.from_agent_bytes_per_s), (None, None));
    drop(agent);
}
