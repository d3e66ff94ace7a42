//! The engine from the outside: exact on virtual time, true on real sockets.

mod acknowledgements;
mod caldav_kit;
mod calendar_bodies;
mod calendar_kit;
mod dav_server;
mod elapsed;
mod events_kit;
mod exchanges;
mod load_models;
mod pauses;
mod secure;
mod session_api;
mod sockets;
mod threads;
mod time_slices;
mod tpcw_kit;
mod tpcw_shop;
mod virtual_net;
mod virtual_time;
mod waiting;
