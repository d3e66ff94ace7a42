//! Sizes, mixes, and where a search for the load line begins.

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

/// As TPC-W: two numbers, and one that follows from one of them.
fn bookshop() -> KitManifest {
    let numbers = |items: f64, browsers: f64| -> BTreeMap<String, f64> {
        [("items", items), ("browsers", browsers)].map(|(name, value)| (name.to_string(), value)).into()
    };
    let sizes = [("medium", numbers(10_000.0, 100.0)), ("large", numbers(10_000.0, 500.0))];
    let custom_size = CustomSize {
        nominal: [("medium".to_string(), "300mb".to_string())].into(),
        scale: vec![Scale { below: None, from: "medium".to_string() }],
    };
    KitManifest {
        sizes: sizes.map(|(name, numbers)| (name.to_string(), numbers)).into(),
        custom_size: Some(custom_size),
        derived: [("customers".to_string(), Derived { of: "browsers".to_string(), times: 2880.0 })].into(),
        ..kit()
    }
}

#[test]
fn a_size_may_be_its_numbers_themselves_and_what_follows_from_them_is_there_in_each() {
    let of = |asked: &str| {
        let size = bookshop().size(asked).unwrap_or_else(|what| panic!("{asked}: {what}"));
        assert_eq!(size.len(), 3, "{asked}: {size:?}");
        [size["items"], size["browsers"], size["customers"]]
    };
    assert_eq!(of("items=1000,browsers=20"), [1000.0, 20.0, 57_600.0]);
    assert_eq!(of(" browsers = 20 , items = 1_000 "), [1000.0, 20.0, 57_600.0]);
    assert_eq!(of("large"), [10_000.0, 500.0, 1_440_000.0]);
    assert_eq!(of("750mb"), [25_000.0, 250.0, 720_000.0]);
    assert_eq!(of("1mb"), [33.0, 1.0, 2880.0], "what follows comes from the rounded numbers");
}

#[test]
fn numbers_that_are_no_size_are_refused_each_with_its_reason() {
    let refused = |asked: &str| bookshop().size(asked).expect_err(asked);
    for (asked, why) in [
        ("items=1000,browser=20", "`browser` is no number of this kit's sizes, which have browsers, items"),
        ("items=1000.5,browsers=20", "`items=1000.5`: a number of a size is whole, and 1 or more"),
        ("items=0,browsers=20", "`items=0`: a number of a size is whole"),
        ("items=-5,browsers=20", "`items=-5`: a number of a size is whole"),
        ("items=,browsers=20", "`items=`: a number of a size is whole"),
        ("items=99999999999999999,browsers=20", "a number of a size is whole"),
        ("items=1000,items=1000,browsers=20", "`items` is said twice"),
        ("items=1000", "`items=1000` doesn't say `browsers`: a size has browsers, items"),
        ("items=1000,browsers=20,customers=9", "`customers` follows from `browsers`: say that one"),
    ] {
        assert!(refused(asked).contains(why), "{asked}: {}", refused(asked));
    }
    let both = refused("item=1,browsers=0");
    assert!(both.contains("`item` is no number") && both.contains("`browsers=0`"), "all at once: {both}");
    assert!(refused("tiny").ends_with("or bytes such as 30mb, or browsers=…,items=…"), "{}", refused("tiny"));
}

#[test]
fn data_of_the_same_numbers_are_called_the_same_however_they_were_asked_for() {
    let kit = bookshop();
    let label = |asked: &str| kit.size_label(asked, &kit.size(asked).expect("a size"));
    for asked in ["medium", "M", "300mb", "300MB", "items=10000,browsers=100", "browsers=100,items=10_000"] {
        assert_eq!(label(asked), "medium", "{asked}");
    }
    for asked in ["items=1000,browsers=20", "browsers=20, items=1_000"] {
        assert_eq!(label(asked), "browsers=20,items=1000", "{asked}");
    }
    assert_eq!(label("750MB"), "750mb");
}

#[test]
fn a_mix_has_its_own_sessions_and_figures_and_its_targets_are_laid_over_the_kit_s() {
    let metric = |name: &str, mix: Option<&str>| Metric {
        name: name.to_string(),
        title: name.to_string(),
        unit: "1/s".to_string(),
        mix: mix.map(str::to_string),
        of: "all".to_string(),
        per: Per::Second,
        times: 1.0,
        at_least: None,
        at_most: None,
        judged_from_s: 0.0,
        at_least_samples: 0,
        why: None,
    };
    let targets = |pairs: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
        let owned = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| text.to_string()).collect() };
        pairs.iter().map(|(scope, texts)| (scope.to_string(), owned(texts))).collect()
    };
    let browsing = NamedMix {
        sequence: vec!["browse".to_string()],
        qos: targets(&[("Buy", &[]), ("Browse", &["p90 < 1s"]), ("Search", &["p90 < 2s"])]),
        ..NamedMix::default()
    };
    let whole = KitManifest {
        mixes: [("browsing".to_string(), browsing)].into(),
        metrics: vec![
            metric("wips", Some(DEFAULT_MIX)),
            metric("wipsb", Some("browsing")),
            metric("mean", None),
        ],
        qos: targets(&[("all", &["errors < 1%"]), ("Browse", &["p90 < 3s"]), ("Buy", &["p90 < 5s"])]),
        ..kit()
    };
    let shown = |kit: &KitManifest| kit.metrics.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    for mix in [None, Some(DEFAULT_MIX)] {
        let own = whole.under(mix).expect("every kit has it");
        assert_eq!((own.qos, own.mix.len()), (whole.qos.clone(), 1), "{mix:?}");
        assert_eq!(shown(&whole.under(mix).expect("it is there")), ["wips", "mean"]);
    }
    let other = whole.under(Some("browsing")).expect("the kit has it");
    assert_eq!(shown(&other), ["wipsb", "mean"]);
    assert_eq!((other.mix.len(), other.sequence.len()), (0, 1), "its sessions and no others");
    let expected =
        targets(&[("all", &["errors < 1%"]), ("Browse", &["p90 < 1s"]), ("Search", &["p90 < 2s"])]);
    assert_eq!(other.qos, expected);
    assert!(whole.under(Some("ordering")).is_none());
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
