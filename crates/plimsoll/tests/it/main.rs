//! The real binary against real servers: facts and ratios, never speed.

mod bad_input;
mod faults;
mod hit;
mod kept;
mod runs;
mod starved;
mod target;
mod tool;
