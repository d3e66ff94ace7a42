//! How good diagnoses are: held against faults that were injected on purpose, where the right answer is known.

use model::catalogue::fault_file::Expected;
use model::record::diagnosis::{Diagnosis, Limited};
use model::record::instrument::{GENERATOR, OBSERVERS, VIEWER};

/// What is asked of the whole table.
pub const FIRST_RATIO: f64 = 0.85;
/// The same, of the first three suspects.
pub const THREE_RATIO: f64 = 0.95;
/// The most controls in which something is blamed.
pub const FALSE_ALARMS: usize = 1;

/// One diagnosis beside what is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The fault's name.
    pub fault: String,
    /// The run.
    pub run: String,
    /// What is right: (tier, resource); absent for a control.
    pub expected: Option<(String, String)>,
    /// The first three suspects: (tier, resource), and how sure.
    pub suspects: Vec<((String, String), f64)>,
    /// Whether the diagnosis blames anything.
    pub blames: bool,
    /// The right one is the first; for a control, nothing is blamed.
    pub right: bool,
    /// The right one is among the first three; for a control as above.
    pub among_three: bool,
}

impl Judged {
    /// Holds a diagnosis against what is right. A run without one names nothing.
    pub fn of(fault: &str, run: &str, expected: &Expected, diagnosis: Option<&Diagnosis>) -> Judged {
        let suspects: Vec<((String, String), f64)> = diagnosis
            .iter()
            .flat_map(|diagnosis| diagnosis.suspects.iter().take(3))
            .map(|suspect| ((suspect.tier.clone(), suspect.resource.clone()), suspect.sure_ratio))
            .collect();
        let state = diagnosis.map(|diagnosis| diagnosis.state);
        let blames = state == Some(Limited::Yes);
        let (expected, right, among_three) = match expected {
            Expected::Healthy => (None, diagnosis.is_some() && !blames, diagnosis.is_some() && !blames),
            Expected::Limit { tier, resource } => {
                let wanted = (tier.clone(), resource.clone());
                // A diagnosis that says that nothing holds the stack has not found what does.
                let denied = state == Some(Limited::No);
                let place = suspects.iter().position(|(named, _)| *named == wanted).filter(|_| !denied);
                (Some(wanted), place == Some(0), place.is_some())
            }
        };
        let (fault, run) = (fault.to_string(), run.to_string());
        Judged { fault, run, expected, suspects, blames, right, among_three }
    }

    /// The tier that is blamed first; absent when nothing is.
    pub fn blamed(&self) -> Option<&str> {
        self.suspects.first().filter(|_| self.blames).map(|((tier, _), _)| tier.as_str())
    }

    /// Probability that the diagnosis gives to its first suspect being the limit.
    fn sure_ratio(&self) -> f64 {
        self.suspects.first().map_or(0.0, |(_, sure)| *sure)
    }
}

/// How good many diagnoses are.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Diagnoses of faults.
    pub faults: usize,
    /// Share of them with the right tier and resource first; 1 without any.
    pub first_ratio: f64,
    /// Share of them with it among the first three; 1 without any.
    pub three_ratio: f64,
    /// Diagnoses of controls.
    pub controls: usize,
    /// Controls in which something was blamed.
    pub false_alarms: usize,
    /// Mean square of (how sure it was of its first suspect − whether that was right): 0 is best, 0.25 is what a coin
    /// gives (Brier 1950).
    pub brier: f64,
}

impl Score {
    /// Of all that were judged.
    pub fn of(judged: &[Judged]) -> Score {
        let (faults, controls): (Vec<&Judged>, Vec<&Judged>) =
            judged.iter().partition(|one| one.expected.is_some());
        let share = |count: usize| if faults.is_empty() { 1.0 } else { count as f64 / faults.len() as f64 };
        let square = |one: &Judged| {
            let hit = one.expected.is_some() && one.right;
            (one.sure_ratio() - f64::from(u8::from(hit))).powi(2)
        };
        Score {
            faults: faults.len(),
            first_ratio: share(faults.iter().filter(|one| one.right).count()),
            three_ratio: share(faults.iter().filter(|one| one.among_three).count()),
            controls: controls.len(),
            false_alarms: controls.iter().filter(|one| !one.right).count(),
            brier: judged.iter().map(square).sum::<f64>() / judged.len().max(1) as f64,
        }
    }

    /// Whether the marks are met: of the whole table, or of a few (all among the first three, no false alarm).
    pub fn meets(&self, few: bool) -> bool {
        if few {
            return self.three_ratio >= 1.0 && self.false_alarms == 0;
        }
        self.first_ratio >= FIRST_RATIO
            && self.three_ratio >= THREE_RATIO
            && self.false_alarms <= FALSE_ALARMS
    }
}

/// How often faults of one tier (row) were blamed on another (column); `nothing` is a control's tier, and what is blamed
/// where nothing is.
pub fn confusion(judged: &[Judged]) -> (Vec<String>, Vec<(String, Vec<usize>)>) {
    const NOTHING: &str = "nothing";
    const ORDER: [&str; 9] = ["web", "app", "cache", "db", "host", GENERATOR, OBSERVERS, VIEWER, NOTHING];
    let row = |one: &Judged| one.expected.as_ref().map_or(NOTHING, |(tier, _)| tier.as_str()).to_string();
    let column = |one: &Judged| one.blamed().unwrap_or(NOTHING).to_string();
    let place = |name: &String| ORDER.iter().position(|one| one == name).unwrap_or(ORDER.len());
    let sorted = |mut names: Vec<String>| {
        names.sort_by(|one, other| place(one).cmp(&place(other)).then(one.cmp(other)));
        names.dedup();
        names
    };
    let columns = sorted(judged.iter().flat_map(|one| [row(one), column(one)]).collect());
    let rows = sorted(judged.iter().map(row).collect());
    let count = |expected: &String, named: &String| {
        judged.iter().filter(|one| row(one) == *expected && column(one) == *named).count()
    };
    let rows = rows.into_iter().map(|expected| {
        let counts = columns.iter().map(|named| count(&expected, named)).collect();
        (expected, counts)
    });
    let rows = rows.collect();
    (columns, rows)
}

#[cfg(test)]
mod tests {
    use model::record::diagnosis::Suspect;

    use super::*;

    fn diagnosis(state: Limited, suspects: &[(&str, &str, f64)]) -> Diagnosis {
        let suspects = suspects.iter().map(|(tier, resource, sure)| Suspect {
            rule: String::new(),
            tier: tier.to_string(),
            resource: resource.to_string(),
            title: String::new(),
            strengths: Default::default(),
            sure_ratio: *sure,
            evidence: Vec::new(),
            tries: Vec::new(),
        });
        Diagnosis {
            state,
            sentence: String::new(),
            suspects: suspects.collect(),
            ledger: None,
            unseen: Vec::new(),
            proof: None,
            line_proof: None,
        }
    }

    fn limit(tier: &str, resource: &str) -> Expected {
        Expected::Limit { tier: tier.into(), resource: resource.into() }
    }

    #[test]
    fn the_right_tier_with_another_resource_is_wrong() {
        let said = diagnosis(Limited::Yes, &[("db", "cpu", 0.9), ("db", "index", 0.6)]);
        let one = Judged::of("missing-index", "r", &limit("db", "index"), Some(&said));
        assert!(!one.right && one.among_three);
        let denied = diagnosis(Limited::No, &[("db", "index", 0.3)]);
        let two = Judged::of("missing-index", "r", &limit("db", "index"), Some(&denied));
        assert!(!two.right && !two.among_three, "a diagnosis of health has not found it");
        assert!(!Judged::of("none", "r", &limit("db", "index"), None).among_three);
    }

    #[test]
    fn a_control_is_right_when_nothing_is_blamed_and_wrong_without_a_diagnosis() {
        let calm = diagnosis(Limited::No, &[("web", "cpu", 0.2)]);
        let alarm = diagnosis(Limited::Yes, &[("web", "cpu", 0.8)]);
        let judge = |said: Option<&Diagnosis>| Judged::of("healthy", "r", &Expected::Healthy, said).right;
        assert_eq!((judge(Some(&calm)), judge(Some(&alarm)), judge(None)), (true, false, false));
    }

    #[test]
    fn the_score_is_worked_out_by_hand() {
        let good = diagnosis(Limited::Yes, &[("web", "cpu", 0.9)]);
        let bad = diagnosis(Limited::Yes, &[("app", "cpu", 0.6), ("web", "cpu", 0.5)]);
        let calm = diagnosis(Limited::No, &[("web", "cpu", 0.1)]);
        let judged = [
            Judged::of("a", "1", &limit("web", "cpu"), Some(&good)),
            Judged::of("b", "2", &limit("web", "cpu"), Some(&bad)),
            Judged::of("c", "3", &Expected::Healthy, Some(&calm)),
        ];
        let score = Score::of(&judged);
        assert_eq!((score.faults, score.controls, score.false_alarms), (2, 1, 0));
        assert_eq!((score.first_ratio, score.three_ratio), (0.5, 1.0));
        assert!((score.brier - (0.01 + 0.36 + 0.01) / 3.0).abs() < 1e-12, "{score:?}");
        assert!(score.meets(true) && !score.meets(false));
        let (columns, rows) = confusion(&judged);
        assert_eq!(columns, ["web", "app", "nothing"]);
        assert_eq!(rows, [("web".to_string(), vec![1, 1, 0]), ("nothing".to_string(), vec![0, 0, 1])]);
    }
}
