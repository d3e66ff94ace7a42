//! The bus between agents and their controller: NATS with JetStream. What an agent tells goes into a stream of its run, and from
//! there to the controller, each message once and in its agent's order, whichever of the three is killed and begins again.
//!
//! JetStream acknowledges before a message is safe on its disk, so an acknowledgement is no reason to forget: an agent keeps what
//! it has told until the controller says that it has it, and tells it again after every reconnect. The broker leaves out what it
//! has already (`Nats-Msg-Id`), the controller does so for good ([`order`]).
//!
//! Each side has one thread of its own with an asynchronous runtime on it; nothing of it runs on a generator's threads.

mod access;
pub(crate) mod address;
mod announcer;
mod clock;
mod connection;
mod failure;
mod leftovers;
mod listener;
mod objects;
mod order;
mod reader;
mod speed;
mod station;
mod stranger;
mod teller;

pub use access::Access;
pub(crate) use access::user_key;
pub use address::{Kind, Name, Voice};
pub use announcer::{Announcer, HeardOf};
pub use clock::now_ns;
pub use connection::{Broker, BusError};
pub use leftovers::Leftover;
pub use listener::{Listened, Listener};
pub use reader::{NothingTold, Reader, StreamOf, Told};
pub use speed::BusSpeed;
pub use station::{Heard, Station};
pub use stranger::{is_open_to_anybody, is_open_without_key};
pub use teller::{Teller, Telling};
