//! The engine from the outside: exact on virtual time, true on real sockets.

mod acknowledgements;
mod events_kit;
mod exchanges;
mod load_models;
mod pauses;
mod secure;
mod session_api;
mod sockets;
mod virtual_net;
mod virtual_time;
mod waiting;
