//! The laboratory's page (layer 3): what is kept, the queue, what is being measured, over HTTP.
//!
//! The principal type is [`Server`]; what it needs of the rest of the program, and must not import, is the trait
//! [`Laboratory`]. Everything that it can do is a verb of the command line with the same JSON: `endpoint` declares each
//! request once, and the router, who may make it, and the OpenAPI document follow from that.
//!
//! It owns no run: jobs are processes that outlive it. It runs one thread that waits, and two that read files.
//!
//! Not here: what the numbers mean (`analysis`), how a run is shown (`report`), how a job is done (`runner`).

mod access;
mod answer;
mod api;
mod app;
mod assets;
mod command;
mod connections;
mod download;
mod endpoint;
mod files;
mod form;
mod guard;
mod laboratory;
mod later;
mod lines;
mod live;
mod openapi;
mod pages;
mod password;
mod quiet;
mod rate;
mod refused;
mod router;
mod server;
mod settings;
mod templates;

pub use access::{Access, Role};
pub use laboratory::Laboratory;
pub use openapi::document as openapi;
pub use server::{Server, Stop};
pub use settings::{Listening, Settings, Tls};
