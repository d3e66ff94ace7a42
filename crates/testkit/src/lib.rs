//! What the project's own tests share; never part of the product.
//!
//! [`recorded::Specimen`] opens runs that the tool kept of real stacks, so that a room that stores or shows runs needs no
//! server and no minute of load to be tested. [`studies`] are finds, comparisons and sweeps on simulated stacks, decided
//! and worded by the rooms that do so for users.
//! [`origin::Origin`] is a server of known delays on a loopback port, with time stamps and counts of its own: what the
//! load generator says is held against it. [`stack::Stack`] is a bench on which a whole find takes milliseconds, and
//! [`finds`] tells what many of them came to.
//! [`ending`] is how a test says that it was skipped or could not judge, [`length`] how many simulations it makes,
//! [`browser`] where one is, and what drives it, [`programs`] where servers are that were unpacked, [`cards`] which network cards a lab has made, [`catalogue`] what the
//! repository's catalogue is.
//!
//! Not here: anything that starts a process.

pub mod browser;
pub mod cards;
pub mod catalogue;
pub mod ending;
pub mod finds;
pub mod guests;
pub mod length;
pub mod origin;
pub mod programs;
pub mod recorded;
pub mod stack;
pub mod studies;
