//! A guarded bus for tests: a real nats-server with the configuration, the certificate and the users of a fleet.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_nats::{Client, ConnectOptions, Event};
use fleet::broker_config::{BrokerConfig, User};
use fleet::bus::Name;
use fleet::{Authority, Certificate, Credentials, new_user_seed};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::agents::{Key, Process, start};
use crate::broker::Nats;
use crate::job::BUILD;
use crate::wait::wait_until;

pub(crate) const BOSS: &str = "boss";

pub(crate) fn lab() -> Name {
    Name::of("lab").expect("a name")
}

/// A fleet on a guarded bus.
pub(crate) struct Guard {
    pub(crate) nats: Nats,
    pub(crate) key: Key,
    pub(crate) boss: Credentials,
    pub(crate) agents: Vec<Credentials>,
    folder: TempDir,
}

impl Guard {
    /// One with these agents, whose broker is reached by its address on loopback.
    pub(crate) fn begin(agents: &[&str]) -> Option<Guard> {
        let authority = Authority::new(&lab()).expect("a key");
        let certificate = authority.broker_certificate(&["127.0.0.1".to_string()]).expect("a certificate");
        Guard::with(&authority.certificate_pem, &certificate, agents)
    }

    /// One whose broker has that certificate, and whose users trust that authority.
    pub(crate) fn with(authority: &str, certificate: &Certificate, agents: &[&str]) -> Option<Guard> {
        let key = Key::new();
        let credentials = |name: &str, port: u16| Credentials {
            broker: format!("tls://127.0.0.1:{port}"),
            fleet: lab().to_string(),
            name: name.to_string(),
            seed: new_user_seed().expect("a seed"),
            controllers: if name == BOSS { Vec::new() } else { vec![key.public()] },
            authority: authority.to_string(),
        };
        let mut made = Vec::new();
        let nats = Nats::configured(|listen, folder| {
            made = [BOSS].iter().chain(agents).map(|name| credentials(name, listen.port())).collect();
            let files =
                [("certificate.pem", &certificate.certificate_pem), ("key.pem", &certificate.key_pem)];
            let [certificate, key] = files.map(|(name, text)| {
                let file = folder.join(name);
                fs::write(&file, text).expect("a file");
                file
            });
            let users: Vec<User> = made.iter().map(user).collect();
            let config = BrokerConfig {
                fleet: &lab(),
                listen,
                certificate: &certificate,
                key: &key,
                store: &folder.join("store"),
                max_store_bytes: 2 << 30,
                controller: users[0].clone(),
                agents: &users[1..],
            };
            config.text().expect("all is right")
        })?;
        let boss = made.remove(0);
        Some(Guard { nats, key, boss, agents: made, folder: tempfile::tempdir().expect("a folder") })
    }

    /// An agent's process with its credentials file.
    pub(crate) fn start(&self, agent: &Credentials) -> Process {
        start(&self.words(agent))
    }

    /// The words with which an agent is started that has these credentials.
    pub(crate) fn words(&self, agent: &Credentials) -> Vec<String> {
        let file = self.folder.path().join(format!("{}.toml", agent.name));
        fs::write(&file, agent.text()).expect("a file");
        let (file, spools) =
            (file.to_string_lossy().into_owned(), self.spools(agent).to_string_lossy().into_owned());
        [env!("CARGO_BIN_EXE_fleet-actor"), "guarded-agent", &file, &spools, BUILD]
            .map(str::to_string)
            .to_vec()
    }

    pub(crate) fn spools(&self, agent: &Credentials) -> PathBuf {
        self.folder.path().join(&agent.name)
    }

    /// Whatever can connect with a user's key, and does what it likes then.
    pub(crate) fn stranger(&self, with: Option<&Credentials>) -> Result<Stranger, String> {
        let authority = self.folder.path().join("authority.pem");
        fs::write(&authority, &self.boss.authority).expect("a file");
        Stranger::connect(&self.boss.broker, with, &authority)
    }
}

fn user(credentials: &Credentials) -> User {
    User { name: Name::of(&credentials.name).expect("a name"), key: credentials.user_key().expect("a seed") }
}

/// A client that isn't ours.
pub(crate) struct Stranger {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
    errors: Arc<Mutex<Vec<String>>>,
}

impl Stranger {
    fn connect(url: &str, with: Option<&Credentials>, authority: &Path) -> Result<Stranger, String> {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let errors = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&errors);
        let mut options = ConnectOptions::new()
            .add_root_certificates(authority.to_path_buf())
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    heard.lock().expect("nobody panicked").push(error.to_string().to_lowercase());
                }
                std::future::ready(())
            });
        if let Some(user) = with {
            options = options.nkey(user.seed.clone()).custom_inbox_prefix(format!("_INBOX_{}", user.name));
        }
        let client = runtime.block_on(options.connect(url)).map_err(|error| error.to_string())?;
        Ok(Stranger { runtime, client, errors })
    }

    /// What the broker has refused so far.
    pub(crate) fn errors(&self) -> Vec<String> {
        // Its client reads only while the runtime runs.
        self.runtime.block_on(async { tokio::time::sleep(std::time::Duration::from_millis(5)).await });
        self.errors.lock().expect("nobody panicked").clone()
    }

    /// Publishes, with a place for the answer where one is given.
    pub(crate) fn publish(
        &self,
        subject: &str,
        header: Option<(&str, &str)>,
        (reply, payload): (Option<&str>, &str),
    ) {
        let (client, subject, payload) = (&self.client, subject.to_string(), payload.to_string());
        let mut headers = async_nats::HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, value);
        }
        self.runtime.block_on(async move {
            let sent = match reply {
                Some(reply) => {
                    client
                        .publish_with_reply_and_headers(subject, reply.to_string(), headers, payload.into())
                        .await
                }
                None => client.publish_with_headers(subject, headers, payload.into()).await,
            };
            sent.expect("it is connected");
            client.flush().await.expect("it is connected");
        });
    }

    /// The broker refuses a publication there.
    pub(crate) fn expect_no_publishing(&self, subject: &str) {
        self.publish(subject, Some(("Plimsoll-Part", "7 0 0 1")), (None, ""));
        self.expect_violation("publish", subject);
    }

    /// The broker refuses a subscription there.
    pub(crate) fn expect_no_subscribing(&self, subject: &str) {
        let subscriber = self.runtime.block_on(async {
            let subscriber = self.client.subscribe(subject.to_string()).await.expect("it is connected");
            self.client.flush().await.expect("it is connected");
            subscriber
        });
        self.expect_violation("subscription", subject);
        drop(subscriber);
    }

    fn expect_violation(&self, of: &str, subject: &str) {
        let said = format!("permissions violation for {of} to \"{}\"", subject.to_lowercase());
        let mut last = Vec::new();
        wait_until(&format!("the broker refuses {of} to {subject}"), || {
            last = self.errors();
            last.iter().any(|error| error.contains(&said))
        });
    }
}
