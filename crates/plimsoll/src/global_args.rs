//! Flags of every verb.

use std::path::PathBuf;

use clap::Args;

/// Flags of every verb.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Lay the kits, services and stacks of this folder over the built-in catalogue
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Whether the machine and the tiers are watched: `off` tells what watching costs
    #[arg(long, global = true, hide = true, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    pub(crate) observe: String,
    /// What the kernel counts of the calls that tiers wait in: nothing, what blocks, or also every call in short windows
    #[arg(long, global = true, value_name = "off|blocks|auto", default_value = "auto", value_parser = ["off", "blocks", "auto"])]
    pub(crate) count_calls: String,
    /// Refuse, instead of waiting, while another plimsoll measures on this machine
    #[arg(long, global = true)]
    pub(crate) no_wait: bool,
    /// Write what is told, and each second of a run, into this file as a line of JSON each (docs/reference/progress.md)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) progress_file: Option<PathBuf>,
    /// Print results and errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}
