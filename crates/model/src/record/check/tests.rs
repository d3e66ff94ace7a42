use super::*;

/// Breaks the build where a check was added without thinking of its row.
fn is_declared_once(check: &Check) -> bool {
    use Check::*;
    let rows = CHECKS.iter().filter(|one| one.check == *check).count();
    match check {
        Tiers | Duration | Room | Link | ErrorsAll | Viewer | GeneratorCpu | FleetAgents
        | FleetGenerators | FleetStart | FleetClock | GeneratorThread | SendLag | LoadByHand | Users
        | Arrivals | Mix | MixShares | Think | Cycle | Little | Samples | Untimed | Alarms | Consistency
        | Ceiling => rows == 1,
        Metric(_) | Other(_) => rows == 0,
    }
}

#[test]
fn every_check_is_declared_once_and_comes_back_from_its_identifier() {
    for declared in &CHECKS {
        assert!(is_declared_once(&declared.check), "{declared:?}");
        assert_eq!(Check::of(declared.id), declared.check);
        assert_eq!(declared.check.id(), declared.id);
    }
    let ids: std::collections::BTreeSet<&str> = CHECKS.iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), CHECKS.len());
}

#[test]
fn a_record_of_another_version_keeps_a_check_that_this_one_does_not_know() {
    let kept: Vec<Check> =
        serde_json::from_str(r#"["send_lag", "metric:users_per_operation", "a_later_one"]"#).expect("JSON");
    assert_eq!(
        kept,
        [Check::SendLag, Check::Metric("users_per_operation".into()), Check::Other("a_later_one".into())]
    );
    let written = serde_json::to_string(&kept).expect("JSON");
    assert_eq!(written, r#"["send_lag","metric:users_per_operation","a_later_one"]"#);
    let titles: Vec<String> = kept.iter().map(|check| check.title().to_string()).collect();
    assert_eq!(titles, ["send lag", "users per operation", "a later one"]);
    assert_eq!(kept[2].class(), None);
}
