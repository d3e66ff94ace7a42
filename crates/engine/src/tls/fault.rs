//! What can go wrong with TLS, in words.

use std::fmt;

use rustls::{CertificateError, Error, InvalidMessage};

/// Why a TLS connection can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsFault {
    /// The server answered in plain HTTP.
    PlainHttp,
    /// What the server sends is not TLS.
    NotTls,
    /// The certificate's time is over.
    Expired,
    /// The certificate's time hasn't come yet.
    NotYetValid,
    /// The certificate is for other names.
    WrongName(String),
    /// Nobody that is trusted has signed the certificate.
    UnknownIssuer,
    /// The certificate is not acceptable for another reason.
    BadCertificate(String),
    /// The server and we have no version, cipher or protocol in common.
    NothingInCommon(String),
    /// The server broke off with an alert.
    Alert(String),
    /// The stream ended during the handshake.
    EndedInHandshake,
    /// The stream ended without `close_notify`: something may be missing.
    CutOff,
    /// What came broke the rules of TLS.
    Broken(String),
}

impl TlsFault {
    /// What rustls' error means; `handshaking` says when it came.
    pub(super) fn of(error: &Error, handshaking: bool) -> TlsFault {
        match error {
            Error::InvalidCertificate(reason) => TlsFault::of_certificate(reason),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) if handshaking => TlsFault::NotTls,
            Error::InvalidMessage(
                InvalidMessage::UnknownProtocolVersion | InvalidMessage::MessageTooLarge,
            ) if handshaking => TlsFault::NotTls,
            Error::PeerIncompatible(_) | Error::NoApplicationProtocol => {
                TlsFault::NothingInCommon(error.to_string())
            }
            Error::AlertReceived(alert) => TlsFault::Alert(format!("{alert:?}")),
            other => TlsFault::Broken(other.to_string()),
        }
    }

    fn of_certificate(reason: &CertificateError) -> TlsFault {
        use CertificateError as Reason;
        match reason {
            Reason::Expired | Reason::ExpiredContext { .. } => TlsFault::Expired,
            Reason::NotValidYet | Reason::NotValidYetContext { .. } => TlsFault::NotYetValid,
            Reason::NotValidForName | Reason::NotValidForNameContext { .. } => {
                TlsFault::WrongName(reason.to_string())
            }
            Reason::UnknownIssuer => TlsFault::UnknownIssuer,
            // What a certificate that signs itself and is no authority amounts to.
            Reason::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                TlsFault::UnknownIssuer
            }
            other => TlsFault::BadCertificate(other.to_string()),
        }
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsFault::PlainHttp => {
                f.write_str("the server speaks plain HTTP on this port, not TLS; use http://")
            }
            TlsFault::NotTls => f.write_str("what answers on this port is not TLS"),
            TlsFault::Expired => f.write_str("the server's certificate has expired"),
            TlsFault::NotYetValid => {
                f.write_str("the server's certificate is not valid yet; is this machine's clock right?")
            }
            TlsFault::WrongName(which) => write!(f, "the server's certificate is for another name: {which}"),
            TlsFault::UnknownIssuer => {
                f.write_str("the server's certificate is not signed by anybody who is trusted")
            }
            TlsFault::BadCertificate(why) => write!(f, "the server's certificate is not acceptable: {why}"),
            TlsFault::NothingInCommon(what) => {
                write!(f, "the server and Plimsoll have no way of speaking TLS in common: {what}")
            }
            TlsFault::Alert(alert) => write!(f, "the server broke TLS off with the alert {alert}"),
            TlsFault::EndedInHandshake => {
                f.write_str("the server closed the connection during the TLS handshake")
            }
            TlsFault::CutOff => f.write_str("the connection ended without the end of its TLS stream"),
            TlsFault::Broken(what) => write!(f, "what came is not valid TLS: {what}"),
        }
    }
}
