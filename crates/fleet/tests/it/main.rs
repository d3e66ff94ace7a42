//! What comes of several agents' messages.

mod broker;
mod bus;
mod clocks;
mod merging;
