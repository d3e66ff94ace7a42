use std::net::SocketAddr;

use fleet::clock::Offset;
use fleet::heartbeat::Heartbeat;
use fleet::permissions::Role;
use runner::fleet::status::{AgentStatus, FleetStatus};

use super::super::findings::findings;
use super::*;

/// What makes something else of it.
type Change<T> = fn(&mut T);

fn name(text: &str) -> Name {
    Name::of(text).expect("a name")
}

fn offset(low_ns: i64, high_ns: i64) -> Offset {
    Offset { low_ns, high_ns, agreeing: 32 }
}

fn look() -> Json {
    json!({
        "version": 1,
        "cpus": [1, 2],
        "steal_ratio": 0.01,
        "port_range": [32_768, 60_999],
        "ports": 28_232,
        "max_open_files": 1_048_576,
        "null_server": {
            "state": "measured", "requests_per_s": 51_234.4, "lag_p99_s": 0.0012, "waited_ratio": 0.02,
            "steal_ratio": 0.03, "shares_cpus": false,
        },
        "target": {
            "resolved": ["10.0.0.5"],
            "ways": [{ "address": "10.0.0.5:443", "state": "connected", "connect_s": 0.0003, "tls_s": 0.002 }],
        },
    })
}

/// A fleet of one agent with which nothing is wrong, but for what `change` makes of it.
fn fleet(change: impl FnOnce(&mut FleetHealth), look: Json) -> FleetHealth {
    let mut health = FleetHealth {
        status: FleetStatus {
            broker: "tls://10.0.0.5:4222".to_string(),
            controller: None,
            agents: vec![AgentStatus {
                agent: name("load1"),
                heard: Some(Heartbeat::of("load1", 1, "b", &[1, 2])),
                is_same_build: true,
                roles: vec![Role::Load],
                watches: Vec::new(),
            }],
        },
        bus: vec![BusHealth {
            clock: Some(AgentClock {
                offset: offset(-40_000, 60_000),
                round_trip: Duration::from_micros(100),
                answered: 32,
                asked: 32,
            }),
            drift: Some((Drift { low_ns: -90_000, high_ns: 80_000 }, Duration::from_secs(6))),
            speed: Some(Ok(BusSpeed {
                to_agent_bytes_per_s: Some(90e6),
                from_agent_bytes_per_s: Some(60e6),
            })),
        }],
        open_doors: Vec::new(),
        machines: vec![MachineHealth {
            agent: "load1".to_string(),
            ssh: "me@load1.example".to_string(),
            drives: true,
            facts: Ok(Facts {
                machine: "x86_64".to_string(),
                kernel: "Linux 6.1.0".to_string(),
                cpus: 4,
                home: "/h/me".to_string(),
                cache: "/h/me/.cache".to_string(),
                free_bytes: 65_000_000_000,
                max_open_files: Some(1_048_576),
            }),
            look: Some(Ok(serde_json::from_value(look).expect("a look"))),
            not_loaded: None,
        }],
    };
    change(&mut health);
    health
}

/// What is said, and what is found.
fn shown(health: &FleetHealth) -> (String, Vec<String>) {
    let found = findings(health);
    (super::health(&name("lab"), health, &found), found)
}

#[test]
fn a_fleet_with_which_nothing_is_wrong_has_all_its_figures_and_no_finding() {
    let (text, found) = shown(&fleet(|_| (), look()));
    for part in [
        "clock ahead by 10.0 µs ± 50.0 µs, there and back in 100 µs at best; no drift seen in 6.00 s",
        "the bus carries 90.0 MB/s to it and 60.0 MB/s from it, at least",
        "machine me@load1.example: Linux 6.1.0, 4 CPUs, 65.0 GB free, 1 048 576 open files",
        "generates on CPU 1,2: steal 1 %; 28 232 local ports (32768 to 60999)",
        "null server: 51 234 scripted requests/s; send lag p99 1.20 ms at full load; waited for a CPU 2 % of the time, steal 3 %",
        "target 10.0.0.5:443: connects in 300 µs, TLS in 2.00 ms",
        "without encryption, without a key, and with a key that was never given, nobody is let in",
        "nothing was found that a run can't count on",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(found, [] as [String; 0]);
    let json = health_json(&fleet(|_| (), look()), &found);
    assert_eq!(
        (&json["format"], &json["machines"][0]["look"]["ports"]),
        (&json!(1), &json!(28_232)),
        "{json:#}"
    );
    assert_eq!(json["bus"][0]["clock"]["offset_bound_s"], 50e-6, "{json:#}");
}

#[test]
fn a_clock_drifts_where_that_is_certain_and_is_a_finding_beyond_what_a_run_tolerates() {
    let drifted = |low_ns, high_ns| {
        let drift = Some((Drift { low_ns, high_ns }, Duration::from_secs(10)));
        shown(&fleet(|health| health.bus[0].drift = drift, look()))
    };
    let (text, found) = drifted(-500_000, -100_000);
    assert!(
        text.contains("it drifts: by 100 µs at least in 10.0 s, which makes 50.0 ms in 83 min 20 s"),
        "{text}"
    );
    assert_eq!(found, [] as [String; 0]);
    let (_, found) = drifted(60_000_000, 61_000_000);
    assert_eq!(found, ["load1: its clock moved by 60.0 ms at least meanwhile, and a run tolerates 50.0 ms"]);
    let (text, found) = drifted(-60_000_000, 50_000_000);
    assert!(text.contains("it may have drifted by 60.0 ms in 10.0 s"), "{text}");
    assert_eq!(found, [] as [String; 0], "the bounds of both clocks say what is wrong");
}

#[test]
fn everything_that_a_run_cannot_count_on_is_found_and_named() {
    let with = |change: fn(&mut Json)| {
        let mut look = look();
        change(&mut look);
        shown(&fleet(|_| (), look)).1.join("\n")
    };
    let of_look: [(Change<Json>, &str); 8] = [
        (|look| look["steal_ratio"] = json!(0.051), "the hypervisor takes 5.1 % of its CPUs"),
        (|look| look["null_server"]["steal_ratio"] = json!(0.2), "the hypervisor takes 20 %"),
        (|look| look["ports"] = json!(40), "few local ports (40)"),
        (|look| look["max_open_files"] = json!(1024), "few open files (1024)"),
        (
            |look| look["null_server"] = json!({ "state": "failed", "why": "\u{1b}[2Jno" }),
            "gets nothing of a server that does nothing: ·[2Jno",
        ),
        (
            |look| {
                look["target"]["ways"][0] =
                    json!({ "address": "10.0.0.5:443", "state": "failed", "why": "refused" })
            },
            "load1: 10.0.0.5:443 is not reached: refused",
        ),
        (
            |look| {
                look["target"]["ways"][0] =
                    json!({ "address": "10.0.0.5:443", "state": "not_allowed", "why": "no" })
            },
            "no load may go to 10.0.0.5:443: no (agent.toml); nothing was sent",
        ),
        // A slow machine is one that a run may still be made with.
        (|look| look["null_server"]["requests_per_s"] = json!(12.0), ""),
    ];
    for (change, finding) in of_look {
        let found = with(change);
        assert!(found.contains(finding) && found.is_empty() == finding.is_empty(), "{finding}: {found}");
    }
    let of_rest: [(Change<FleetHealth>, &str); 8] = [
        (|health| health.status.agents[0].heard = None, "nothing is heard of it"),
        (|health| health.status.agents[0].is_same_build = false, "another build"),
        (|health| health.bus[0].clock = None, "its clock doesn't answer"),
        (
            |health| {
                let speed = BusSpeed { to_agent_bytes_per_s: Some(90e6), from_agent_bytes_per_s: None };
                health.bus[0].speed = Some(Ok(speed));
            },
            "the bus is too slow from it",
        ),
        (
            |health| health.open_doors.push("without a key".to_string()),
            "ANYBODY is let onto its bus without a key",
        ),
        (|health| health.machines[0].facts = Err("no way\u{7}".to_string()), "can't be asked: no way·"),
        (
            |health| health.machines[0].look = Some(Err("rubbish".to_string())),
            "doesn't look at its machine: rubbish",
        ),
        (
            |health| {
                health.status.agents.clear();
                health.bus.clear();
            },
            "it has no agents",
        ),
    ];
    for (change, finding) in of_rest {
        let (text, found) = shown(&fleet(change, look()));
        assert!(found.iter().any(|one| one.contains(finding)), "{finding}: {found:?}");
        assert!(text.contains("a run can't count on this fleet:"), "{text}");
    }
}

#[test]
fn a_machine_that_was_left_in_peace_says_why_and_one_that_finds_another_address_says_which() {
    let mut quiet = look();
    quiet["null_server"] = Json::Null;
    quiet["target"]["resolved"] = json!(["10.9.9.9"]);
    let why = "it drives users of run r-1 now".to_string();
    let peaceful = |health: &mut FleetHealth| {
        health.machines[0].not_loaded = Some(why.clone());
        health.bus[0].speed = Some(Err(why.clone()));
    };
    let (text, found) = shown(&fleet(peaceful, quiet.clone()));
    for part in [
        "null server: not driven: it drives users of run r-1 now",
        "the bus was not measured: it drives users of run r-1 now",
        "target: its name is 10.9.9.9 there, and a run goes where it is from here",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(found, [] as [String; 0]);
    // Who drives nobody has no generator, no ports and no target to speak of.
    quiet["target"] = Json::Null;
    quiet["ports"] = json!(1);
    let observer = |health: &mut FleetHealth| health.machines[0].drives = false;
    let (text, found) = shown(&fleet(observer, quiet));
    assert!(text.contains("  steal 1 %\n") && !text.contains("null server"), "{text}");
    assert_eq!(found, [] as [String; 0]);
}

#[test]
fn a_way_is_to_an_address_whatever_its_family() {
    let address: SocketAddr = "[2001:db8::1]:80".parse().expect("an address");
    let way = Way { address, end: WayEnd::Failed { why: "a\nb".to_string() } };
    assert_eq!(way_words(&way), "target [2001:db8::1]:80: not reached: a b");
}
