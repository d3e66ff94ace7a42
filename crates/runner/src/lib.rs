//! Runs plans (layer 3): what a plan needs is made once and kept, a stack stands on it, users drive it, the run is judged
//! and kept; and the trials of a study, and the proof of a diagnosis, are runs on stacks that stand.
//!
//! [`outcome::run`] takes a plan to a kept run; [`trial::TrialBench`] is where the trials of a study take place. Both go by an
//! [`environment::Environment`], and tell a [`progress::Progress`] what they are at.
//!
//! Not here: the command line, the console, signals and exit codes (`plimsoll`); what users do (`engine`), how servers are
//! started (`testbed`), what a figure means (`analysis`), which trial is next (`experiment`), where files lie (`store`).

pub mod artefact;
mod at_once;
pub mod awake;
pub mod by_hand;
pub mod catalogue_folder;
pub mod ceiling;
pub mod cpus;
pub mod diagnose;
pub mod environment;
mod exchange;
pub mod fleet;
mod front_page;
pub mod guests;
pub mod interrupt;
pub mod jobs;
mod judge;
mod keep;
mod lab;
pub mod link;
mod links;
pub mod machine_lock;
mod measure;
pub mod outcome;
mod pace;
mod page_cache;
mod preparing;
pub mod progress;
pub mod prove;
pub mod resume;
mod run_options;
pub mod server;
mod servers;
mod setup;
pub mod signals;
mod so_far;
pub mod standing_stack;
pub mod stressor;
pub mod study_so_far;
mod together;
pub mod trial;
mod watching;
mod window;
