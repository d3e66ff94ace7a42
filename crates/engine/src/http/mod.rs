//! HTTP/1.1 as a client speaks it: requests into bytes, bytes into responses, cookies.

pub mod cookies;
pub mod encode;
pub mod request;
pub mod response;
