//! A connection to the broker, which comes back by itself.

use std::fmt;
use std::net::{Ipv6Addr, ToSocketAddrs};
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, context::ContextBuilder};
use async_nats::{Client, ConnectOptions, Event};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::access::Access;
use super::failure::Failure;

/// How long the broker may take to answer anything. A dead one answers nothing, neither yes nor no.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A broker that is silent is asked whether it lives this often; the second question without an answer ends the connection.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(2);

/// From one try to connect again to the next, at most.
pub(super) const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(2);

/// Where the broker is, and what lets one in.
#[derive(Debug, Clone)]
pub struct Broker {
    /// `nats://HOST:PORT`, or `tls://HOST:PORT` with `access`.
    pub url: String,
    /// What lets one onto a guarded bus; without it the bus is one that everybody on this machine can reach, and nobody else.
    pub access: Option<Access>,
}

/// Why the bus can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BusError {
    /// Nobody answers there, or somebody who doesn't let us in.
    Unreachable {
        /// The broker's address.
        url: String,
        /// What the last try said.
        why: String,
        /// Another try won't do better: somebody is there, and either side refuses the other; or the address is none to go to.
        is_final: bool,
    },
    /// The broker refused what a run needs.
    Refused {
        /// What was to be done.
        what: String,
        /// What it said.
        why: String,
    },
    /// It has nothing of a run that was there before.
    Forgotten {
        /// The run.
        run: String,
    },
    /// This machine gives no thread, or none that can wait for a network.
    NoThread(String),
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BusError::Unreachable { url, why, .. } => {
                write!(f, "the broker at {url} can't be reached: {why}")
            }
            BusError::Refused { what, why } => write!(f, "the broker refused to {what}: {why}"),
            BusError::Forgotten { run } => write!(f, "the broker has nothing of run {run} any more"),
            BusError::NoThread(why) => write!(f, "no thread for the bus: {why}"),
        }
    }
}

impl std::error::Error for BusError {}

/// An open connection, which comes back by itself.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) context: jetstream::Context,
    /// How often it has been made.
    pub(super) made: watch::Receiver<u64>,
}

impl Broker {
    /// One without any guard, which has to be on this machine: `nats://127.0.0.1:PORT`.
    pub fn local(url: impl Into<String>) -> Broker {
        Broker { url: url.into(), access: None }
    }

    /// Whether nobody on the way to it can listen or speak: it is on this machine, or it is guarded.
    ///
    /// # Errors
    /// What is wrong with its address, or that it is elsewhere and not guarded.
    pub fn check(&self) -> Result<(), String> {
        match &self.access {
            Some(_) => self.check_guarded(),
            None => self.check_local(),
        }
    }

    fn check_local(&self) -> Result<(), String> {
        let url = &self.url;
        if url.starts_with("tls://") {
            return Err(format!(
                "the broker at {url} is guarded, and nothing lets this agent in: give it its credentials file"
            ));
        }
        let Some(place) = url.strip_prefix("nats://") else {
            return Err(format!("`{url}` is no broker's address: those are nats://HOST:PORT"));
        };
        let addresses = place.to_socket_addrs().map_err(|error| format!("`{url}`: {error}"))?;
        match addresses.into_iter().find(|address| !address.ip().is_loopback()) {
            Some(address) => Err(format!(
                "the broker at {address} is not on this machine, and its connection is not encrypted: use a guarded one, \
                 tls://HOST:PORT, with a credentials file"
            )),
            None => Ok(()),
        }
    }

    fn check_guarded(&self) -> Result<(), String> {
        let url = &self.url;
        let wrong = |why: &str| Err(format!("`{url}` is no guarded broker's address: {why}"));
        let Some(place) = url.strip_prefix("tls://") else {
            return wrong("those are tls://HOST:PORT, and credentials are for no other");
        };
        let Some((host, port)) = place.rsplit_once(':') else { return wrong("it has no port") };
        let is_v6 = |host: &str| {
            host.strip_prefix('[')
                .and_then(|host| host.strip_suffix(']'))
                .is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
        match port.parse::<u16>() {
            Err(_) | Ok(0) => return wrong(&format!("`{port}` is no port")),
            Ok(_) => {}
        }
        match is_v6(host) || !host.is_empty() && host.chars().all(is_name) {
            true => Ok(()),
            false => wrong(&format!("`{host}` is no host")),
        }
    }

    /// A connection, tried for until `deadline`.
    pub(super) async fn connect(&self, name: &str, deadline: Instant) -> Result<Connection, BusError> {
        let unreachable = |why, is_final| BusError::Unreachable { url: self.url.clone(), why, is_final };
        // Before anything goes out: neither a key nor what an agent tells is to be on a network in plain text.
        self.check().map_err(|why| unreachable(why, true))?;
        let (told, made) = watch::channel(0);
        loop {
            let tried = self.options(name, told.clone()).connect(&self.url).await;
            match tried {
                Ok(client) => {
                    let builder = ContextBuilder::new().timeout(ANSWER_TIMEOUT).ack_timeout(ANSWER_TIMEOUT);
                    return Ok(Connection { context: builder.build(client.clone()), client, made });
                }
                Err(error) => {
                    let Failure { why, is_final } = Failure::of(&error, self.access.is_some());
                    if is_final || Instant::now() >= deadline {
                        return Err(unreachable(why, is_final));
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn options(&self, name: &str, made: watch::Sender<u64>) -> ConnectOptions {
        let delay = |tries: usize| MAX_RECONNECT_DELAY.min(Duration::from_millis(50 << tries.min(6)));
        let options = ConnectOptions::new()
            .name(name)
            .connection_timeout(ANSWER_TIMEOUT)
            .request_timeout(Some(ANSWER_TIMEOUT))
            .ping_interval(PING_INTERVAL)
            .max_reconnects(None)
            .reconnect_delay_callback(delay)
            .event_callback(move |event| {
                if event == Event::Connected {
                    made.send_modify(|times| *times += 1);
                }
                std::future::ready(())
            });
        match &self.access {
            Some(access) => access.apply(options),
            None => options,
        }
    }
}

/// An asynchronous runtime of one thread: the caller's.
pub(super) fn runtime() -> Result<Runtime, BusError> {
    Builder::new_current_thread().enable_all().build().map_err(|error| BusError::NoThread(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::Name;
    use super::*;
    use crate::{Authority, new_user_seed};

    fn access() -> Access {
        let (fleet, name) = (Name::of("lab").expect("a name"), Name::of("a1").expect("a name"));
        let authority = Authority::new(&fleet).expect("a key").certificate_pem;
        Access::of(name, &new_user_seed().expect("a seed"), &authority).expect("all is right")
    }

    #[test]
    fn a_bus_is_on_this_machine_or_guarded() {
        for url in ["nats://127.0.0.1:4222", "nats://[::1]:4222"] {
            assert_eq!(Broker::local(url).check(), Ok(()), "{url}");
        }
        for (url, why) in [
            ("nats://192.0.2.1:4222", "not on this machine, and its connection is not encrypted"),
            ("tls://192.0.2.1:4222", "give it its credentials file"),
            ("http://127.0.0.1:1", "those are nats://HOST:PORT"),
        ] {
            let said = Broker::local(url).check().expect_err(url);
            assert!(said.contains(why), "{url}: {said}");
        }
        let guarded = |url: &str| Broker { url: url.to_string(), access: Some(access()) };
        for url in
            ["tls://192.0.2.1:4222", "tls://127.0.0.1:1", "tls://bus.example:4222", "tls://[2001:db8::1]:1"]
        {
            assert_eq!(guarded(url).check(), Ok(()), "{url}");
        }
        for (url, why) in [
            ("nats://127.0.0.1:4222", "those are tls://HOST:PORT, and credentials are for no other"),
            ("tls://bus.example", "it has no port"),
            ("tls://bus.example:0", "`0` is no port"),
            ("tls://:1", "`` is no host"),
            ("tls://u:p@bus.example:1", "`u:p@bus.example` is no host"),
            ("tls://2001:db8::1:1", "`2001:db8::1` is no host"),
        ] {
            let said = guarded(url).check().expect_err(url);
            assert!(said.contains(why), "{url}: {said}");
        }
    }
}
