//! The configuration of a fleet's broker, a nats-server that is for this fleet alone: encrypted, known users only, and each of them may
//! do what is theirs.
//!
//! What is in it, and why:
//! - `accounts` alone: where `authorization` stands beside it, nats-server up to 2.9.22 and 2.10.1 lets in whom it should not
//!   (CVE-2023-47090), and Debian's is 2.9.10. With accounts, and no user for those who give no key, nobody comes in without one.
//! - Neither `http` nor `monitor_port`: nothing can be asked of the broker without a key.
//! - Two accounts, the controller's with all streams and the agents' without any. The broker sends an answer to whatever subject the
//!   question names, and checks nobody's rights to it: in one account with the streams, an agent that may publish anything that is
//!   answered would have the broker ask its own API to delete a stream. Between accounts goes only what is named here, and an answer
//!   comes back into the account of whoever asked.
//! - An agent may make no consumer. The broker sends a consumer's messages to the subject that its maker names, so an agent could speak
//!   for another one. It reads bundles message by message instead (`DIRECT.GET`), which the broker does for streams that allow it: only
//!   buckets of bundles do.
//!
//! What could not be narrowed: a stream's name is one word of a subject, and NATS has wildcards for whole words, so `DIRECT.GET` is for
//! the buckets of all of the fleet's runs, not for the one that an agent has a part in. Bundles are signed, and the same for all agents.
//! An agent may have an answer sent to where another agent listens: it is the broker's word of a publication, or a piece of a bundle,
//! which are neither beacons nor questions nor what the controller has.

use std::net::SocketAddr;
use std::path::Path;

use crate::bus::Name;
use crate::bus::address::{
    beacon_subject, clock_subject, clock_subjects, heartbeat_subject, heartbeat_subjects, inbox_of,
    kept_subject, kept_subjects, subjects_of_fleet, told_by, told_subjects,
};

/// The largest message that the broker takes: twice what agents and bundles are cut into.
const MAX_PAYLOAD: u64 = 1 << 20;

/// An agent may answer a question for its clock once, within this.
const ANSWER_WITHIN: &str = "2s";

/// The accounts: the one that has the streams, and the one that has none.
const CONTROLLER: &str = "controller";
const AGENTS: &str = "agents";

/// Reading a message of a stream that lets itself be read directly.
const READ_MESSAGE: &str = "$JS.API.DIRECT.GET.*";

/// What goes from one account to the other.
enum Passage {
    /// Messages that nobody answers, to the other account.
    Message(String),
    /// Questions of the other account, whose answers go back.
    Question(String),
}

/// Somebody who may come onto the bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name in the fleet.
    pub name: Name,
    /// The public key (U…) of the seed in the credentials file.
    pub key: String,
}

/// What a fleet's broker is started with.
#[derive(Debug, Clone)]
pub struct BrokerConfig<'a> {
    /// The fleet.
    pub fleet: &'a Name,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The file of its certificate.
    pub certificate: &'a Path,
    /// The file of that one's key.
    pub key: &'a Path,
    /// The directory of what it keeps on its disk.
    pub store: &'a Path,
    /// The most that it may keep there; bytes. A run's stream takes the first of 8 GiB, 1 GiB and 128 MiB that there is room for, and
    /// its bundle needs some beside it.
    pub max_store_bytes: u64,
    /// Who may want something of the agents.
    pub controller: User,
    /// The agents.
    pub agents: &'a [User],
}

impl BrokerConfig<'_> {
    /// The configuration's text.
    ///
    /// # Errors
    /// Two users have one name or one key, a key is none of a user, or a path has letters that the configuration has no words for.
    pub fn text(&self) -> Result<String, String> {
        self.check_users()?;
        let (certificate, key) = (path(self.certificate)?, path(self.key)?);
        let store = path(self.store)?;
        let users: Vec<String> =
            self.agents.iter().map(|agent| user(agent, &self.agent_permissions(&agent.name))).collect();
        Ok(format!(
            "# The broker of fleet {name}, written by plimsoll. Only whom it names may come in, encrypted.\n\
             listen: {listen}\n\
             max_payload: {MAX_PAYLOAD}\n\
             tls {{\n  cert_file: {certificate}\n  key_file: {key}\n}}\n\
             jetstream {{\n  store_dir: {store}\n  max_file_store: {max}\n}}\n\
             accounts {{\n\
             \x20 {CONTROLLER} {{\n    jetstream: enabled\n{between_controller}    users: [\n{controller}    ]\n  }}\n\
             \x20 {AGENTS} {{\n{between_agents}    users: [\n{users}    ]\n  }}\n\
             }}\n",
            name = self.fleet,
            listen = quoted(&self.listen.to_string()),
            max = self.max_store_bytes,
            between_controller = between(AGENTS, &self.of_controller(), &self.of_agents()),
            controller = user(&self.controller, &self.controller_permissions()),
            between_agents = between(CONTROLLER, &self.of_agents(), &self.of_controller()),
            users = users.concat(),
        ))
    }

    /// What agents have of the controller's account.
    fn of_controller(&self) -> Vec<Passage> {
        vec![
            Passage::Message(beacon_subject(self.fleet)),
            Passage::Message(kept_subjects(self.fleet)),
            Passage::Question(told_subjects(self.fleet)),
            Passage::Question(READ_MESSAGE.to_string()),
        ]
    }

    /// What the controller has of the agents' account.
    fn of_agents(&self) -> Vec<Passage> {
        vec![Passage::Message(heartbeat_subjects(self.fleet)), Passage::Question(clock_subjects(self.fleet))]
    }

    fn check_users(&self) -> Result<(), String> {
        let all: Vec<&User> = std::iter::once(&self.controller).chain(self.agents).collect();
        for (index, user) in all.iter().enumerate() {
            let is_key = nkeys::KeyPair::from_public_key(&user.key)
                .is_ok_and(|key| key.key_pair_type() == nkeys::KeyPairType::User);
            if !is_key {
                return Err(format!(
                    "`{}` of {} is no user's public key: those begin with U",
                    user.key, user.name
                ));
            }
            if let Some(other) =
                all[..index].iter().find(|other| other.name == user.name || other.key == user.key)
            {
                return Err(format!(
                    "{} and {} have the same name or the same key: give each its own",
                    other.name, user.name
                ));
            }
        }
        Ok(())
    }

    /// The controller may do everything of its fleet: the broker has no other one.
    fn controller_permissions(&self) -> Permissions {
        let fleet = subjects_of_fleet(self.fleet);
        // Streams and buckets of runs, the chunks of bundles, and the answers to what the broker asks while it sends.
        let of_the_broker = ["$JS.API.>", "$O.>", "$JS.FC.>", "$JS.ACK.>"].map(str::to_string);
        Permissions {
            publish: [vec![fleet], of_the_broker.to_vec()].concat(),
            // And it hears whether another controller speaks.
            subscribe: vec![
                heartbeat_subjects(self.fleet),
                beacon_subject(self.fleet),
                inbox(&self.controller.name),
            ],
            answers: false,
        }
    }

    fn agent_permissions(&self, agent: &Name) -> Permissions {
        Permissions {
            publish: vec![
                heartbeat_subject(self.fleet, agent),
                told_by(self.fleet, agent),
                READ_MESSAGE.to_string(),
            ],
            subscribe: vec![
                inbox(agent),
                beacon_subject(self.fleet),
                kept_subject(self.fleet, agent),
                clock_subject(self.fleet, agent),
            ],
            answers: true,
        }
    }
}

/// What an account lets another one have, and what it has of that one.
fn between(other: &str, lets: &[Passage], has: &[Passage]) -> String {
    let word = |passage: &Passage| match passage {
        Passage::Message(subject) => ("stream", quoted(subject)),
        Passage::Question(subject) => ("service", quoted(subject)),
    };
    let lets = lets
        .iter()
        .map(word)
        .map(|(kind, subject)| format!("      {{ {kind}: {subject}, accounts: [{other}] }}\n"));
    let has = has
        .iter()
        .map(word)
        .map(|(kind, subject)| format!("      {{ {kind}: {{ account: {other}, subject: {subject} }} }}\n"));
    let (lets, has): (String, String) = (lets.collect(), has.collect());
    format!("    exports: [\n{lets}    ]\n    imports: [\n{has}    ]\n")
}

/// What a user may do.
struct Permissions {
    publish: Vec<String>,
    subscribe: Vec<String>,
    /// Publish to where a message that it was sent wants an answer.
    answers: bool,
}

fn inbox(name: &Name) -> String {
    format!("{}.>", inbox_of(name))
}

fn user(user: &User, may: &Permissions) -> String {
    let list = |subjects: &[String]| {
        let subjects: Vec<String> = subjects.iter().map(|subject| quoted(subject)).collect();
        subjects.join(", ")
    };
    let answers = match may.answers {
        true => format!("          allow_responses: {{ max: 1, expires: \"{ANSWER_WITHIN}\" }}\n"),
        false => String::new(),
    };
    format!(
        "      {{\n        # {name}\n        nkey: {key}\n        permissions: {{\n          publish: {{ allow: [{publish}] }}\n          \
         subscribe: {{ allow: [{subscribe}] }}\n{answers}        }}\n      }}\n",
        name = user.name,
        key = user.key,
        publish = list(&may.publish),
        subscribe = list(&may.subscribe),
    )
}

fn path(path: &Path) -> Result<String, String> {
    let wrong = |why: &str| format!("the broker's configuration can't name {}: {why}", path.display());
    let text = path.to_str().ok_or_else(|| wrong("it is not UTF-8"))?;
    match text.chars().any(char::is_control) {
        true => Err(wrong("it has a control character")),
        false => Ok(quoted(text)),
    }
}

/// A text as nats-server's configuration has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::user_key;
    use crate::new_user_seed;

    fn a_user(name: &str) -> User {
        let seed = new_user_seed().expect("random numbers");
        User { name: Name::of(name).expect("a name"), key: user_key(&seed).expect("a user's") }
    }

    fn config<'a>(fleet: &'a Name, controller: User, agents: &'a [User]) -> BrokerConfig<'a> {
        BrokerConfig {
            fleet,
            listen: "10.0.0.5:4222".parse().expect("an address"),
            certificate: Path::new("/etc/a \"b\"/broker.pem"),
            key: Path::new("/etc/key.pem"),
            store: Path::new("/var/store"),
            max_store_bytes: 1 << 30,
            controller,
            agents,
        }
    }

    #[test]
    fn an_agent_may_do_what_is_its_own_and_nothing_else() {
        let (fleet, agents) = (Name::of("lab").expect("a name"), [a_user("a1")]);
        let text = config(&fleet, a_user("boss"), &agents).text().expect("all is right");
        let (_, of_the_agent) = text.split_once("# a1\n").expect("it is there");
        for line in [
            r#"publish: { allow: ["pl.lab.hb.a1", "pl.lab.r.*.a1.>", "$JS.API.DIRECT.GET.*"] }"#,
            r#"subscribe: { allow: ["_INBOX_a1.>", "pl.lab.beacon", "pl.lab.kept.a1", "pl.lab.clock.a1"] }"#,
            "allow_responses: { max: 1,",
        ] {
            assert!(of_the_agent.contains(line), "{line}: {of_the_agent}");
        }
        assert!(text.contains(r#"cert_file: "/etc/a \"b\"/broker.pem""#), "{text}");
        for never in ["authorization", "http", "monitor", "no_auth_user"] {
            assert!(!text.contains(never), "{never}: {text}");
        }
    }

    #[test]
    fn users_that_can_not_be_told_apart_are_refused() {
        let (fleet, boss, agent) = (Name::of("lab").expect("a name"), a_user("boss"), a_user("a1"));
        let refused =
            |agents: &[User]| config(&fleet, boss.clone(), agents).text().expect_err("it is refused");
        let named_alike = [a_user("boss")];
        let keyed_alike = [agent.clone(), User { key: agent.key.clone(), ..a_user("a2") }];
        for agents in [&named_alike[..], &keyed_alike] {
            let said = refused(agents);
            assert!(said.contains("the same name or the same key"), "{said}");
        }
        let said = refused(&[User { key: "UABC\n}".to_string(), ..agent.clone() }]);
        assert!(said.contains("no user's public key"), "{said}");
        let odd = BrokerConfig { store: Path::new("a\nb"), ..config(&fleet, boss.clone(), &[]) };
        let said = odd.text().expect_err("no such path");
        assert!(said.contains("control character"), "{said}");
    }
}
