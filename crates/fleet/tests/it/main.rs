//! What comes of several agents' messages.

mod agents;
mod broker;
mod bus;
mod clocks;
mod far;
mod guard;
mod guarded;
mod job;
mod kills;
mod looked_at;
mod merging;
mod observers;
mod resuming;
mod runs;
mod wait;
