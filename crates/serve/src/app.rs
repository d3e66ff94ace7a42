//! What every handler sees.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::Result;
use model::signal::SignalRegistry;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::access::{Access, Role};
use crate::download;
use crate::laboratory::Laboratory;
use crate::rate::Rate;
use crate::settings::Settings;
use crate::templates::Templates;

/// Streams of what is being measured, at once.
const MAX_STREAMS: usize = 8;

/// The places of the head of each page: address and name.
const PLACES: [(&str, &str); 7] = [
    ("/", "Now"),
    ("/new", "New"),
    ("/live", "Live"),
    ("/runs", "Runs"),
    ("/studies", "Studies"),
    ("/limits", "Limits"),
    ("/machine", "Machine"),
];

/// What every handler sees.
pub(crate) struct App {
    pub(crate) laboratory: Arc<dyn Laboratory>,
    pub(crate) access: Access,
    pub(crate) settings: Settings,
    /// The page's address without a path.
    pub(crate) origin: String,
    pub(crate) signals: SignalRegistry,
    pub(crate) templates: Templates,
    pub(crate) requests: Rate,
    pub(crate) sign_ins: Rate,
    pub(crate) streams: Arc<Semaphore>,
    /// Files that may be made while they are sent.
    pub(crate) downloads: Arc<Semaphore>,
    /// When a list has looked at every run.
    pub(crate) looked: Mutex<Option<Instant>>,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl App {
    pub(crate) fn new(laboratory: Arc<dyn Laboratory>, settings: Settings, port: u16) -> Result<App> {
        Ok(App {
            access: Access::open(laboratory.home())?,
            origin: settings.origin(port),
            signals: laboratory.signals(),
            templates: Templates::new(),
            requests: Rate::new(60, Duration::from_millis(50)),
            sign_ins: Rate::new(5, Duration::from_secs(12)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            downloads: Arc::new(Semaphore::new(download::MAX_AT_ONCE)),
            looked: Mutex::new(None),
            settings,
            laboratory,
        })
    }

    /// What the frame shows on the page at `place`.
    pub(crate) fn frame(&self, place: &str, role: Option<Role>) -> Value {
        let places = PLACES
            .map(|(address, name)| json!({ "address": address, "name": name, "here": address == place }));
        json!({
            "places": places,
            "signed_in": role.is_some(),
            "role": role.map(Role::word),
            "may_run": role == Some(Role::Runner),
        })
    }
}
