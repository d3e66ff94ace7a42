//! The engine from the outside: exact on virtual time, true on real sockets.

mod acknowledgements;
mod by_hand;
mod caldav_kit;
mod calendar_bodies;
mod calendar_kit;
mod dav_server;
mod elapsed;
mod events_kit;
mod evidence;
mod exchanges;
mod load_models;
mod pauses;
mod populations;
mod secure;
mod session_api;
mod slices;
mod sockets;
mod threads;
mod time_slices;
mod tpcw_kit;
mod tpcw_shop;
mod virtual_net;
mod virtual_time;
mod waiting;
