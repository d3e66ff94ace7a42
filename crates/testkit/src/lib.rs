//! What the project's own tests share; never part of the product.
//!
//! [`sample::run`] makes a plausible run, the same every time: its record, its seconds and its series agree with each
//! other, so that a room that stores or shows runs needs no server and no minute of load to be tested.
//! [`origin::Origin`] is a server of known delays on a loopback port, with time stamps and counts of its own: what the
//! load generator says is held against it. [`stack::Stack`] is a bench on which a whole find takes milliseconds.
//! [`ending`] is how a test says that it was skipped or could not judge, [`length`] how many simulations it makes,
//! [`programs`] where servers are that were unpacked.
//!
//! Not here: anything that starts a process.

pub mod ending;
pub mod length;
pub mod origin;
pub mod programs;
pub mod sample;
pub mod stack;
