use super::*;

fn users(text: &str) -> UsualPauses {
    toml::from_str(text).expect("pauses")
}

fn declared(text: &str) -> Declarations {
    #[derive(Deserialize)]
    struct File {
        population: Declarations,
    }
    toml::from_str::<File>(text).expect("populations").population
}

fn resolved(text: &str, own: &str) -> Populations {
    Populations::resolve(&Sessions::default(), &declared(text), &users(own)).expect("no mistake")
}

fn shares(shares: &[f64]) -> Populations {
    let text: String = shares
        .iter()
        .enumerate()
        .map(|(number, share)| format!("[population.p{number}]\nshare = {share}\nmix.visit = 1\n"))
        .collect();
    resolved(&text, "")
}

#[test]
fn of_any_first_users_each_population_has_its_share() {
    // The error allowed beside each: half a user where there are two, less than one of three, a user and a half of more.
    let cases: [(&[f64], f64); 7] = [
        (&[0.9, 0.1], 0.5),
        (&[0.5, 0.5], 0.5),
        (&[0.001, 0.999], 0.5),
        (&[0.2, 0.3, 0.5], 1.0),
        (&[0.333, 0.333, 0.334], 1.0),
        (&[0.1, 0.2, 0.3, 0.4], 1.5),
        (&[0.02, 0.03, 0.05, 0.1, 0.8], 1.5),
    ];
    for (ratios, allowed) in cases {
        let populations = shares(ratios);
        let mut counts = vec![0u32; ratios.len()];
        for number in 0..5_000u32 {
            counts[populations.of_user(number.into())] += 1;
            assert_eq!(
                populations.of_users(number + 1),
                counts,
                "{ratios:?}: the first {number} and one more"
            );
            for (count, ratio) in counts.iter().zip(ratios) {
                let off = (f64::from(*count) - f64::from(number + 1) * ratio).abs();
                assert!(off <= allowed + 1e-6, "{ratios:?}: {counts:?} of {}", number + 1);
            }
        }
    }
}

#[test]
fn shares_are_kept_by_users_of_any_number() {
    let populations = shares(&[0.9, 0.1]);
    let from = u64::from(u32::MAX) - 1_000;
    let second = (from..from + 1_000).filter(|number| populations.of_user(*number) == 1).count();
    assert!((99..=101).contains(&second), "{second} of 1,000");
}

const TWO: &str = r#"
[population.editors]
share = 0.25
sequence = ["edit", "save"]
begins_with = "login"
cycle = { distribution = "fixed", value = 4.0 }
by_session.save = { distribution = "fixed", value = 9.0 }

[population.readers]
share = 0.75
mix = { edit = 1, read = 3 }
"#;

#[test]
fn sessions_and_cells_are_numbered_through_all_populations_and_pauses_are_each_one_s_own() {
    let populations = resolved(TWO, "think = { distribution = \"fixed\", value = 1.0 }");
    let names: Vec<&str> = populations.sessions().map(String::as_str).collect();
    assert_eq!(names, ["edit", "save", "login", "edit", "read"]);
    let [editors, readers] = &populations.all[..] else { panic!("{populations:?}") };
    assert_eq!((editors.begins_with, editors.by_cycles, editors.first_session), (Some(2), true, 0));
    let fixed = |value| Some(Distribution::Fixed { value });
    assert_eq!(editors.pauses, [fixed(4.0), fixed(9.0), fixed(4.0)]);
    assert_eq!((readers.begins_with, readers.by_cycles, readers.first_session), (None, false, 3));
    assert_eq!(readers.pauses, [fixed(1.0), fixed(1.0)]);
    // A sequence has no cells of its own; then come those of the readers' two weights, and each one's count.
    assert_eq!((editors.begun_cell(), readers.begun_cell(), populations.cells()), (Some(0), Some(3), 4));
    assert_eq!(readers.draws(), [(1, &[0.25, 0.75][..])]);
    assert_eq!(populations.of_users(8), [2, 6]);
}

#[test]
fn without_populations_all_users_are_alike_and_nothing_is_counted_beside_the_mix() {
    let own = Sessions { mix: [("visit".to_string(), 1.0)].into(), ..Sessions::default() };
    let alike = Populations::resolve(&own, &Declarations::new(), &users("")).expect("no mistake");
    assert_eq!((alike.are_declared(), alike.cells(), alike.shares()), (false, 1, Vec::new()));
    assert_eq!((alike.of_user(0), alike.of_user(12_345)), (0, 0));
}

#[test]
fn every_mistake_is_told_at_once_with_its_key() {
    let text = r#"
        [population.editors]
        share = 0.2
        mix = { edit = -1 }
        think = { distribution = "fixed", value = 1.0 }
        cycle = { distribution = "fixed", value = 1.0 }
        by_session.edt = { distribution = "fixed", value = 1.0 }
        [population.readers]
        share = 0.5
    "#;
    let own = Sessions { sequence: vec!["visit".to_string()], ..Sessions::default() };
    let found = Populations::resolve(&own, &declared(text), &users("")).expect_err("mistakes").into_vec();
    let keys: Vec<&str> = found.iter().filter_map(|problem| problem.place.key.as_deref()).collect();
    for key in [
        "sequence",
        "population",
        "population.editors.mix.edit",
        "population.editors.cycle",
        "population.editors.by_session.edt",
        "population.readers.mix",
    ] {
        assert!(keys.contains(&key), "{key} is not among {keys:?}");
    }
    let sum = found.iter().any(|problem| problem.what.contains("sum to 0.7, not to 1"));
    assert!(sum, "{found:?}");
}
