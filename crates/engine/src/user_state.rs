//! What a user carries from one session to the next, beside its Lua table. Most users of most kits have none of it for
//! a while, so it is made when it is first needed.

use crate::http::auth::challenge::{self, Challenge};
use crate::http::auth::{Credentials, Digest, write_basic};
use crate::http::cache::Cache;
use crate::http::cookies::Jar;
use crate::tls::Wallet;

/// What a user carries from one session to the next.
#[derive(Debug, Default)]
pub(crate) struct UserState {
    /// Cookies.
    pub(crate) jar: Jar,
    /// Which objects it has fetched, and until when they are fresh.
    pub(crate) cache: Cache,
    /// Tickets for resuming TLS sessions.
    pub(crate) wallet: Option<Box<Wallet>>,
    /// Name and password.
    pub(crate) login: Option<Box<Login>>,
}

/// How a user proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Name and password with every request (RFC 7617).
    Basic,
    /// A digest of them over what the server asks for (RFC 7616).
    Digest,
}

/// Who a user says it is.
#[derive(Debug)]
pub(crate) struct Login {
    name: String,
    password: String,
    proof: Proof,
    /// How often something was agreed on with the server.
    agreements: u32,
}

#[derive(Debug)]
enum Proof {
    /// The header line, which goes with every request from the first one on.
    Basic(Vec<u8>),
    /// What was agreed on with the server; nothing before its first challenge.
    Digest(Option<Digest>),
}

impl Login {
    /// With Basic authentication, a name with a colon is an error. With Digest, the first request goes without, and is
    /// repeated when the server asks for it.
    pub(crate) fn new(name: &str, password: &str, scheme: Scheme) -> Result<Login, &'static str> {
        let proof = match scheme {
            Scheme::Digest => Proof::Digest(None),
            Scheme::Basic => {
                let mut line = Vec::new();
                write_basic(Credentials { name, password }, &mut line)?;
                Proof::Basic(line)
            }
        };
        Ok(Login { name: name.to_string(), password: password.to_string(), proof, agreements: 0 })
    }

    /// How often something was agreed on with the server; the last agreement is the one in force.
    pub(crate) fn agreements(&self) -> u32 {
        self.agreements
    }

    /// Appends the header line for a request, if there is one yet, and gives the agreement that it follows.
    pub(crate) fn write_header(&mut self, method: &[u8], target: &[u8], out: &mut Vec<u8>) -> u32 {
        match &mut self.proof {
            Proof::Basic(line) => out.extend_from_slice(line),
            Proof::Digest(Some(digest)) => digest.write_header(method, target, out),
            Proof::Digest(None) => {}
        }
        self.agreements
    }

    /// The server asks for credentials; true when there is a new answer to that, so that the request is worth
    /// repeating. `nonce` is a random number.
    pub(crate) fn meet<'a>(&mut self, headers: impl IntoIterator<Item = &'a [u8]>, nonce: u64) -> bool {
        let Proof::Digest(agreed) = &mut self.proof else { return false };
        let Some(Challenge::Digest(asked)) = challenge::strongest(headers) else { return false };
        if agreed.as_ref().is_some_and(|digest| digest.refused(&asked)) {
            return false;
        }
        let credentials = Credentials { name: &self.name, password: &self.password };
        *agreed = Some(Digest::new(asked, credentials, &format!("{nonce:016x}")));
        self.agreements += 1;
        true
    }
}
