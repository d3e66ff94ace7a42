//! What the project's own tests share; never part of the product.
//!
//! [`sample::run`] makes a plausible run, the same every time: its record, its seconds and its series agree with each
//! other, so that a room that stores or shows runs needs no server and no minute of load to be tested.
//!
//! Not here: anything that starts a process or reads a clock.

pub mod sample;
