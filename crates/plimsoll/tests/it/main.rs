//! The real binary against real servers: facts and ratios, never speed.

mod bad_input;
mod browser;
mod compare;
mod events;
mod events_run;
mod events_try;
mod export;
mod faults;
mod find;
mod ground_truth;
mod hit;
mod kept;
mod published;
mod runs;
mod starved;
mod static_files;
mod sweep;
mod target;
mod tool;
