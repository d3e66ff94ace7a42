//! One agent of many gets less CPU than its users take: the merged figures would hide it, and the run names it.

use serde_json::Value as Json;
use testkit::ending::skip;

use crate::fleet_resume::Lab;
use crate::starved::Quota;
use crate::tool::wait_for;

#[test]
fn one_agent_of_ten_on_a_cpu_quota_is_named_and_the_run_is_not_valid() {
    let Some(lab) = Lab::of(10) else { return };
    let Some(quota) = Quota::of_hundredths(2) else {
        skip("no right to make a cgroup with a CPU quota");
        return;
    };
    let words = format!(
        "run null --target http://{} --users 40 --ramp-up 0s --steady 10s --ramp-down 0s --fleet lab --json --catalogue",
        lab.server.address()
    );
    let running = lab.home.plimsoll(&words).arg(lab.catalogue.path()).start();
    wait_for("users are there", || (lab.server.served() > 10).then_some(()));
    quota.confine(lab.pids[6]);

    let record = running.wait().expect(3).json();
    assert_eq!(record["verdict"]["valid"], false);
    let checks = record["validity"].as_array().map(Vec::as_slice).unwrap_or_default();
    let check = |name: &str| checks.iter().find(|row| row["check"] == name).unwrap_or(&Json::Null);
    let sentence = check("fleet_generators")["sentence"].as_str().unwrap_or_default();
    assert!(check("fleet_generators")["ok"] == false && sentence.contains("a7"), "{checks:#?}");
    // All of its seconds came, late as they were.
    let agents = record["fleet"]["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(agents.len() == 10 && agents.iter().all(|agent| agent["lost"].is_null()), "{agents:#?}");
}
