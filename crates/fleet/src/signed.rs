//! What a controller says is signed, since the broker that carries it isn't trusted: an agent believes what a key has signed that its
//! machine's operator put on its list, for its own fleet, and for the purpose that it is read for.

use std::fmt;

use nkeys::{KeyPair, KeyPairType};

use crate::bus::Name;

/// Before every signed message.
const MAGIC: &[u8; 4] = b"PLS1";

/// Letters of a public key as text.
const KEY_LETTERS: usize = 56;

/// Bytes of an Ed25519 signature (RFC 8032).
const SIGNATURE_BYTES: usize = 64;

/// What a message is for. One that was signed for something is nothing for anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What the controller wants now ([`crate::want`]).
    Beacon,
    /// What a run's users do.
    Bundle,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Purpose::Beacon => "beacon",
            Purpose::Bundle => "bundle",
        }
    }
}

/// Why a message isn't believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It has no signature.
    NotSigned,
    /// It is signed by a key that is on no list here.
    UnknownKey(String),
    /// The signature isn't one of this message by that key, for this fleet and purpose.
    WrongSignature(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotSigned => f.write_str("it is not signed"),
            Refusal::UnknownKey(key) => {
                write!(f, "it is signed by {key}, which is not among the `controllers` of this agent")
            }
            Refusal::WrongSignature(key) => write!(f, "its signature is none of {key} for it"),
        }
    }
}

/// A controller's key, with which it signs for one fleet.
pub struct Signer {
    key: KeyPair,
    fleet: Name,
}

impl fmt::Debug for Signer {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("key", &self.public_key()).field("fleet", &self.fleet).finish()
    }
}

impl Signer {
    /// A new key's secret as text, of which its owner takes care.
    ///
    /// # Errors
    /// This machine has no random numbers.
    pub fn new_seed() -> Result<String, String> {
        KeyPair::new_operator().seed().map_err(|error| error.to_string())
    }

    /// The key of that secret.
    ///
    /// # Errors
    /// It is none of a controller.
    pub fn of(seed: &str, fleet: Name) -> Result<Signer, String> {
        let key = KeyPair::from_seed(seed.trim())
            .map_err(|error| format!("it is no controller's seed: {error}"))?;
        if key.key_pair_type() != KeyPairType::Operator {
            return Err("it is no controller's seed: those begin with SO".to_string());
        }
        Ok(Signer { key, fleet })
    }

    /// What agents know it by: 56 letters and digits, of which the first is O.
    pub fn public_key(&self) -> String {
        self.key.public_key()
    }

    /// The fleet that it signs for.
    pub fn fleet(&self) -> &Name {
        &self.fleet
    }

    /// The message that says `body`.
    ///
    /// # Errors
    /// The key can't sign.
    pub fn seal(&self, purpose: Purpose, body: &[u8]) -> Result<Vec<u8>, String> {
        let signature =
            self.key.sign(&signed(&self.fleet, purpose, body)).map_err(|error| error.to_string())?;
        Ok([MAGIC, self.public_key().as_bytes(), &signature, body].concat())
    }
}

/// The controllers that an agent obeys in a fleet.
pub struct Trusted {
    keys: Vec<KeyPair>,
    fleet: Name,
}

impl fmt::Debug for Trusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(KeyPair::public_key).collect();
        f.debug_struct("Trusted").field("keys", &keys).field("fleet", &self.fleet).finish()
    }
}

impl Trusted {
    /// Those of these public keys.
    ///
    /// # Errors
    /// What is wrong with each that is none.
    pub fn of(keys: &[String], fleet: Name) -> Result<Trusted, Vec<String>> {
        let read = |key: &String| match KeyPair::from_public_key(key) {
            Ok(read) if read.key_pair_type() == KeyPairType::Operator => Ok(read),
            Ok(_) => Err(format!("`{key}` is no controller's key: those begin with O")),
            Err(error) => Err(format!("`{key}` is no controller's key: {error}")),
        };
        let (mut read_keys, mut wrong) = (Vec::new(), Vec::new());
        for key in keys.iter().map(read) {
            match key {
                Ok(key) => read_keys.push(key),
                Err(why) => wrong.push(why),
            }
        }
        if wrong.is_empty() { Ok(Trusted { keys: read_keys, fleet }) } else { Err(wrong) }
    }

    /// What `message` says.
    ///
    /// # Errors
    /// It isn't believed.
    pub fn open<'m>(&self, purpose: Purpose, message: &'m [u8]) -> Result<&'m [u8], Refusal> {
        let rest = message.strip_prefix(MAGIC).ok_or(Refusal::NotSigned)?;
        let (key, rest) = rest.split_at_checked(KEY_LETTERS).ok_or(Refusal::NotSigned)?;
        let (signature, body) = rest.split_at_checked(SIGNATURE_BYTES).ok_or(Refusal::NotSigned)?;
        let key = std::str::from_utf8(key).map_err(|_| Refusal::NotSigned)?;
        let known = self.keys.iter().find(|known| known.public_key() == key);
        let known = known.ok_or_else(|| Refusal::UnknownKey(key.to_string()))?;
        match known.verify(&signed(&self.fleet, purpose, body), signature) {
            Ok(()) => Ok(body),
            Err(_) => Err(Refusal::WrongSignature(key.to_string())),
        }
    }
}

/// What a signature is of. Names have no line's end, so no two of these are alike.
fn signed(fleet: &Name, purpose: Purpose, body: &[u8]) -> Vec<u8> {
    let head = format!("plimsoll {} of {fleet}\n", purpose.word());
    [head.as_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(name: &str) -> Name {
        Name::of(name).expect("a name")
    }

    fn signer(of: &str) -> Signer {
        Signer::of(&Signer::new_seed().expect("a seed"), fleet(of)).expect("a key")
    }

    fn trusting(signers: &[&Signer], of: &str) -> Trusted {
        let keys: Vec<String> = signers.iter().map(|signer| signer.public_key()).collect();
        Trusted::of(&keys, fleet(of)).expect("keys")
    }

    #[test]
    fn what_a_controller_on_the_list_has_signed_is_believed() {
        let (one, other) = (signer("lab"), signer("lab"));
        let trusted = trusting(&[&other, &one], "lab");
        for body in [&b""[..], b"go"] {
            let message = one.seal(Purpose::Beacon, body).expect("it signs");
            assert_eq!(trusted.open(Purpose::Beacon, &message), Ok(body));
        }
    }

    #[test]
    fn what_was_signed_by_another_key_for_another_fleet_or_another_purpose_is_not() {
        let (one, stranger) = (signer("lab"), signer("lab"));
        let trusted = trusting(&[&one], "lab");
        let message = stranger.seal(Purpose::Beacon, b"go").expect("it signs");
        assert_eq!(trusted.open(Purpose::Beacon, &message), Err(Refusal::UnknownKey(stranger.public_key())));
        let message = one.seal(Purpose::Beacon, b"go").expect("it signs");
        let wrong = Err(Refusal::WrongSignature(one.public_key()));
        assert_eq!(trusted.open(Purpose::Bundle, &message), wrong);
        assert_eq!(trusting(&[&one], "other").open(Purpose::Beacon, &message), wrong);
        let mut in_the_name_of_one = stranger.seal(Purpose::Beacon, b"go").expect("it signs");
        in_the_name_of_one[4..4 + KEY_LETTERS].copy_from_slice(one.public_key().as_bytes());
        assert_eq!(trusted.open(Purpose::Beacon, &in_the_name_of_one), wrong);
    }

    #[test]
    fn a_message_of_which_any_byte_is_another_one_or_missing_is_refused() {
        let one = signer("lab");
        let trusted = trusting(&[&one], "lab");
        let message = one.seal(Purpose::Beacon, b"go").expect("it signs");
        for at in 0..message.len() {
            let mut damaged = message.clone();
            damaged[at] ^= 1;
            trusted.open(Purpose::Beacon, &damaged).expect_err(&format!("byte {at} was changed"));
            trusted.open(Purpose::Beacon, &message[..at]).expect_err(&format!("cut at {at}"));
        }
    }

    #[test]
    fn keys_that_are_none_of_a_controller_are_all_named() {
        let user = KeyPair::new_user();
        let keys = ["nonsense".to_string(), user.public_key(), signer("lab").public_key()];
        let wrong = Trusted::of(&keys, fleet("lab")).expect_err("two of them are none");
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0].contains("`nonsense` is no controller's key"), "{wrong:?}");
        assert!(wrong[1].contains("those begin with O"), "{wrong:?}");
        let refused = Signer::of(&user.seed().expect("a seed"), fleet("lab")).expect_err("a user's");
        assert!(refused.contains("those begin with SO"), "{refused}");
    }

    #[test]
    fn a_signer_does_not_print_its_secret() {
        let seed = Signer::new_seed().expect("a seed");
        let signer = Signer::of(&seed, fleet("lab")).expect("a key");
        let printed = format!("{signer:?}");
        assert!(!printed.contains(&seed) && printed.contains(&signer.public_key()), "{printed}");
    }
}
