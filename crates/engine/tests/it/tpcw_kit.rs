//! What users of the kit `tpcw` do, by its own files, against a shop that keeps sessions, carts and customers as the
//! application does: the mixes, the visits, what is bought, and what a browser's cache saves. All on virtual time.

use std::net::SocketAddr;
use std::path::PathBuf;

use engine::{Program, RunOptions, Scenario, Source};
use model::catalogue::setting::Values;
use model::record::interval::OperationKind;
use model::record::plan::Load;
use model::{KitManifest, Mix};

use crate::tpcw_shop::{CUSTOMERS, Session, Shop};
use crate::virtual_net::VirtualNet;
use crate::virtual_time::Seen;

const MODULES: [&str; 8] =
    ["choices", "countries", "dates", "inputs", "population", "shop", "syllables", "text"];

fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/tpcw").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifest() -> KitManifest {
    model::document::read("kit.toml", &read("kit.toml")).expect("a right manifest")
}

/// One of the kit's three; shopping is the one without a name.
fn mix_of(kit: &KitManifest, mix: &str) -> Mix {
    let key = if mix.is_empty() { String::new() } else { format!("mixes.{mix}.") };
    let all = kit.all_sessions();
    let (_, sessions, _) = all.iter().find(|(prefix, _, _)| *prefix == key).expect("the kit has the mix");
    sessions.resolve().expect("a matrix")
}

fn scenario(kit: &KitManifest, mix: &str) -> Scenario {
    let params: Values = kit.params.iter().map(|param| (param.name.clone(), param.default.clone())).collect();
    let source = Source {
        modules: MODULES.map(|name| (name.to_string(), read(&format!("{name}.lua")))).into(),
        params,
        size: kit.size("quick").expect("a size"),
        mix: mix_of(kit, mix),
        ..Source::of("session.lua", &read("session.lua"), "")
    };
    Scenario {
        // The parameter think_time, by which a plan multiplies.
        think: kit.users.think.map(|think| think.scaled(7.0)),
        resend: kit.users.resend,
        ..Scenario::of(Program::Script(source))
    }
}

/// What users do for that number of seconds, and the shop afterwards.
fn observe(mix: &str, users: u32, seconds: f64) -> (Seen, Shop) {
    let kit = manifest();
    let shop = Shop::default();
    let open = shop.clone();
    let net = VirtualNet::new(move |at_ns, text| open.reply(at_ns, text));
    let load = Load { users, ramp_up_s: 10.0, steady_s: seconds, seed: 5, ..Load::default() };
    let options = RunOptions::of(scenario(&kit, mix), load, SocketAddr::from(([127, 0, 0, 1], 80)));
    (Seen::of(&options, net), shop)
}

fn counter(seen: &Seen, name: &str) -> u64 {
    seen.totals.counters.get(name).copied().unwrap_or(0)
}

#[test]
fn users_of_the_bookstore_follow_each_mix_without_a_mistake() {
    let kit = manifest();
    for mix in ["browsing", "", "ordering"] {
        let (seen, _) = observe(mix, 60, 750.0);
        assert!(seen.listener.evidence.is_empty(), "{mix}: {:?}", &seen.listener.evidence[..1]);
        let completed = |name: &str| seen.completed(OperationKind::Operation, name) as f64;
        let asked = mix_of(&kit, mix);
        let total: f64 = asked.names.iter().map(|name| completed(name)).sum();
        // 60 users in 750 s of 7 s each.
        assert!((5_750.0..6_750.0).contains(&total), "{mix}: {total} interactions");
        // That these shares are the specification's is asserted of the matrices, without a walk.
        for (name, wanted) in asked.names.iter().zip(asked.shares()) {
            let share = completed(name) / total;
            // Neighbours in a walk are not independent of each other: half as much again as for as many draws.
            let allowed = 1.5 * 4.0 * (wanted * (1.0 - wanted) / total).sqrt();
            assert!((share - wanted).abs() < allowed, "{mix} {name}: {share:.4} instead of {wanted:.4}");
        }
    }
}

#[test]
fn what_users_were_told_is_what_the_shop_did() {
    let (seen, shop) = observe("ordering", 60, 600.0);
    let shop = shop.books();
    assert!(shop.orders > 300, "{} orders", shop.orders);
    assert_eq!(counter(&seen, "orders"), shop.orders);
    assert_eq!(counter(&seen, "ordered lines"), shop.ordered_lines);
    assert_eq!(counter(&seen, "carts"), shop.carts.len() as u64);
    assert_eq!(counter(&seen, "registered"), shop.registered);
    assert_eq!(counter(&seen, "changed"), shop.changed);
    // One of five is unknown at first, and most visitors of this mix buy soon.
    let visits = counter(&seen, "visits") as f64;
    let strangers = shop.registered as f64 / visits;
    assert!((0.05..0.35).contains(&strangers), "{strangers} of {visits} visitors registered");
    assert!(shop.shipped_elsewhere > 0 && shop.shipped_elsewhere * 10 < shop.orders, "one of twenty orders");
}

#[test]
fn visits_end_at_home_after_their_time_and_a_new_visitor_is_new_to_the_server() {
    let (seen, shop) = observe("browsing", 20, 9_600.0);
    let shop = shop.books();
    let visits = counter(&seen, "visits");
    assert_eq!(shop.sessions.len() as u64, visits, "each visit begins without a session's number");
    assert!(shop.sessions.values().all(|session| session.first == "TPCW_home_interaction"));
    // Visits that began so early that they ended before the run did: 15 min on average and 60 min at most, and then until
    // the next time that Home is chosen, which is every third interaction. 883 s and some 24 s.
    let whole = shop.sessions.values().filter(|session| session.begun_s < 4_800.0).map(Session::lasted_s);
    let lasted: Vec<f64> = whole.collect();
    let (count, most_s) = (lasted.len() as f64, lasted.iter().copied().fold(0.0, f64::max));
    let mean_s = lasted.iter().sum::<f64>() / count;
    assert!(
        count > 60.0 && (mean_s - 907.0).abs() < 4.0 * 870.0 / count.sqrt(),
        "{mean_s} s, {count} visits"
    );
    assert!((2400.0..4200.0).contains(&most_s), "the longest visit took {most_s} s");
    let customers: Vec<u32> = shop.sessions.values().filter_map(|session| session.came_as).collect();
    let share = customers.len() as f64 / visits as f64;
    assert!((share - 0.8).abs() < 4.0 * (0.16 / visits as f64).sqrt(), "{share} are customers");
    assert!(customers.iter().all(|customer| (1..=CUSTOMERS).contains(customer)), "{customers:?}");
    // Some come more often: NURand sets each of the 12 bits of its constant 4,095 in three of four numbers. The 13th is
    // the range's own: set in three of its seven times 4,096 numbers.
    for (bit, expected) in [(0, 0.75), (11, 0.75), (12, 3.0 / 7.0)] {
        let set = customers.iter().filter(|customer| ((*customer - 1) >> bit) & 1 == 1).count() as f64;
        let (share, error) = (set / customers.len() as f64, (0.25 / customers.len() as f64).sqrt());
        assert!((share - expected).abs() < 4.0 * error, "bit {bit} is set in {share} of {}", customers.len());
    }
}

#[test]
fn a_browser_keeps_the_pictures_of_its_visit() {
    let (seen, shop) = observe("", 60, 900.0);
    let visits = counter(&seen, "visits");
    let (shown, loaded) = (counter(&seen, "pictures shown"), counter(&seen, "pictures loaded"));
    assert!(loaded < shown && loaded > visits, "{loaded} of {shown} pictures are loaded");
    let log = seen.log.borrow();
    let asked = |what: &str| log.iter().filter(|(_, text)| text.starts_with(what)).count() as u64;
    assert_eq!(asked("GET /tpcw/Images/"), loaded);
    // The logo is on every page: each visitor fetches it on the first one, and of 200 pictures never lets it go. The end
    // may cut off a visitor whose first page has not come.
    let logos = asked("GET /tpcw/Images/tpclogo.gif ");
    assert!((visits - 3..=visits).contains(&logos), "{logos} times the logo in {visits} visits");
    assert!(
        log.iter().all(|(_, text)| !text.contains("\r\nCookie: ")),
        "the session's number is in the address"
    );
    let names = seen.listener.names.iter().filter(|name| name.kind == OperationKind::Request);
    let names: Vec<&str> = names.map(|name| name.name.as_str()).collect();
    assert!((13..=15).contains(&names.len()), "fourteen pages and pictures: {names:?}");
    assert!(names.iter().all(|name| !name.contains([';', '/'])), "whatever the session's number: {names:?}");
    assert!(shop.books().searched > 500);
}
