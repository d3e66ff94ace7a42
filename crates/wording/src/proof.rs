//! What a proof by intervention says.

use analysis::elasticity::{Conclusion, conclusion};
use model::record::diagnosis::{Change, Handicap, LeftOut};

/// What a proof gave.
#[derive(Debug)]
pub struct ProofFacts<'a> {
    /// What each handicap did, the suspect's first.
    pub handicaps: &'a [Handicap],
    /// Nothing could be taken from another tier.
    pub alone: bool,
    /// The windows that don't count.
    pub left_out: Option<&'a LeftOut>,
    /// The number of all windows.
    pub windows: usize,
}

/// What follows from the handicaps, and what it lacks.
pub fn proof(facts: &ProofFacts<'_>) -> String {
    let mut text = conclusion_of(facts.handicaps);
    if facts.alone {
        text += " Nothing was taken from another tier: this machine lets no CPU quota be set.";
    }
    if let Some(some) = facts.left_out {
        text += &format!(" {}", left_out(some, facts.windows));
    }
    text
}

fn conclusion_of(handicaps: &[Handicap]) -> String {
    let Some((suspect, innocent)) = handicaps.split_first() else { return "Nothing was taken.".to_string() };
    let Some(value) = suspect.elasticity else {
        return format!("Nothing can be said: no pair of windows with {} is whole.", change(suspect));
    };
    let (Some((low, high)), Some(conclusion)) = (suspect.interval, conclusion(handicaps)) else {
        let seen = format!("So far {} gave", change(suspect));
        return format!("{seen} an elasticity of {value:.2}; too few pairs of windows for an interval.");
    };
    let word = match conclusion {
        Conclusion::Proved => "Proved",
        Conclusion::NotToldApart => "Not told apart",
        Conclusion::PartlyProved => "Partly proved",
        Conclusion::Refuted => "Refuted",
        Conclusion::Open => "Open",
    };
    let mut text =
        format!("{word}: {}, elasticity of throughput {value:.2} ({low:.2} to {high:.2})", change(suspect));
    text += &expected(suspect);
    text += &stopped(suspect);
    for other in innocent {
        let Some(value) = other.elasticity else { continue };
        let interval =
            other.interval.map(|(low, high)| format!(" ({low:.2} to {high:.2})")).unwrap_or_default();
        text += &format!("; {}: {value:.2}{interval}", change(other));
        text += &stopped(other);
    }
    text += ".";
    if conclusion == Conclusion::Open && suspect.change == Change::Lengthened {
        text += " Where a disk or a service gives only a number a second, a wait that takes longer hides in its queue.";
    }
    text
}

/// `25 of MaxRequestWorkers 50 taken from tier web`.
fn change(one: &Handicap) -> String {
    let Handicap { what, tier, .. } = one;
    match one.change {
        Change::Taken => format!("{what} taken from tier {tier}"),
        Change::Added => format!("{what} given to tier {tier} in addition"),
        Change::Lengthened => format!("{what} of tier {tier} made longer"),
    }
}

/// ` (by the ledger 0.61 is expected)`.
fn expected(handicap: &Handicap) -> String {
    handicap.expected.map(|value| format!(" (by the ledger {value:.2} is expected)")).unwrap_or_default()
}

/// That windows don't count, and the number of all.
fn left_out(left_out: &LeftOut, all: usize) -> String {
    let LeftOut { windows, sentence, .. } = left_out;
    format!("{windows} of {all} windows don't count, nor do the others of their blocks: {sentence}.")
}

/// ` (in 3 of 8 pairs nothing completed any more)`.
fn stopped(handicap: &Handicap) -> String {
    match handicap.stopped {
        0 => String::new(),
        count => format!(" (in {count} of {} pairs nothing completed any more)", handicap.pairs),
    }
}

#[cfg(test)]
mod tests {
    use model::Check;

    use super::*;

    fn handicap(tier: &str, elasticity: f64, interval: Option<(f64, f64)>, stopped: u32) -> Handicap {
        Handicap {
            tier: tier.into(),
            what: "15 % of its CPU time".into(),
            change: Change::Taken,
            expected: None,
            suspect: tier == "web",
            elasticity: Some(elasticity),
            interval,
            pairs: 8,
            stopped,
        }
    }

    #[test]
    fn the_conclusion_comes_first_and_then_each_handicap() {
        let web = handicap("web", 1.0, Some((0.9, 1.1)), 4);
        let calm = |tier| handicap(tier, 0.02, Some((-0.1, 0.1)), 0);
        assert_eq!(
            conclusion_of(&[web, calm("db")]),
            "Proved: 15 % of its CPU time taken from tier web, elasticity of throughput 1.00 (0.90 to 1.10) (in 4 of 8 \
             pairs nothing completed any more); 15 % of its CPU time taken from tier db: 0.02 (-0.10 to 0.10)."
        );
        let more = Handicap { change: Change::Added, ..handicap("web", 0.7, None, 0) };
        let both = conclusion_of(&[handicap("web", 1.0, Some((0.9, 1.1)), 0), more]);
        assert!(both.ends_with("; 15 % of its CPU time given to tier web in addition: 0.70."), "{both}");
        let sleep = Handicap {
            change: Change::Lengthened,
            what: "each sleep".into(),
            expected: Some(0.4),
            ..handicap("web", 0.45, Some((0.35, 0.55)), 0)
        };
        assert_eq!(
            conclusion_of(&[sleep, calm("db")]),
            "Proved: each sleep of tier web made longer, elasticity of throughput 0.45 (0.35 to 0.55) (by the ledger 0.40 is \
             expected); 15 % of its CPU time taken from tier db: 0.02 (-0.10 to 0.10)."
        );
        let refuted = conclusion_of(&[calm("web")]);
        assert!(refuted.starts_with("Refuted"), "{refuted}");
        assert_eq!(conclusion_of(&[]), "Nothing was taken.");
    }

    #[test]
    fn what_a_proof_lacks_stands_at_its_end() {
        let sentence = "the generator was late".to_string();
        let windows = LeftOut { windows: 3, check: Check::SendLag, sentence };
        let facts = ProofFacts { handicaps: &[], alone: true, left_out: Some(&windows), windows: 24 };
        assert_eq!(
            proof(&facts),
            "Nothing was taken. Nothing was taken from another tier: this machine lets no CPU quota be set. 3 of 24 windows \
             don't count, nor do the others of their blocks: the generator was late."
        );
    }

    #[test]
    fn without_an_interval_it_is_said_that_pairs_are_too_few() {
        let few = conclusion_of(&[handicap("web", 0.9, None, 0)]);
        assert!(few.contains("too few pairs"), "{few}");
    }
}
