//! One file that lets one agent, or the controller, onto a fleet's guarded bus. It has a secret in it: who has the file is that agent.

use std::fmt;

use model::document;
use nkeys::KeyPair;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::{Access, Broker, Name};

/// What the file says.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Where the broker is: tls://HOST:PORT.
    pub broker: String,
    /// The fleet's name.
    pub fleet: String,
    /// Whose file this is: the agent's name, or the controller's.
    pub name: String,
    /// The secret: the nkey seed of a user, which begins with SU.
    pub seed: String,
    /// Public keys of the controllers that this agent obeys; none in the file of a controller.
    #[serde(default)]
    pub controllers: Vec<String>,
    /// The certificate of the fleet's authority, in PEM form.
    pub authority: String,
}

impl fmt::Debug for Credentials {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Credentials { broker, fleet, name, controllers, .. } = self;
        f.debug_struct("Credentials")
            .field("broker", broker)
            .field("fleet", fleet)
            .field("name", name)
            .field("controllers", controllers)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads a file's text; `file` is the name that problems carry.
    ///
    /// # Errors
    /// All that is wrong with its form. Whether its values are any good says [`Self::broker`].
    pub fn read(file: &str, text: &str) -> model::Result<Credentials> {
        document::read(file, text)
    }

    /// The broker, with what lets one in.
    ///
    /// # Errors
    /// The first of its values that is none: a name, the seed, the authority or the broker's address. The seed isn't in it.
    pub fn broker(&self) -> Result<Broker, String> {
        Name::of(&self.fleet)?;
        let name = Name::of(&self.name)?;
        let access = Access::of(name, &self.seed, &self.authority)?;
        let broker = Broker { url: self.broker.clone(), access: Some(access) };
        broker.check()?;
        Ok(broker)
    }

    /// The public key by which the broker knows who has this file (U…).
    ///
    /// # Errors
    /// The seed is none of a user.
    pub fn user_key(&self) -> Result<String, String> {
        crate::bus::user_key(&self.seed)
    }

    /// The file's text, with a word on what it is.
    pub fn text(&self) -> String {
        let head = "# Whoever has this file may be this agent on the fleet's bus: keep it readable by its user alone.\n";
        // Strings and a list of them: TOML has words for all of that.
        let values = toml::to_string(self).expect("texts can be written as TOML");
        format!("{head}{values}")
    }
}

/// A new user's secret: a nkey seed, of which its owner takes care.
///
/// # Errors
/// This machine has no random numbers.
pub fn new_user_seed() -> Result<String, String> {
    KeyPair::new_user().seed().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Authority;
    use crate::signed::Signer;

    fn credentials() -> Credentials {
        let authority = Authority::new(&Name::of("lab").expect("a name")).expect("a key");
        Credentials {
            broker: "tls://10.0.0.5:4222".to_string(),
            fleet: "lab".to_string(),
            name: "load1".to_string(),
            seed: new_user_seed().expect("a seed"),
            controllers: vec!["OABC".to_string()],
            authority: authority.certificate_pem,
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let awkward = Credentials {
            broker: "tls://\"quoted\\\"\n[table]\t'''\"\"\"".to_string(),
            controllers: Vec::new(),
            ..credentials()
        };
        for written in [credentials(), awkward] {
            let read = Credentials::read("load1.toml", &written.text());
            assert_eq!(read.unwrap_or_else(|problems| panic!("{problems}")), written);
        }
        let of_a_controller = credentials().text().replace("controllers = [\"OABC\"]\n", "");
        let read = Credentials::read("controller.toml", &of_a_controller).expect("it obeys nobody");
        assert_eq!(read.controllers, Vec::<String>::new());
    }

    #[test]
    fn the_secret_is_printed_nowhere_but_in_the_file() {
        let credentials = credentials();
        let broker = credentials.broker().expect("all is right");
        for printed in [format!("{credentials:?}"), format!("{broker:?}"), format!("{broker:#?}")] {
            assert!(!printed.contains(&credentials.seed), "{printed}");
        }
        let shown = format!("{broker:?}");
        assert!(shown.contains(&credentials.user_key().expect("a key")), "{shown}");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_without_its_secret() {
        let right = credentials();
        let controllers = Signer::new_seed().expect("a seed");
        let damaged = right.seed.replace(&right.seed[10..14], "AAAA");
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_string();
        for (wrong, why) in [
            (Credentials { seed: controllers.clone(), ..right.clone() }, "those begin with SU"),
            (Credentials { seed: damaged.clone(), ..right.clone() }, "is no user's seed"),
            (Credentials { seed: "SUx".to_string(), ..right.clone() }, "is no user's seed"),
            (Credentials { fleet: "a_b".to_string(), ..right.clone() }, "is no name"),
            (Credentials { name: "a b".to_string(), ..right.clone() }, "is no name"),
            (Credentials { authority: "nothing".to_string(), ..right.clone() }, "no BEGIN CERTIFICATE"),
            (Credentials { authority: broken, ..right.clone() }, "no certificate in PEM form"),
            (Credentials { broker: "nats://10.0.0.5:4222".to_string(), ..right.clone() }, "tls://HOST:PORT"),
            (Credentials { broker: "tls://10.0.0.5".to_string(), ..right.clone() }, "no port"),
            (Credentials { broker: "tls://10.0.0.5:0".to_string(), ..right.clone() }, "no port"),
            (Credentials { broker: "tls://a/b:1".to_string(), ..right.clone() }, "no host"),
        ] {
            let said = wrong.broker().expect_err(why);
            assert!(said.contains(why), "{why}: {said}");
            assert!(!said.contains(&wrong.seed) && !said.contains(&right.seed), "{said}");
        }
        let unknown = format!("secret = 1\n{}", right.text());
        let said = Credentials::read("load1.toml", &unknown).expect_err("no such key").to_string();
        assert!(said.contains("load1.toml:1") && !said.contains(&right.seed), "{said}");
    }
}
