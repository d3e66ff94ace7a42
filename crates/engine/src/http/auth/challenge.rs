//! What a server asks for in its `WWW-Authenticate` headers (RFC 9110 section 11.6.1): several challenges in one header,
//! several headers.

/// Longer nonces and realms are not kept for every user.
const MAX_VALUE_BYTES: usize = 1024;

/// The strongest challenge that we can meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Challenge {
    /// Name and password as they are.
    Basic,
    /// A digest of them.
    Digest(DigestChallenge),
}

/// How digests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// RFC 2617's own.
    Md5,
    /// RFC 7616's first choice.
    Sha256,
}

/// What a server asks a digest over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestChallenge {
    pub(super) algorithm: Algorithm,
    /// The `-sess` variant: the secret is mixed with the nonces.
    pub(super) session: bool,
    /// The algorithm was named; then the answer names it too.
    pub(super) named: bool,
    pub(super) realm: Vec<u8>,
    pub(super) nonce: Vec<u8>,
    pub(super) opaque: Option<Vec<u8>>,
    /// With `qop=auth`; without any quality of protection it is RFC 2069's digest.
    pub(super) counted: bool,
    stale: bool,
}

impl DigestChallenge {
    /// Only the nonce was too old; the credentials are right.
    pub fn stale(&self) -> bool {
        self.stale
    }
}

/// The strongest challenge of an answer's `WWW-Authenticate` (or `Proxy-Authenticate`) values that we can meet: Digest
/// with SHA-256, with MD5, Basic. Malformed and unknown ones are passed over.
pub fn strongest<'a>(headers: impl IntoIterator<Item = &'a [u8]>) -> Option<Challenge> {
    headers.into_iter().flat_map(challenges).filter_map(|raw| raw.understood()).max_by_key(strength)
}

fn strength(challenge: &Challenge) -> u8 {
    match challenge {
        Challenge::Basic => 0,
        Challenge::Digest(digest) => 1 + u8::from(digest.algorithm == Algorithm::Sha256),
    }
}

/// A challenge as it is written: scheme, parameters.
struct Raw<'a> {
    scheme: &'a [u8],
    parameters: Vec<(&'a [u8], Vec<u8>)>,
}

impl Raw<'_> {
    fn value(&self, name: &str) -> Option<&[u8]> {
        let same = |(found, _): &&(&[u8], Vec<u8>)| found.eq_ignore_ascii_case(name.as_bytes());
        self.parameters.iter().find(same).map(|(_, value)| value.as_slice())
    }

    fn understood(&self) -> Option<Challenge> {
        if self.scheme.eq_ignore_ascii_case(b"basic") {
            return Some(Challenge::Basic);
        }
        if !self.scheme.eq_ignore_ascii_case(b"digest") {
            return None;
        }
        let kept = |name| self.value(name).filter(|value| value.len() <= MAX_VALUE_BYTES).map(<[u8]>::to_vec);
        let named = self.value("algorithm");
        let (algorithm, session) = algorithm(named.unwrap_or(b"MD5"))?;
        let counted = match self.value("qop") {
            None | Some([]) => false,
            Some(offered) => {
                let auth = |offer: &[u8]| offer.trim_ascii().eq_ignore_ascii_case(b"auth");
                offered.split(|byte| *byte == b',').any(auth).then_some(true)?
            }
        };
        Some(Challenge::Digest(DigestChallenge {
            algorithm,
            session,
            named: named.is_some(),
            realm: kept("realm")?,
            nonce: kept("nonce")?,
            opaque: match self.value("opaque") {
                Some(_) => Some(kept("opaque")?),
                None => None,
            },
            counted,
            stale: self.value("stale").is_some_and(|value| value.eq_ignore_ascii_case(b"true")),
        }))
    }
}

fn algorithm(name: &[u8]) -> Option<(Algorithm, bool)> {
    let known = [
        ("MD5", (Algorithm::Md5, false)),
        ("MD5-sess", (Algorithm::Md5, true)),
        ("SHA-256", (Algorithm::Sha256, false)),
        ("SHA-256-sess", (Algorithm::Sha256, true)),
    ];
    known.into_iter().find(|(text, _)| name.eq_ignore_ascii_case(text.as_bytes())).map(|(_, which)| which)
}

/// The challenges of one header. A token with `=` behind it is a parameter, one without begins a challenge.
fn challenges(mut rest: &[u8]) -> Vec<Raw<'_>> {
    let mut found: Vec<Raw<'_>> = Vec::new();
    loop {
        rest = trim_start(rest, b" \t,");
        let (token, behind) = rest.split_at(rest.iter().take_while(|byte| is_token(**byte)).count());
        rest = trim_start(behind, b" \t");
        match (token, rest) {
            (_, [b'=', behind @ ..]) => {
                let value;
                (value, rest) = read_value(trim_start(behind, b" \t"));
                if let (Some(challenge), false) = (found.last_mut(), token.is_empty()) {
                    challenge.parameters.push((token, value));
                }
            }
            ([], []) => return found,
            // What is no token is passed over up to the next comma.
            ([], _) => rest = &rest[rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len())..],
            (scheme, _) => found.push(Raw { scheme, parameters: Vec::new() }),
        }
    }
}

/// A token or a quoted string without its quotes, and what comes behind it.
fn read_value(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let [b'"', quoted @ ..] = bytes else {
        let end = bytes.iter().take_while(|byte| is_token(**byte)).count();
        return (bytes[..end].to_vec(), &bytes[end..]);
    };
    let mut value = Vec::new();
    let mut rest = quoted;
    loop {
        match rest {
            [b'"', behind @ ..] => return (value, behind),
            [b'\\', byte, behind @ ..] | [byte, behind @ ..] => {
                value.push(*byte);
                rest = behind;
            }
            [] => return (value, rest),
        }
    }
}

fn trim_start<'a>(bytes: &'a [u8], blanks: &[u8]) -> &'a [u8] {
    &bytes[bytes.iter().take_while(|byte| blanks.contains(byte)).count()..]
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digest(headers: &[&str]) -> DigestChallenge {
        match strongest(headers.iter().map(|header| header.as_bytes())) {
            Some(Challenge::Digest(digest)) => digest,
            other => panic!("a digest was asked for, found {other:?} in {headers:?}"),
        }
    }

    #[test]
    fn the_strongest_of_several_challenges_is_met() {
        let both = r#"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#;
        assert_eq!(strongest([both.as_bytes()]), Some(Challenge::Basic));
        let md5 = r#"Digest realm="r", nonce="n", algorithm=MD5, qop="auth, auth-int""#;
        let sha = r#"Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth""#;
        for headers in [vec![both, md5], vec![md5, both]] {
            let found = digest(&headers);
            assert_eq!((found.algorithm, found.counted, found.named), (Algorithm::Md5, true, true));
        }
        assert_eq!(digest(&[sha, md5]).algorithm, Algorithm::Sha256);
        assert_eq!(digest(&[&format!("{md5},{both} , {sha}")]).algorithm, Algorithm::Sha256);
    }

    #[test]
    fn a_challenge_is_read_with_everything_in_it() {
        let found =
            digest(&[r#"DIGEST NONCE = "a\"b,c=" , realm="", opaque="", stale=TRUE,algorithm=md5-SESS"#]);
        assert_eq!((found.nonce.as_slice(), found.realm.as_slice()), (&b"a\"b,c="[..], &b""[..]));
        assert_eq!((found.opaque.as_deref(), found.stale()), (Some(&b""[..]), true));
        assert_eq!((found.algorithm, found.session, found.counted), (Algorithm::Md5, true, false));
    }

    #[test]
    fn challenges_that_we_cannot_meet_are_passed_over() {
        let long = format!(r#"Digest realm="r", nonce="{}""#, "n".repeat(MAX_VALUE_BYTES + 1));
        for header in [
            "",
            "Negotiate abc==",
            "Bearer realm=\"r\"",
            r#"Digest realm="r""#,
            r#"Digest nonce="n""#,
            r#"Digest realm="r", nonce="n", qop="auth-int""#,
            r#"Digest realm="r", nonce="n", algorithm=SHA-512-256"#,
            long.as_str(),
        ] {
            assert_eq!(strongest([header.as_bytes()]), None, "{header}");
        }
        assert_eq!(strongest([&b"Negotiate abc==, Basic"[..]]), Some(Challenge::Basic));
    }

    proptest! {
        #[test]
        fn no_header_makes_a_panic_or_never_ends(
            header in "[ ,=\"\\\\a;{-]{0,40}|(Digest |Basic |realm=|nonce=|\"|,|=| |\\\\){0,20}"
        ) {
            let _ = strongest([header.as_bytes()]);
        }
    }
}
