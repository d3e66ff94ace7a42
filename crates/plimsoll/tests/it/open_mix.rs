//! Users who arrive at a kit whose sessions depend on each other.

use crate::tool::{Home, catalogue, have, overlay};

#[test]
fn a_rate_of_users_is_refused_where_they_would_only_begin() {
    for kit in ["events", "tpcw"] {
        let told = Home::shared().plimsoll(&format!("run {kit} --rate 30/s")).run().expect(2);
        told.says("always Home").says("--lifetime").says("--arriving operations");
    }
}

/// The DVD Store with a matrix of two sessions, of which the long run has nine times as many of the second.
#[test]
fn users_who_live_too_briefly_for_the_mix_make_the_run_invalid() {
    if !have("apache-prefork-modphp-mariadb") {
        return;
    }
    let matrix = "[tolerance]\nmix_points = 2\n\n[matrix]\nfirst = \"order_cycle\"\n\
                  rows.order_cycle = { look = 1 }\nrows.look = { look = 0.875, order_cycle = 0.125 }\n";
    let kit = catalogue("kits/dvdstore/kit.toml").replace("[mix]\norder_cycle = 1\n", matrix);
    let session = catalogue("kits/dvdstore/session.lua")
        + "\nfunction look(user) operation 'Look' get('/ds2/index.html') end\n";
    let dir = overlay(&[("kits/dvdstore/kit.toml", &kit), ("kits/dvdstore/session.lua", &session)]);
    let run = |lifetime: &str| {
        let words = "run dvdstore --rate 10/s --steady 10s --ramp-up 2s --ramp-down 1s --json";
        let tool = Home::shared().plimsoll(words).arg(format!("--lifetime={lifetime}"));
        let record = tool.arg("--qos=p50 < 5s").arg("--catalogue").arg(dir.path()).run().json();
        let checks = record["validity"].as_array().cloned().unwrap_or_default();
        checks.into_iter().find(|check| check["check"] == "mix_shares").expect("the kit's own tolerance")
    };
    let brief = run("2 sessions");
    assert_eq!(brief["ok"], false, "{brief:#}");
    assert!(brief["sentence"].as_str().is_some_and(|said| said.contains("--lifetime")), "{brief:#}");
    let observed = brief["observed"].as_f64().expect("a share");
    assert!((0.4..0.6).contains(&observed), "every second session is one of each: {brief:#}");
}
