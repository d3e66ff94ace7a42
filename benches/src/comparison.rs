//! The answer of a comparison whose right answer is known, as a row of docs/results/comparisons.md.

use model::record::study::{CPU, Compare, Conclusion, Question};

use crate::Failure;
use crate::results::Kept;

/// What is known of a comparison, beside what it says.
#[derive(Debug, clap::Args)]
pub(crate) struct Planted {
    #[command(flatten)]
    kept: Kept,
    /// What B has more than A: `same`, or a share such as `5%`
    #[arg(long)]
    planted: String,
}

/// Prints the row: what was planted, the seed, the answer, whether it is right, the number of blocks.
pub(crate) fn row(asked: &Planted) -> Result<(), Failure> {
    let study = asked.kept.study()?;
    let Question::Compare(compare) = &study.question else { return Err("it is no comparison".into()) };
    let slower = asked.planted != "same";
    let answer = compare.conclusion.as_ref().ok_or("it has no answer yet")?;
    let right = match (answer, by_cpu(compare)) {
        (Conclusion::Open { .. }, Some(by_cpu)) => {
            format!("open; by its CPU time {}", judged(by_cpu, slower))
        }
        (answer, _) => judged(answer, slower).to_string(),
    };
    let blocks = compare.effects.first().map_or(0, |effect| effect.blocks).to_string();
    let seed = compare.seed.to_string();
    asked.kept.put(&[&asked.planted, &seed, &study.sentence, &right, &blocks], &study)
}

/// What the CPU time of an operation says, which varies less.
fn by_cpu(compare: &Compare) -> Option<&Conclusion> {
    let cpu = compare.effects.iter().find(|effect| effect.figure == CPU && effect.operation.is_none());
    cpu.map(|effect| &effect.conclusion)
}

/// Whether a conclusion is right of a B that is slower, or the same.
fn judged(answer: &Conclusion, slower: bool) -> &'static str {
    match answer {
        Conclusion::Faster => "wrong direction",
        Conclusion::Slower if slower => "yes",
        Conclusion::Same if !slower => "yes",
        Conclusion::Slower => "wrong: there is no difference",
        Conclusion::Same => "wrong: there is a difference",
        Conclusion::Open { .. } => "open",
    }
}
