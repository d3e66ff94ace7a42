//! What is foreseen, as decisions on numbers.

use std::net::SocketAddr;

use super::*;

fn limits() -> Limits {
    Limits {
        descriptors: (1024, 20_000),
        open_descriptors: 12,
        port_range: (32_768, 60_999),
        reserved_ports: 0,
        time_wait_reuse: 2,
        backlog: 4096,
    }
}

/// Limits that leave ports as the only thing to run out.
fn many_descriptors() -> Limits {
    Limits { descriptors: (10_000_000, 10_000_000), ..limits() }
}

fn target(address: &str) -> Target {
    address.parse::<SocketAddr>().expect("an address").into()
}

fn refusal(demand: &Demand, target: &Target, limits: &Limits) -> String {
    foresee(demand, target, limits).expect_err("it can't work").to_string()
}

#[test]
fn what_fits_changes_nothing() {
    let foresight = foresee(&Demand::kept(800), &target("127.0.0.1:80"), &limits()).expect("it fits");
    assert_eq!(foresight, Foresight::default());
}

#[test]
fn the_soft_limit_of_descriptors_is_raised_to_the_hard_one_when_needed() {
    let foresight = foresee(&Demand::kept(1000), &target("127.0.0.1:80"), &limits()).expect("it fits");
    assert_eq!(foresight.raise_descriptors, Some(20_000));
}

#[test]
fn too_few_descriptors_are_said_with_numbers_and_what_would_fit() {
    let message = refusal(&Demand::kept(20_000), &target("127.0.0.1:80"), &limits());
    assert_eq!(
        message,
        "20000 connections need 20140 descriptors, and this process may open 20000\n  why it matters: every connection \
         after about 19860 would fail here and look like a server that refuses it\n  try: ulimit -Hn 20140 (as root, or \
         nofile in /etc/security/limits.conf), or at most 19860 connections"
    );
    let fits = foresee(&Demand::kept(19_860), &target("127.0.0.1:80"), &limits());
    assert_eq!(fits.map(|foresight| foresight.raise_descriptors), Ok(Some(20_000)));
}

#[test]
fn on_loopback_as_many_source_addresses_are_taken_as_the_connections_need() {
    let limits = many_descriptors();
    let foresee = |count| foresee(&Demand::kept(count), &target("127.0.0.1:80"), &limits).expect("it fits");
    assert_eq!(foresee(13_000).sources, Vec::<IpAddr>::new());
    let two: Vec<IpAddr> = ["127.0.0.2", "127.0.0.3"].map(|text| text.parse().expect("an address")).into();
    assert_eq!(foresee(15_000).sources, two, "the second half of one address's ports is slow to find");
    assert_eq!(foresee(100_000).sources.len(), 8);
    assert_eq!(
        foresee(100_000).notes,
        [
            "connections come from 127.0.0.2 to 127.0.0.9: one address has 28232 ports, and the kernel finds a free one \
          quickly among half of them"
        ]
    );
}

#[test]
fn beyond_loopback_too_few_ports_are_a_problem_that_names_the_number_of_addresses() {
    for far in ["10.0.0.5:80", "[::1]:80"] {
        let message = refusal(&Demand::kept(60_000), &target(far), &many_descriptors());
        assert_eq!(
            message,
            "60000 connections need 60000 local ports to one target, and one source address can give 28232 \
             (net.ipv4.ip_local_port_range is 32768 60999)\n  why it matters: when they are used up connecting fails \
             here, and the server gets less load than was asked for\n  try: --source with 3 addresses of this machine \
             (--source 127.0.0.2,127.0.0.3 on loopback), a wider net.ipv4.ip_local_port_range"
        );
    }
}

#[test]
fn given_source_addresses_are_kept_and_counted() {
    let sources = ["127.0.0.9", "127.0.0.10"].map(|text| text.parse().expect("an address")).to_vec();
    let given = Target { sources: sources.clone(), ..target("127.0.0.1:80") };
    let foresight = foresee(&Demand::kept(50_000), &given, &many_descriptors()).expect("it fits");
    assert_eq!(foresight.sources, sources);
    let message = refusal(&Demand::kept(60_000), &given, &many_descriptors());
    assert!(message.contains("2 source addresses can give 56464"), "{message}");
}

#[test]
fn ports_in_time_wait_count_for_a_minute_or_a_second_as_the_kernel_is_set() {
    let demand = Demand { connections: 100, reopened_per_s: 2000.0, ..Demand::default() };
    let message = refusal(&demand, &target("10.0.0.5:80"), &many_descriptors());
    assert!(
        message.starts_with(
            "100 connections and 120000 ports that closed ones keep for 60 s (2000 a second) need 120100"
        ),
        "{message}"
    );
    assert!(message.contains("or kept connections"), "{message}");
    // Loopback's are given out again after a second.
    let near = foresee(&demand, &target("127.0.0.1:80"), &many_descriptors()).expect("it fits");
    assert_eq!(near.sources, Vec::<IpAddr>::new());
    let never = Limits { time_wait_reuse: 0, ..many_descriptors() };
    let held = foresee(&demand, &target("127.0.0.1:80"), &never).expect("it fits");
    assert_eq!(held.sources.len(), 9);
    let always = Limits { time_wait_reuse: 1, ..many_descriptors() };
    assert!(foresee(&demand, &target("10.0.0.5:80"), &always).is_ok());
}

#[test]
fn a_unix_socket_needs_descriptors_but_no_ports() {
    let target = Target { endpoint: Endpoint::Unix("/run/web.sock".into()), ..target("127.0.0.1:80") };
    let foresight = foresee(&Demand::kept(500_000), &target, &many_descriptors()).expect("it fits");
    assert_eq!(foresight.sources, Vec::<IpAddr>::new());
    assert!(refusal(&Demand::kept(500_000), &target, &limits()).contains("descriptors"));
}

#[test]
fn everything_that_would_run_out_is_said_at_once() {
    let problems = foresee(&Demand::kept(60_000), &target("10.0.0.5:80"), &limits()).expect_err("two things");
    assert_eq!(problems.iter().count(), 2, "{problems}");
}

#[test]
fn more_connections_at_once_than_a_server_queues_are_a_note() {
    let demand = Demand { at_once: 5000, ..Demand::kept(500) };
    let foresight = foresee(&demand, &target("127.0.0.1:80"), &limits()).expect("it fits");
    assert!(foresight.notes[0].contains("net.core.somaxconn"), "{:?}", foresight.notes);
}

#[test]
fn reserved_ports_count_as_far_as_they_lie_in_the_range() {
    assert_eq!(count_reserved("", (100, 200)), 0);
    assert_eq!(count_reserved("8080,90-109,150,199-300\n", (100, 200)), 10 + 1 + 2);
}

#[test]
fn this_machines_limits_can_be_read() {
    let limits = Limits::read();
    assert!(limits.descriptors.0 <= limits.descriptors.1, "{limits:?}");
    assert!(limits.open_descriptors > 0 && limits.ports() > 0 && limits.backlog > 0, "{limits:?}");
}
