//! What lets somebody onto a guarded bus: whom to take for the broker, and who one is.

use std::fmt;
use std::sync::Arc;

use async_nats::ConnectOptions;
use async_nats::rustls::crypto::ring;
use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject;
use async_nats::rustls::{ClientConfig, RootCertStore, version};
use nkeys::{KeyPair, KeyPairType};

use super::address::{Name, inbox_of};

/// What lets one agent, or the controller, onto a guarded bus.
#[derive(Clone)]
pub struct Access {
    name: Name,
    seed: String,
    key: String,
    tls: ClientConfig,
}

impl fmt::Debug for Access {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("name", &self.name).field("key", &self.key).finish_non_exhaustive()
    }
}

impl Access {
    /// The access of `name`: by the nkey seed of a user (SU…), to a broker whose certificate an authority has signed that is in `authority`,
    /// as PEM text. No other authority is trusted, and none of the system's.
    ///
    /// # Errors
    /// What is wrong with the seed or the authority. The seed isn't in it.
    pub fn of(name: Name, seed: &str, authority: &str) -> Result<Access, String> {
        let key = user_key(seed)?;
        let wrong = |why: String| format!("`authority` is no certificate in PEM form: {why}");
        let mut trusted = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            trusted.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
        if trusted.is_empty() {
            return Err(wrong("it has no BEGIN CERTIFICATE".to_string()));
        }
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| format!("no TLS 1.3 in this program: {error}"))?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        Ok(Access { name, seed: seed.trim().to_string(), key, tls })
    }

    /// Whose access it is.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The public key by which the broker knows it (U…).
    pub fn user_key(&self) -> &str {
        &self.key
    }

    /// Options of a connection, with this access.
    pub(super) fn apply(&self, options: ConnectOptions) -> ConnectOptions {
        self.encrypt(options).nkey(self.seed.clone()).custom_inbox_prefix(inbox_of(&self.name))
    }

    /// Options of a connection that is encrypted as with this access, and says nothing of who one is.
    pub(super) fn encrypt(&self, options: ConnectOptions) -> ConnectOptions {
        options
            .require_tls(true)
            .tls_client_config(self.tls.clone())
            // The broker names others before the connection is encrypted, so anybody on the way may have written them.
            .ignore_discovered_servers()
    }
}

/// The public key of a user's seed.
///
/// # Errors
/// It is none of a user. The seed isn't in it.
pub(crate) fn user_key(seed: &str) -> Result<String, String> {
    let key =
        KeyPair::from_seed(seed.trim()).map_err(|error| format!("`seed` is no user's seed: {error}"))?;
    match key.key_pair_type() {
        KeyPairType::User => Ok(key.public_key()),
        _ => Err("`seed` is no user's seed: those begin with SU".to_string()),
    }
}
