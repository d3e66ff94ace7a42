//! The command line: verbs and their flags. Each verb's arguments live beside the verb.

use clap::{Parser, Subcommand};

use crate::global_args::GlobalArgs;
use crate::verbs;
use runner::environment::Helpers;

/// Finds the load line of a web stack: how many users a real stack serves within its response-time targets.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll run dvdstore                                   the default stack, a minute of steady state
  plimsoll run dvdstore --users 50 --set apache.MaxRequestWorkers=64
  plimsoll run dvdstore --stack lighttpd-fpm-mariadb --qos 'p95 < 300ms' --json
  plimsoll find dvdstore --qos 'p95 < 300ms'              how many users it carries
  plimsoll sweep sun-2008-table3                          a study of the catalogue, every cell
  plimsoll compare default web.MaxRequestWorkers=64 --kit dvdstore
  plimsoll hit http://127.0.0.1:8080/ -c 100              one request, repeated
  plimsoll try dvdstore                                   one user, every request shown
  plimsoll up dvdstore                                    stand it up to click around
  plimsoll explore dvdstore                               change the number of users by hand
  plimsoll show last                                      the last run again
  plimsoll explain last                                   what holds its stack, and what to try
  plimsoll capacity --users 10000 --per-user-per-day 24 --peak-factor 5
  plimsoll list tpcw                                      a kit's stacks, sizes, mixes and parameters
  plimsoll serve                                          all of it in a browser, with a queue
  plimsoll doctor                                         what this machine can and cannot do

Everything is kept below $PLIMSOLL_HOME (as root /srv/plimsoll, else ~/.local/share/plimsoll).
Exit codes: 0 valid and passed, 1 our bug, 2 bad input or a missing package, 3 run not valid or no answer,
99 a QoS target missed, 105 interrupted (what was measured is kept).";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Stand a stack up, drive it with users, measure and judge it
    Run(verbs::run::RunArgs),
    /// Stand a stack up, drive it with users, and change their number by hand while looking on
    Explore(Box<verbs::explore::ExploreArgs>),
    /// Find how many users a stack serves within its targets, with an interval
    Find(verbs::find::FindArgs),
    /// Measure every cell of a study: stacks, knobs and loads against each other
    Sweep(verbs::sweep::SweepArgs),
    /// Compare two stacks, settings, catalogues or stored runs: which is faster, and by how much
    Compare(Box<verbs::compare::CompareArgs>),
    /// Inject known bottlenecks on purpose and see whether the diagnosis finds them
    Faults(verbs::faults::FaultsArgs),
    /// Repeat one request over many connections: rate, times, and whether to believe them
    Hit(verbs::hit::HitArgs),
    /// Follow one user through a session, every request printed
    Try(verbs::try_kit::TryArgs),
    /// Stand a stack up with its data and keep it until Ctrl-C
    Up(verbs::up::UpArgs),
    /// Check a recipe, a study, a kit, a service or a stack without starting anything
    Check(verbs::check::CheckArgs),
    /// List kits, stacks, studies, services and presets of targets
    List(verbs::list::ListArgs),
    /// List the runs that are kept
    Runs(verbs::runs::RunsArgs),
    /// Keep a list of measurements and do one after the other
    Queue(verbs::queue::QueueArgs),
    /// Show what is kept and the queue in a browser, do its jobs, and follow what is being measured
    Serve(verbs::serve::ServeArgs),
    /// Keep a note and tags with a run or a study; pin it
    Note(verbs::note::NoteArgs),
    /// Show a kept run in the terminal
    Show(verbs::show::ShowArgs),
    /// Tell what holds the stack of a kept run or find, how one sees it, and what to try
    Explain(verbs::explain::ExplainArgs),
    /// Tell whether what a kept run showed is enough for a given number of users
    Capacity(verbs::capacity::CapacityArgs),
    /// Write a kept run's HTML report
    Report(verbs::report::ReportArgs),
    /// Give a run's figures to Prometheus or an OpenTelemetry collector while it is measured
    Export(verbs::export::ExportArgs),
    /// Make a link between two hosts and measure what it does to packets
    Link(verbs::link::LinkArgs),
    /// Be a load machine of a fleet
    #[command(name = Helpers::AGENT)]
    Agent(verbs::agent::AgentArgs),
    /// Set up, place, look at and take down load machines
    Fleet(verbs::fleet::FleetArgs),
    /// Tell what this machine can and cannot do; install what is missing
    Doctor(verbs::doctor::DoctorArgs),
    /// Remove what killed runs left behind; remove runs, studies, data sets and what was built
    Clean(verbs::clean::CleanArgs),
    /// Ends a lab whose tool has died; started by plimsoll itself
    #[command(hide = true, name = Helpers::KEEPER)]
    Keeper(verbs::keeper::KeeperArgs),
    /// Watches the machine and the tiers while a run lasts; started by plimsoll itself
    #[command(hide = true, name = Helpers::OBSERVER)]
    Observer,
    /// Reads files from inside of a tier; started by plimsoll itself
    #[command(hide = true, name = Helpers::READER)]
    Reader,
    /// Carries packets between hosts of a stack; started by plimsoll itself
    #[command(hide = true, name = Helpers::SWITCH)]
    Switch(verbs::switch::SwitchArgs),
    /// Takes CPU time on purpose; started by plimsoll itself
    #[command(hide = true, name = Helpers::STRESSOR)]
    Stressor,
}
