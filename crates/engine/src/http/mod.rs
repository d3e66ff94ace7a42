//! HTTP/1.1 as a client speaks it: requests into bytes, bytes into responses, and what a client remembers between them.

pub mod auth;
pub mod cache;
pub mod cookies;
pub mod date;
pub mod decode;
pub mod encode;
pub mod multipart;
pub mod redirect;
pub mod request;
pub mod response;
