//! What goes over the cable between a web server on a host of its own and its users.

use model::catalogue::tier_setting::OwnHost;

use crate::tool::{Home, have, host_can_be_made, judged};

/// Files go over a link of 20 Mbit/s, which is what the users wait for.
#[test]
fn a_link_that_is_full_before_the_web_server_is_seen_and_named() {
    if !have("nginx") || !host_can_be_made(&OwnHost { rate_mbit: Some(20), ..OwnHost::default() }) {
        return;
    }
    let load = "--size quick --users 40 --ramp-up 2s --steady 6s --ramp-down 1s";
    let words =
        format!("run static --stack nginx {load} --set web.net.host=own --set web.net.rate_mbit=20 --json");
    let record = judged(|| Home::shared().plimsoll(&words).arg("--qos=p95 < 50ms")).json();
    let signal = |name: &str| {
        let mut all = record["signals"].as_array().into_iter().flatten();
        all.find(|one| one["name"] == name).and_then(|one| one["mean"].as_f64())
    };
    let used = signal("cable.used_ratio").expect("it has a cable with a rate");
    assert!((0.8..1.05).contains(&used), "{used}");
    let sent_mbit = signal("cable.sent_bytes").expect("it has a cable") * 8e-6;
    assert!((16.0..21.0).contains(&sent_mbit), "{sent_mbit} Mbit/s of 20");
    // What else this machine does meanwhile may be named as well, and before it.
    let suspects = || record["diagnosis"]["suspects"].as_array().into_iter().flatten();
    let link = suspects().find(|one| one["tier"] == "web" && one["resource"] == "link");
    let sure = link.and_then(|one| one["sure_ratio"].as_f64());
    assert!(sure > Some(0.9), "{:#}", record["diagnosis"]);
    Home::shared().expect_nothing_left();
}
