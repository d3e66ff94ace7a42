//! Kills at times that nobody chose: what is lost with a broker, an agent or a controller. Each of these takes minutes, so the gate
//! leaves them out; `make test-long fleet` runs them, and `KILLS=100` says how many there are of each.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::agents::{Key, agents, controller, start};
use crate::broker::Nats;
use crate::job::{BUILD, bundle};
use crate::resuming::Scene;
use crate::runs::{LOST, Ran, expect_all_of, load, origin, run};
use crate::wait::wait_until;

/// How many kills of each part.
fn kills() -> u64 {
    std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// A time between these, of which each kill has another one: SplitMix64 of its number.
fn at(number: u64, from: Duration, to: Duration) -> Duration {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    from + (to - from).mul_f64(((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64)
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn of_brokers_nothing_is_lost() {
    for number in 0..kills() {
        let Some(mut nats) = Nats::begin() else { return };
        let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
        let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
        let mut fleet = controller(&nats, &key, 2);
        let kill_at = at(number, SECOND / 10, 5 * SECOND);
        // Down for up to two seconds.
        let down = at(number + 1_000_000, Duration::ZERO, 2 * SECOND);
        let ran: Ran = thread::scope(|scope| {
            let origin = &origin;
            let nats = &mut nats;
            scope.spawn(move || {
                wait_until("users are there", || !origin.ledger().exchanges.is_empty());
                thread::sleep(kill_at);
                nats.kill();
                thread::sleep(down);
                nats.start();
            });
            run(&mut fleet, (&origin.address().into(), load(10, 6.0)), |_| ())
        });
        println!("broker {number}: killed after {kill_at:?}, for {down:?}; {} seconds", ran.seconds.len());
        expect_all_of(&origin, &ran);
    }
}

#[test]
fn of_agents_a_second_is_lost_at_most() {
    for number in 0..kills() {
        let Some(nats) = Nats::begin() else { return };
        let (folder, key, origin) = (tempfile::tempdir().expect("a folder"), Key::new(), origin());
        let mut agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
        let mut fleet = controller(&nats, &key, 2);
        let kill_at = at(number, SECOND / 10, 5 * SECOND);
        let mut victim = agents.swap_remove((number % 2) as usize);
        let (ran, lived) = thread::scope(|scope| {
            let origin = &origin;
            let killing = scope.spawn(move || {
                wait_until("users are there", || !origin.ledger().exchanges.is_empty());
                let began = Instant::now();
                thread::sleep(kill_at);
                victim.kill();
                began.elapsed()
            });
            let ran = run(&mut fleet, (&origin.address().into(), load(10, 60.0)), |_| ());
            (ran, killing.join().expect("it was killed"))
        });
        let driven = ran.driven.unwrap_or_else(|problems| panic!("{problems}"));
        let lost: Vec<_> = driven.agents.iter().filter(|agent| agent.lost.as_deref() == Some(LOST)).collect();
        assert_eq!(lost.len(), 1, "{number}: {:?}", driven.agents);
        let (told, whole) = (lost[0].seconds.len() as u64, lived.as_secs());
        println!("agent {number}: killed after {lived:?}; {told} seconds of it came");
        assert!(told + 1 >= whole, "{number}: it lived for {lived:?}, and {told} seconds came");
        assert!(ran.seconds.len() as u64 >= told, "{number}: {} seconds of the run", ran.seconds.len());
    }
}

#[test]
fn of_controllers_that_are_replaced_nothing_is_lost() {
    for number in 0..kills() {
        let Some(mut scene) = Scene::begin(load(10, 8.0), 10) else { return };
        thread::sleep(at(number, SECOND / 10, 5 * SECOND));
        scene.controller.kill();
        // The lease ends before the run does only where nobody comes.
        let away = at(number + 2_000_000, Duration::ZERO, 5 * SECOND);
        thread::sleep(away);
        let (_controller, ran) = scene.resume(2);
        println!("controller {number}: replaced after {away:?}; {} seconds", ran.seconds.len());
        expect_all_of(&scene.origin, &ran);
        assert!(ran.seconds.len() >= 8, "{number}: {} seconds", ran.seconds.len());
    }
}

#[test]
fn of_controllers_the_load_ends_with_the_lease() {
    const LEASE_S: u64 = 3;
    for number in 0..kills() {
        let Some(nats) = Nats::begin() else { return };
        let (folder, key, began) = (tempfile::tempdir().expect("a folder"), Key::new(), Instant::now());
        let origin = origin();
        let _agents = agents(&nats, folder.path(), &["a1", "a2"], &key);
        let file = folder.path().join("bundle");
        let bundle = bundle(origin.address().into(), load(20, 60.0), BUILD).encode().expect("it is written");
        fs::write(&file, bundle).expect("a file");
        let words = ["controller", &nats.broker().url, &key.0, &file.to_string_lossy(), &LEASE_S.to_string()];
        let command: Vec<String> =
            [env!("CARGO_BIN_EXE_fleet-actor")].into_iter().chain(words).map(str::to_string).collect();
        let mut controller = start(&command);
        wait_until("users are there", || !origin.ledger().exchanges.is_empty());
        thread::sleep(at(number, SECOND / 10, 5 * SECOND));
        controller.kill();
        let killed = began.elapsed();
        let last = || origin.ledger().exchanges.last().map_or(Duration::ZERO, |one| one.arrived);
        wait_until("nothing goes out any more", || began.elapsed() > last() + SECOND);
        let went_on = last().saturating_sub(killed);
        println!("controller {number}: killed after {killed:?}; load went out for {went_on:?} more");
        let allowed = Duration::from_secs(LEASE_S + 2);
        assert!(went_on < allowed + SECOND / 2, "{number}: load went out for {went_on:?}");
    }
}
