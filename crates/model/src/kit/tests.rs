//! Sizes, and where a search for the load line begins.

use super::*;

fn kit() -> KitManifest {
    let text = r#"
        format = 1
        name = "shop"
        version = 1
        title = "Shop"
        source = "ours"
        needs = ["sql"]
        app = "app"
        session = "session.lua"
        front_page = "/"
        default_size = "small"
        default_stack = "lamp"
        state = { drifts = false, why = "read only", reset = "none" }
        sizes = { small = { customers = 20_000 }, medium = { customers = 2_000_000 }, large = { customers = 2e8 } }
        users = { default = 1, ramp_per_s = 10 }
        mix = { visit = 1 }
        qos = {}
        [custom_size]
        nominal = { small = "10mb", medium = "1gb", large = "100gb" }
        scale = [{ below = "1gb", from = "small" }, { from = "large" }]
    "#;
    crate::document::read("kit.toml", text).expect("a right manifest")
}

#[test]
fn a_size_is_a_name_an_initial_or_bytes() {
    let customers = |asked: &str| kit().size(asked).map(|size| size["customers"]);
    assert_eq!(customers("small"), Ok(20_000.0));
    assert_eq!(customers("M"), Ok(2_000_000.0));
    assert_eq!(customers("30mb"), Ok(60_000.0));
    assert_eq!(customers("1GB"), Ok(2_000_000.0));
    assert_eq!(customers("10gb"), Ok(20_000_000.0));
}

#[test]
fn an_impossible_size_is_refused() {
    for asked in ["", "huge", "0mb"] {
        assert!(kit().size(asked).is_err(), "{asked:?} must be refused");
    }
}

#[test]
fn a_search_begins_at_the_usual_users_only_where_users_pause() {
    let first = |users: Users| KitManifest { users, ..kit() }.first_load();
    let users = || Users { default: 200, ..kit().users };
    let mean = |mean| Distribution::Exponential { mean, min: 0.0, max: 10.0 * mean };
    assert_eq!(first(users()), None, "without a pause ten users are a load");
    assert_eq!(first(Users { think: Some(Distribution::Fixed { value: 0.0 }), ..users() }), None);
    assert_eq!(first(Users { think: Some(mean(5.0)), ..users() }), Some(200.0));
    assert_eq!(first(Users { cycle: Some(mean(9.0)), ..users() }), Some(200.0));
    let by_session = [("login".to_string(), Distribution::Fixed { value: 3.0 })].into();
    assert_eq!(first(Users { by_session, ..users() }), Some(200.0));
}
