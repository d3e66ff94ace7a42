//! Authentication of requests: Basic (RFC 7617) and Digest with MD5 and SHA-256 (RFC 7616, RFC 2617). What a server
//! asks for is read by [`challenge`]. Random client nonces come from the caller.

pub mod challenge;
mod digest;

pub use challenge::{Challenge, DigestChallenge};
pub use digest::Digest;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A user's name and password.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    /// The user's name.
    pub name: &'a str,
    /// The password.
    pub password: &'a str,
}

/// Appends the header line of Basic authentication. A name with a colon can't be told from the password (RFC 7617
/// section 2) and is an error.
pub fn write_basic(credentials: Credentials<'_>, out: &mut Vec<u8>) -> Result<(), &'static str> {
    if credentials.name.contains(':') {
        return Err("a user's name for Basic authentication can't have a colon");
    }
    let plain = [credentials.name, credentials.password].join(":");
    out.extend_from_slice(b"Authorization: Basic ");
    out.extend_from_slice(STANDARD.encode(plain).as_bytes());
    out.extend_from_slice(b"\r\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_is_the_vector_of_rfc_7617() {
        let mut out = Vec::new();
        let aladdin = Credentials { name: "Aladdin", password: "open sesame" };
        assert_eq!(write_basic(aladdin, &mut out), Ok(()));
        assert_eq!(out, b"Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n");
        let mut out = Vec::new();
        assert_eq!(write_basic(Credentials { name: "test", password: "123\u{A3}" }, &mut out), Ok(()));
        assert_eq!(out, b"Authorization: Basic dGVzdDoxMjPCow==\r\n");
    }

    #[test]
    fn a_name_with_a_colon_is_refused() {
        let mut out = Vec::new();
        assert!(write_basic(Credentials { name: "a:b", password: "c" }, &mut out).is_err());
        assert!(out.is_empty());
    }
}
