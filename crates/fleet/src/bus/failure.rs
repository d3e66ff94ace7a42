//! Why a connection can't be made, in words that say what to do.

use std::error::Error;
use std::io;

use async_nats::rustls::{CertificateError, Error as TlsError, InvalidMessage};
use async_nats::{ConnectError, ConnectErrorKind};

/// Why a connection can't be made.
pub(super) struct Failure {
    /// What happened.
    pub(super) why: String,
    /// Another try won't do better: the broker was there, and either side has refused the other.
    pub(super) is_final: bool,
}

impl Failure {
    /// What `error` means for a guarded bus, or for a plain one.
    pub(super) fn of(error: &ConnectError, is_guarded: bool) -> Failure {
        let refused = |why: &str| Failure { why: why.to_string(), is_final: true };
        if error.kind() == ConnectErrorKind::AuthorizationViolation {
            return refused(match is_guarded {
                true => {
                    "it refuses this key: the name is not among those of its configuration, or has another key there. Is the \
                     credentials file the newest, and has the broker read its configuration since?"
                }
                false => {
                    "it lets nobody in without a key: use the credentials file that was made for this agent"
                }
            });
        }
        let tls = tls_error(error);
        if tls.is_some() && !is_guarded {
            return refused(
                "it encrypts its connections: reach it by tls://HOST:PORT, with a credentials file",
            );
        }
        match tls {
            Some(TlsError::InvalidCertificate(wrong)) => refused(&of_certificate(wrong, error)),
            Some(TlsError::InvalidMessage(InvalidMessage::InvalidContentType)) => refused(
                "it does not encrypt its connections, which this fleet's broker does: is it another one?",
            ),
            _ => Failure { why: error.to_string(), is_final: false },
        }
    }
}

fn of_certificate(wrong: &CertificateError, error: &ConnectError) -> String {
    match wrong {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: make it a new one, or set this machine's clock".to_string()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: is this machine's clock right?".to_string()
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is not of the authority in the credentials file: is it another fleet's broker, or is the file an old one?"
                .to_string()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host: reach it by a name or an address that it was made for".to_string()
        }
        _ => format!("its certificate can't be used: {error}"),
    }
}

/// What TLS says, wherever in the chain of causes it stands.
fn tls_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e TlsError> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        let inner = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref::<TlsError>()) {
            return Some(found);
        }
        if let Some(found) = current.downcast_ref::<TlsError>() {
            return Some(found);
        }
        cause = current.source();
    }
    None
}
