//! What is said of several instances of a tier: whether they have the same rows, and what came of one that was ended.

use std::collections::BTreeMap;

use model::record::Outage;
use model::units::{number, show_seconds};

/// Whether the nodes of a cluster have the same rows. `nodes` are the numbers of those that were asked, and `different` are the tables
/// that differ with the places in `nodes` of those that have other rows than the first.
pub fn copies(tables: usize, nodes: &[usize], different: &BTreeMap<String, Vec<usize>>) -> String {
    let first = nodes.first().copied().unwrap_or(1);
    if different.is_empty() {
        return format!("{tables} tables have the same rows on nodes {}", list(nodes));
    }
    let differs = |(table, places): (&String, &Vec<usize>)| {
        let others: Vec<usize> = places.iter().filter_map(|place| nodes.get(*place).copied()).collect();
        format!("{table} has other rows on node {} than on node {first}", list(&others))
    };
    different.iter().map(differs).collect::<Vec<_>>().join("; ")
}

fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// What users saw of an instance that was ended.
pub fn outage(outage: &Outage) -> String {
    let Outage { tier, instance, instances, at_s, beside, .. } = outage;
    let before = number(outage.before_per_s);
    let failed = match outage.failed {
        0 => "no operation failed".to_string(),
        1 => "1 operation failed".to_string(),
        failed => format!("{} operations failed", number(failed as f64)),
    };
    let course = match outage.recovered_after_s {
        Some(0.0) => format!("the rate stayed within 10 % of the {before} operations/s of before"),
        Some(after_s) => format!(
            "after {} s there were 90 % of the {before} operations/s of before again; at worst {} completed in a second",
            number(after_s),
            number(outage.least_per_s as f64)
        ),
        None => format!(
            "90 % of the {before} operations/s of before were not reached again; at worst {} completed in a second",
            number(outage.least_per_s as f64)
        ),
    };
    let what = match outage.cut_s {
        None => "was killed".to_string(),
        Some(cut_s) if beside.is_empty() => format!("was cut off for {}", show_seconds(cut_s)),
        Some(cut_s) => {
            format!("was cut off, with {} on its host, for {}", beside.join(", "), show_seconds(cut_s))
        }
    };
    format!("{tier}-{instance} of {instances} {what} in second {}: {failed}; {course}", at_s.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_whose_rows_differ_are_named_with_the_table() {
        let same = copies(12, &[1, 2, 3], &BTreeMap::new());
        assert_eq!(same, "12 tables have the same rows on nodes 1, 2 and 3");
        let different = BTreeMap::from([("ORDERS".to_string(), vec![1])]);
        let said = copies(12, &[1, 3], &different);
        assert_eq!(said, "ORDERS has other rows on node 3 than on node 1");
    }

    #[test]
    fn an_outage_says_what_failed_and_when_the_rate_was_back() {
        let one = Outage {
            tier: "db".into(),
            instance: 3,
            instances: 3,
            beside: Vec::new(),
            at_s: 22.4,
            cut_s: None,
            before_per_s: 120.0,
            least_per_s: 0,
            failed: 37,
            recovered_after_s: Some(6.0),
            after_per_s: Some(118.0),
        };
        let said = outage(&one);
        let parts = [
            "db-3 of 3 was killed in second 22: 37 operations failed",
            "after 6 s there were 90 % of the 120",
        ];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        let cut = outage(&Outage { cut_s: Some(5.0), ..one.clone() });
        assert!(cut.contains("was cut off for 5.00 s in second 22"), "{cut}");
        let with = outage(&Outage { cut_s: Some(5.0), beside: vec!["data-1".into()], ..one.clone() });
        assert!(with.contains("db-3 of 3 was cut off, with data-1 on its host, for 5.00 s"), "{with}");
        let never = outage(&Outage { recovered_after_s: None, failed: 0, ..one.clone() });
        assert!(never.contains("no operation failed") && never.contains("not reached again"), "{never}");
        let unseen = outage(&Outage { recovered_after_s: Some(0.0), failed: 1, ..one });
        assert!(unseen.contains("1 operation failed; the rate stayed within 10 %"), "{unseen}");
    }
}
