//! The generator beside others on the same server (`make bench`), its instructions a request (`make instructions`), how ledgers
//! close and what they cost, comparisons made of the blocks of kept ones, finds on simulated stacks that nobody has seen, bottlenecks that are drawn, what a fleet's controller costs, and the
//! pages of studies (`make results`). What is measured of
//! generators is their own CPU time, because on a busy machine wall-clock rates mean little.

mod answers;
mod blind;
mod cases;
mod child;
mod comparison;
mod fleet;
mod held_out;
mod instructions;
mod ledger;
mod load_line;
mod marks;
mod nginx;
mod page;
mod resample;
mod results;
mod rounds;
mod study_page;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What went wrong, in words.
pub(crate) type Failure = Box<dyn std::error::Error>;

#[derive(Debug, Parser)]
#[command(name = "bench")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs every generator on every case in turn and prints the table
    Table(Table),
    /// Makes up comparisons of the blocks of kept ones, and prints how they are judged
    Resample(resample::Resample),
    /// Finds on simulated stacks that are drawn from a commit's hash, and prints what they came to
    HeldOut(held_out::HeldOut),
    /// Draws bottlenecks from a seed and writes each as a fault
    Blind(blind::Blind),
    /// Prints what the diagnoses of drawn bottlenecks came to
    BlindTable(blind::Ran),
    /// Fits how evidence becomes a probability to runs whose limit is known
    BlindFit(blind::Kept),
    /// Prints such runs as cases that the rules are tested on
    BlindRecord(blind::Kept),
    /// Prints the row of docs/results/load-lines.md that a find makes
    LoadLine(results::Kept),
    /// Prints the row of docs/results/comparisons.md that a comparison with a known answer makes
    Comparison(comparison::Planted),
    /// Writes what a sweep measured into its page, between the marks there (`make results`)
    StudyPage(study_page::StudyPage),
    /// Prints the row of docs/results/ledger.md that a run makes
    Ledger(ledger::Closing),
    /// Prints what counting calls costs, from runs that took turns
    LedgerCost(ledger::Cost),
    /// Merges the seconds of many agents over a real broker, and prints what that costs the controller
    Fleet(fleet::Fleet),
    /// Counts instructions a request and compares them with benches/instructions.toml
    Instructions {
        /// The program to count in
        #[arg(long, default_value = "target/release/hotpath")]
        hotpath: PathBuf,
        /// The budgets
        #[arg(long, default_value = "benches/instructions.toml")]
        budgets: PathBuf,
        /// The profile that the program was built with: each has budgets of its own
        #[arg(long, default_value = "release")]
        profile: String,
    },
}

/// What to run, and where the generators are.
#[derive(Debug, clap::Args)]
pub(crate) struct Table {
    /// How often each generator runs; their turns alternate
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long one turn lasts
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Only cases whose name contains this
    #[arg(long, default_value = "")]
    case: String,
    /// This tool
    #[arg(long, default_value = "target/release/plimsoll")]
    plimsoll: PathBuf,
    /// The server
    #[arg(long, default_value = "/usr/sbin/nginx")]
    nginx: PathBuf,
    /// The other generators, where they are not on the path
    #[arg(long, default_value = "oha")]
    oha: PathBuf,
    /// k6
    #[arg(long, default_value = "k6")]
    k6: PathBuf,
    /// Put the table into this page, between its marks
    #[arg(long)]
    page: Option<PathBuf>,
}

fn main() -> ExitCode {
    let ended = child::end_all_on_signals().and_then(|()| match Cli::parse().verb {
        Verb::Table(table) => rounds::run(&table),
        Verb::Resample(asked) => resample::run(&asked),
        Verb::HeldOut(asked) => held_out::run(&asked),
        Verb::Blind(asked) => blind::draw(&asked),
        Verb::BlindTable(ran) => blind::print(&ran),
        Verb::BlindFit(asked) => blind::fit(&asked),
        Verb::BlindRecord(asked) => blind::record(&asked),
        Verb::LoadLine(kept) => load_line::row(&kept),
        Verb::Comparison(asked) => comparison::row(&asked),
        Verb::StudyPage(asked) => study_page::write(&asked),
        Verb::Ledger(asked) => ledger::closing(&asked),
        Verb::LedgerCost(asked) => ledger::cost(&asked),
        Verb::Fleet(asked) => fleet::run(&asked),
        Verb::Instructions { hotpath, budgets, profile } => instructions::check(&hotpath, &budgets, &profile),
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}
