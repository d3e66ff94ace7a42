//! What agents tell comes to the controller once and in order over a real broker, whoever is killed meanwhile.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fleet::bus::{Broker, BusError, Kind, Name, NothingTold, Reader, StreamOf, Teller, Told, Voice};
use fleet::spool::{Spool, SpoolError};
use rustix::process::Signal;

use crate::broker::Nats;
use crate::wait::{LONG, wait_until};

const ROOM: u64 = 1 << 30;

fn name(text: &str) -> Name {
    Name::of(text).expect("a name")
}

pub(crate) fn voice(agent: &str) -> Voice {
    Voice { fleet: name("lab"), run: name("r-1"), agent: name(agent), incarnation: 7 }
}

fn spool(folder: &Path) -> Spool {
    Spool::open(folder, ROOM).expect("a spool")
}

pub(crate) fn teller(broker: Broker, agent: &str, folder: &Path) -> Teller {
    Teller::begin(broker, voice(agent), spool(folder)).expect("a thread")
}

pub(crate) fn reader(broker: Broker, had: &[(&str, u64)]) -> Reader {
    let had = had.iter().map(|(agent, below)| (voice(agent), *below)).collect();
    begin(broker, 1 << 30, had, LONG).unwrap_or_else(|error| panic!("{error}"))
}

fn begin(
    broker: Broker,
    max_bytes: u64,
    had: BTreeMap<Voice, u64>,
    within: Duration,
) -> Result<Reader, BusError> {
    Reader::begin(broker, StreamOf { fleet: name("lab"), run: name("r-1"), max_bytes }, had, within)
}

/// A message that says its number; every fortieth is too long for one.
fn message(number: u64) -> Vec<u8> {
    let length = if number % 40 == 39 { 1_300_000 } else { 6_000 };
    let mut bytes = vec![number as u8; length];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

pub(crate) fn tell(teller: &Teller, numbers: std::ops::Range<u64>) {
    for number in numbers {
        teller.tell(Kind::Second, &message(number)).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn next(reader: &Reader) -> Told {
    reader.next(LONG).unwrap_or_else(|nothing| panic!("{nothing}"))
}

/// Reads messages of one agent, which have to be these.
pub(crate) fn expect(reader: &Reader, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let told = next(reader);
        let is_it = told.number == number && told.bytes == message(number) && told.kind == Kind::Second;
        assert!(is_it, "number {} of {} bytes came for number {number}", told.number, told.bytes.len());
    }
}

/// Nothing more comes.
pub(crate) fn expect_no_more(reader: &Reader) {
    let more = reader.next(Duration::from_millis(1_500));
    assert!(matches!(more, Err(NothingTold::Yet(_))), "{more:?}");
}

#[test]
fn each_message_comes_once_and_in_order_while_the_broker_is_killed_again_and_again() {
    let Some(mut nats) = Nats::begin() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let reader = reader(nats.broker(), &[]);
    let agents = ["a1", "a2"];
    let tellers = agents.map(|agent| teller(nats.broker(), agent, &folder.path().join(agent)));
    let all = 240;
    let mut came: BTreeMap<Voice, u64> = BTreeMap::new();
    let is_done = |came: &BTreeMap<Voice, u64>| came.len() == 2 && came.values().all(|number| *number == all);
    thread::scope(|scope| {
        for teller in &tellers {
            scope.spawn(move || {
                for number in 0..all {
                    tell(teller, number..number + 1);
                    thread::sleep(Duration::from_millis(5));
                }
            });
        }
        let mut kills = [100, 220, 340].into_iter().peekable();
        while !is_done(&came) {
            let told = next(&reader);
            let expected = came.entry(told.voice.clone()).or_default();
            assert_eq!(told.number, *expected, "of {:?}", told.voice);
            assert!(told.bytes == message(told.number), "message {} is another one", told.number);
            *expected += 1;
            reader.keep(&told.voice, *expected);
            if kills.next_if(|at| came.values().sum::<u64>() >= *at).is_some() {
                nats.kill();
                nats.start();
            }
        }
        assert_eq!(kills.next(), None, "the broker was killed three times");
    });
    for teller in &tellers {
        assert!(teller.is_kept_within(LONG), "{:?}", teller.telling());
    }
    expect_no_more(&reader);
    reader.remove().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_a_broker_has_acknowledged_and_lost_with_its_machine_is_told_again() {
    let Some(mut nats) = Nats::begin() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let first = reader(nats.broker(), &[]);
    let teller = teller(nats.broker(), "a1", folder.path());
    let acknowledged = |number| wait_until("acknowledged", || teller.telling().acknowledged >= number);
    tell(&teller, 0..10);
    acknowledged(10);
    nats.kill();
    nats.copy_of_store("after 10");
    nats.start();
    tell(&teller, 10..50);
    acknowledged(50);
    expect(&first, 0..50);
    nats.kill();
    nats.set_back("after 10");
    nats.start();
    tell(&teller, 50..60);
    expect(&first, 50..60);
    expect_no_more(&first);
    drop(first);
    let second = reader(nats.broker(), &[]);
    expect(&second, 0..60);
}

#[test]
fn an_agent_s_next_life_tells_what_the_last_one_could_not() {
    let Some(mut nats) = Nats::begin() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let reader = reader(nats.broker(), &[]);
    let first = teller(nats.broker(), "a1", folder.path());
    tell(&first, 0..20);
    expect(&reader, 0..20);
    nats.kill();
    tell(&first, 20..60);
    drop(first);
    nats.start();
    let second = teller(nats.broker(), "a1", folder.path());
    assert_eq!(second.telling().told, 60);
    tell(&second, 60..61);
    expect(&reader, 20..61);
}

#[test]
fn a_controller_that_comes_back_is_told_only_what_it_does_not_have() {
    let Some(nats) = Nats::begin() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let first = reader(nats.broker(), &[]);
    let teller = teller(nats.broker(), "a1", folder.path());
    tell(&teller, 0..80);
    expect(&first, 0..30);
    first.keep(&voice("a1"), 30);
    drop(first);
    wait_until("the controller's last word", || teller.telling().kept == 30);
    let second = reader(nats.broker(), &[("a1", 30)]);
    expect(&second, 30..80);
    second.keep(&voice("a1"), 80);
    assert!(teller.is_kept_within(LONG), "{:?}", teller.telling());
}

#[test]
fn a_full_stream_refuses_and_what_it_refused_waits_in_the_spool_until_that_is_full() {
    let Some(nats) = Nats::begin() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let reader = begin(nats.broker(), 100_000, BTreeMap::new(), LONG).expect("a broker");
    let spool = Spool::open(folder.path(), 300_000).expect("a spool");
    let teller = Teller::begin(nats.broker(), voice("a1"), spool).expect("a thread");
    tell(&teller, 0..30);
    wait_until("refused", || teller.telling().problem.is_some());
    let telling = teller.telling();
    let why = telling.problem.unwrap_or_default();
    assert!(why.contains("maximum bytes exceeded"), "{why}");
    assert!((1..30).contains(&telling.acknowledged), "{} acknowledged", telling.acknowledged);
    expect(&reader, 0..telling.acknowledged);
    let refused = (30..60).find_map(|number| teller.tell(Kind::Second, &message(number)).err());
    let refused = refused.expect("300 kB have no room for 60 messages of 6 kB or more");
    assert!(matches!(refused, SpoolError::Full { max_bytes: 300_000, .. }), "{refused}");
    drop(teller);
    let spool = Spool::open(folder.path(), ROOM).expect("a spool");
    let kept = spool.from(0, usize::MAX).expect("it is readable");
    assert!((30..60).contains(&kept.len()), "all that was taken is there: {}", kept.len());
}

#[test]
fn a_broker_that_stands_still_delays_messages_and_loses_none() {
    let Some(nats) = Nats::begin() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let reader = reader(nats.broker(), &[]);
    let teller = teller(nats.broker(), "a1", folder.path());
    tell(&teller, 0..10);
    expect(&reader, 0..10);
    nats.signal(Signal::STOP);
    let began = Instant::now();
    tell(&teller, 10..50);
    assert!(began.elapsed() < Duration::from_secs(2), "telling waits for nobody: {:?}", began.elapsed());
    wait_until("its silence is told", || teller.telling().problem.is_some());
    nats.signal(Signal::CONT);
    expect(&reader, 10..50);
    expect_no_more(&reader);
}

#[test]
fn a_broker_that_can_not_be_used_is_refused_with_the_reason() {
    let Some(mut nats) = Nats::without_streams() else { return };
    let within = Duration::from_millis(500);
    let refused = begin(nats.broker(), ROOM, BTreeMap::new(), within).expect_err("it has no streams");
    assert!(matches!(refused, BusError::Refused { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("make the stream of run r-1"), "{said}");
    nats.kill();
    let refused = begin(nats.broker(), ROOM, BTreeMap::new(), within).expect_err("nobody is there");
    assert!(matches!(refused, BusError::Unreachable { .. }), "{refused}");
}
