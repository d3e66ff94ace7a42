//! A tier on a host of its own: reached by the others over its cable, seen by whoever asks from here, and gone with its
//! stack.

use std::fs;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use model::Plan;
use model::catalogue::tier_setting::OwnHost;
use observe::Servers;
use testbed::{Stack, Tier, check_app, check_hosts, try_host};
use testkit::cards::cards_of;
use testkit::ending::{refused, skip};

use crate::bench::{Bench, LAMP, get};
use crate::tiny::{FAR, catalogue, lay_far, plan};
use crate::waiting::wait_until;

/// Whether a tier can be on such a host of its own here; if not the test is skipped.
pub(crate) fn networks_can_be_made(own: &OwnHost) -> bool {
    try_host(own).map_or_else(|reason| skip(&reason.to_string()), |()| true)
}

fn bench(name: &str) -> Option<Bench> {
    Bench::with(name, LAMP, lay_far, |catalogue, stack| plan(catalogue, stack, &FAR))
}

fn far(bench: &Bench, more: &[(&str, &str)]) -> Plan {
    bench.plan(LAMP, &[&FAR[..], more].concat())
}

fn database(stack: &Stack) -> &Tier {
    stack.tier("db").expect("a tier")
}

fn network(process: u32) -> PathBuf {
    fs::read_link(format!("/proc/{process}/ns/net")).expect("it runs, and we may look")
}

#[test]
fn an_application_that_wants_the_socket_of_another_host_is_refused_before_anything_is_made() {
    let mut catalogue = catalogue();
    let far = plan(&catalogue, LAMP, &FAR);
    assert_eq!(check_app(&plan(&catalogue, LAMP, &[]), &catalogue), Ok(()));
    let said = check_app(&far, &catalogue).expect_err("its page names the socket").to_string();
    assert!(said.starts_with("kits/tiny/app/index.php.j2:2: ") && said.contains("net.host=own"), "{said}");
    lay_far(&mut catalogue);
    assert_eq!(check_app(&far, &catalogue), Ok(()));
}

#[test]
fn a_database_on_a_host_of_its_own_is_reached_over_its_cable_and_gone_with_its_stack() {
    let Some(mut bench) = bench("own-host") else { return };
    let plan = far(&bench, &[]);
    if !networks_can_be_made(&OwnHost::default()) {
        let said = check_hosts(&plan).expect_err("it can't be made").to_string();
        assert!(said.contains("--set db.net.host=shared"), "{said}");
        return;
    }
    check_hosts(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let mut stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));

    let address = *database(&stack).addresses.first().expect("its port is its address");
    let IpAddr::V4(far) = address.ip() else { panic!("{address} is no address of a cable") };
    assert!(far.octets()[0] == 198 && matches!(far.octets()[1], 18 | 19), "{address}");
    let near = Ipv4Addr::from(u32::from(far) - 1);
    let web = stack.web_address().expect("an address");
    let page = get(web, "/index.php");
    assert!(page.contains(&format!("reached by plimsoll@{near}\n")), "{page}");
    let page = get(web, "/index.php?password=");
    assert!(!page.contains("reached by"), "over a network nobody comes in without the password: {page}");

    let (db, web_pid) = (database(&stack).pid, stack.tier("web").expect("a tier").pid);
    assert_ne!(network(db), network(std::process::id()));
    assert_eq!(network(web_pid), network(std::process::id()), "only the tier that is named");
    let refused = TcpListener::bind(address).expect_err("the address is another host's");
    assert_eq!(refused.kind(), std::io::ErrorKind::AddrNotAvailable);
    TcpStream::connect(address).expect("a way there").read_exact(&mut [0]).expect("a greeting");

    // Whoever loads, checks or watches comes from here, over the socket.
    let socket = &database(&stack).sockets["mysql"];
    UnixStream::connect(socket).expect("a socket").read_exact(&mut [0]).expect("a greeting");
    let jobs: Vec<_> = stack.tiers().iter().map(|tier| tier.job.clone()).collect();
    let (mut servers, began) = (Servers::start(&jobs), Instant::now());
    wait_until("the database tells how many are connected", || {
        let series = servers.sample(began.elapsed().as_secs_f64());
        series.iter().any(|one| one.name == "sql.connected" && one.tier.as_deref() == Some("db"))
    });
    drop(servers);

    let kept = database(&stack).files.iter().map(|file| database(&stack).kept_text(file));
    assert!(kept.collect::<String>().contains("IDENTIFIED BY 'drawn-at-the-start'"), "no kept file has it");
    assert_eq!(cards_of(&bench.id).len(), 1);
    let stopped = stack.stop().unwrap_or_else(|problems| panic!("{problems}"));
    assert!(stopped.iter().all(|one| one.clean), "{stopped:?}");
    drop(stack);
    assert_eq!(cards_of(&bench.id), Vec::<String>::new());
    bench.lab.close().expect("a clean end");
}

#[test]
fn a_stack_that_is_refused_leaves_no_host_behind() {
    if !networks_can_be_made(&OwnHost::default()) {
        return;
    }
    // The kit's own page goes through the socket, and there is no way through one to another host.
    let Some(mut bench) = Bench::new("own-socket", LAMP) else { return };
    let plan = far(&bench, &[]);
    let said = bench.start(&plan).expect_err("the page can't be rendered").to_string();
    assert!(said.contains("kits/tiny/app/index.php.j2:2") && said.contains("net.host=own"), "{said}");
    assert_eq!(cards_of(&bench.id), Vec::<String>::new());
}

#[test]
fn a_cable_with_a_rate_carries_no_more() {
    let rate_mbit = Some(2);
    let Some(mut bench) = bench("own-rate") else { return };
    if !networks_can_be_made(&OwnHost { rate_mbit, ..OwnHost::default() }) {
        return;
    }
    let stack = bench.start(&far(&bench, &[("db.net.rate_mbit", "2")]));
    let stack = stack.unwrap_or_else(|problems| panic!("{problems}"));
    let web = stack.web_address().expect("an address");
    get(web, "/index.php");
    let start = Instant::now();
    let page = get(web, "/index.php?bytes=500000");
    assert!(page.contains("received 500000\n"), "{page}");
    // 4 Mbit, without what the bucket and a late clock may give away.
    assert!(start.elapsed() > Duration::from_millis(1800), "it took {:?}", start.elapsed());
}

#[test]
fn a_cable_with_a_delay_holds_both_ways_or_the_kernel_is_named_that_can_not() {
    let delay = ("db.net.delay_us", "30000");
    let Some(mut bench) = bench("own-delay") else { return };
    if !networks_can_be_made(&OwnHost::default()) {
        return;
    }
    let plan = far(&bench, &[delay]);
    if let Err(problems) = check_hosts(&plan) {
        let said = problems.to_string();
        assert!(said.contains("netem") && said.contains("--set db.net.delay_us=0"), "{said}");
        assert!(bench.start(&plan).is_err(), "nobody is given a faster way than was asked for");
        assert_eq!(cards_of(&bench.id), Vec::<String>::new());
        return refused(&said);
    }
    let stack = bench.start(&plan).unwrap_or_else(|problems| panic!("{problems}"));
    let address = *database(&stack).addresses.first().expect("its port is its address");
    let start = Instant::now();
    TcpStream::connect(address).expect("a way there");
    assert!(start.elapsed() >= Duration::from_millis(60), "there and back in {:?}", start.elapsed());
    let page = get(stack.web_address().expect("an address"), "/index.php?bytes=500000");
    assert!(page.contains("received 500000\n"), "whole segments pass, and in their order: {page}");
    drop(stack);
    assert_eq!(cards_of(&bench.id), Vec::<String>::new(), "nothing is left of it");
}

#[test]
fn a_delay_that_only_the_kernel_could_make_is_refused_with_what_can_be_had() {
    let short = OwnHost { delay_us: Some(100), ..OwnHost::default() };
    if !networks_can_be_made(&OwnHost::default()) {
        return;
    }
    if let Err(refusal) = try_host(&short) {
        let said = format!("{refusal}; {}", refusal.remedy());
        assert!(said.contains("netem") && said.contains("net.delay_us=1000 or more"), "{said}");
    }
}

#[test]
fn a_link_holds_a_message_for_as_long_as_it_says_and_carries_what_it_says() {
    let own = OwnHost { delay_us: Some(1_000), rate_mbit: Some(100), ..OwnHost::default() };
    if !networks_can_be_made(&own) {
        return;
    }
    let Some(bench) = bench("own-link") else { return };
    let mut steps = Vec::new();
    let mut measure = |own: &OwnHost| {
        let figures = bench.lab.measure_link(own, &mut |step| steps.push(step.to_string()));
        figures.unwrap_or_else(|problems| panic!("{problems}"))
    };
    let (cable, link) = (measure(&OwnHost::default()), measure(&own));
    let added_s = link.round_trips[0].p50_s - cable.round_trips[0].p50_s;
    // What it is within on a machine that does nothing else stands in docs/results/links.md.
    assert!((0.0019..0.003).contains(&added_s), "2 ms there and back were asked for: {added_s}");
    for mbit in [link.there_mbit, link.back_mbit] {
        assert!((40.0..101.0).contains(&mbit), "100 Mbit/s were asked for: {link:?}");
    }
    assert!(cable.there_mbit > 500.0, "{cable:?}");
    assert_eq!(cards_of(&bench.id), Vec::<String>::new());
    assert!(steps.iter().any(|step| step.contains("16000 bytes")), "{steps:?}");
}

#[test]
fn a_link_that_costs_cpu_time_takes_it_from_whoever_sends() {
    let own = OwnHost { cpu_us: Some(30), ..OwnHost::default() };
    if !networks_can_be_made(&own) {
        return;
    }
    let Some(bench) = bench("own-cost") else { return };
    let measure = |own: &OwnHost| {
        let figures = bench.lab.measure_link(own, &mut |_| {});
        figures.unwrap_or_else(|problems| panic!("{problems}"))
    };
    let mounts = || fs::read_to_string("/proc/self/mounts").expect("what is mounted here");
    let before = mounts();
    // What a message costs the CPU of this end, and how much longer its way is.
    let differences = || {
        let (cable, link) = (measure(&OwnHost::default()), measure(&own));
        let (one, bare) = (&link.round_trips[0], &cable.round_trips[0]);
        (one.cpu_s - bare.cpu_s, one.p50_s - bare.p50_s)
    };
    // One packet for each message: 30 µs, and what a shared machine takes away; the other end pays for its answer, too.
    let fits =
        |(cost_s, added_s): &(f64, f64)| (20e-6..60e-6).contains(cost_s) && (50e-6..200e-6).contains(added_s);
    // Tests beside it may hold a CPU of the link for the whole of a measurement, and seldom of three.
    let mut seen = Vec::new();
    while seen.len() < 3 && !seen.last().is_some_and(fits) {
        seen.push(differences());
    }
    assert_eq!(mounts(), before, "what loads the program leaves nothing mounted");
    assert!(seen.last().is_some_and(fits), "30 µs of CPU time each way were asked for: {seen:?}");
    assert_eq!(cards_of(&bench.id), Vec::<String>::new());
}
