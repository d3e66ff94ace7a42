//! A user's answer to a Digest challenge, request by request (RFC 7616 section 3.4).

use md5::{Digest as _, Md5};
use sha2::Sha256;

use super::Credentials;
use super::challenge::{Algorithm, DigestChallenge};

/// A digest in hexadecimal: 32 or 64 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hex {
    digits: [u8; 64],
    length: u8,
}

/// What a user has agreed on with a server: the challenge, the secret's digest, and how often the nonce was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    challenge: DigestChallenge,
    name: String,
    cnonce: String,
    secret: Hex,
    count: u32,
}

impl Digest {
    /// Answers `challenge`. `cnonce` is the user's own random nonce, of letters and digits; it goes with every request
    /// until the next challenge, and the count of requests tells them apart.
    pub fn new(challenge: DigestChallenge, credentials: Credentials<'_>, cnonce: &str) -> Digest {
        let hash = |parts: &[&[u8]]| Hex::of(challenge.algorithm, parts);
        let mut secret =
            hash(&[credentials.name.as_bytes(), &challenge.realm, credentials.password.as_bytes()]);
        if challenge.session {
            secret = hash(&[secret.as_bytes(), &challenge.nonce, cnonce.as_bytes()]);
        }
        Digest { challenge, name: credentials.name.to_string(), cnonce: cnonce.to_string(), secret, count: 0 }
    }

    /// Whether a new challenge after a request with this digest means that the credentials are wrong, and not only
    /// that the nonce is too old.
    pub fn refused(&self, again: &DigestChallenge) -> bool {
        self.count > 0 && !again.stale()
    }

    /// Appends the header line for a request to `target` (path with query, as sent), and counts it.
    pub fn write_header(&mut self, method: &[u8], target: &[u8], out: &mut Vec<u8>) {
        self.count = self.count.wrapping_add(1);
        let challenge = &self.challenge;
        let count = hex_of(self.count);
        let action = Hex::of(challenge.algorithm, &[method, target]);
        let (secret, nonce, cnonce) = (self.secret.as_bytes(), &challenge.nonce[..], self.cnonce.as_bytes());
        let counted: &[&[u8]] = &[secret, nonce, &count, cnonce, b"auth", action.as_bytes()];
        let plain: &[&[u8]] = &[secret, nonce, action.as_bytes()];
        let response = Hex::of(challenge.algorithm, if challenge.counted { counted } else { plain });
        quoted(b"Authorization: Digest username=", self.name.as_bytes(), out);
        quoted(b", realm=", &challenge.realm, out);
        quoted(b", nonce=", nonce, out);
        quoted(b", uri=", target, out);
        if challenge.named {
            out.extend_from_slice(b", algorithm=");
            out.extend_from_slice(match challenge.algorithm {
                Algorithm::Md5 => b"MD5",
                Algorithm::Sha256 => b"SHA-256",
            });
            out.extend_from_slice(if challenge.session { b"-sess" } else { b"" });
        }
        if challenge.counted {
            out.extend_from_slice(b", qop=auth, nc=");
            out.extend_from_slice(&count);
        }
        // RFC 2617 section 3.2.2: without qop there is no cnonce, but for the secret of a session.
        if challenge.counted || challenge.session {
            quoted(b", cnonce=", cnonce, out);
        }
        quoted(b", response=", response.as_bytes(), out);
        if let Some(opaque) = &challenge.opaque {
            quoted(b", opaque=", opaque, out);
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl Hex {
    /// The digest of `parts` with colons between them.
    fn of(algorithm: Algorithm, parts: &[&[u8]]) -> Hex {
        match algorithm {
            Algorithm::Md5 => joined(Md5::new(), parts),
            Algorithm::Sha256 => joined(Sha256::new(), parts),
        }
    }

    fn write(bytes: &[u8]) -> Hex {
        let mut hex = Hex { digits: [0; 64], length: 2 * bytes.len() as u8 };
        for (pair, byte) in hex.digits.chunks_exact_mut(2).zip(bytes) {
            pair.copy_from_slice(&[hex_digit(byte >> 4), hex_digit(byte & 15)]);
        }
        hex
    }

    fn as_bytes(&self) -> &[u8] {
        &self.digits[..usize::from(self.length)]
    }
}

fn joined<D: md5::Digest>(mut digest: D, parts: &[&[u8]]) -> Hex {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            digest.update(b":");
        }
        digest.update(part);
    }
    Hex::write(&digest.finalize())
}

fn hex_of(count: u32) -> [u8; 8] {
    std::array::from_fn(|index| hex_digit((count >> (28 - 4 * index)) as u8 & 15))
}

fn hex_digit(value: u8) -> u8 {
    b"0123456789abcdef"[usize::from(value)]
}

fn quoted(before: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    out.push(b'"');
    for byte in value {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::super::challenge::{Challenge, strongest};
    use super::*;

    const MUFASA: Credentials<'_> = Credentials { name: "Mufasa", password: "Circle of Life" };
    const CNONCE: &str = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";

    fn challenge_of(header: &str) -> DigestChallenge {
        match strongest([header.as_bytes()]) {
            Some(Challenge::Digest(challenge)) => challenge,
            other => panic!("a digest is asked for, found {other:?}"),
        }
    }

    fn rfc_7616(algorithm: &str) -> DigestChallenge {
        challenge_of(&format!(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
             nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
             opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        ))
    }

    fn line(digest: &mut Digest) -> String {
        let mut out = Vec::new();
        digest.write_header(b"GET", b"/dir/index.html", &mut out);
        String::from_utf8(out).expect("the header is text")
    }

    fn response(line: &str) -> &str {
        let (_, rest) = line.split_once("response=\"").expect("there is a response");
        rest.split('"').next().expect("a first part")
    }

    #[test]
    fn the_vectors_of_rfc_7616_section_3_9_1_come_out() {
        let mut digest = Digest::new(rfc_7616("MD5"), MUFASA, CNONCE);
        assert_eq!(
            line(&mut digest),
            format!(
                "Authorization: Digest username=\"Mufasa\", realm=\"http-auth@example.org\", \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", algorithm=MD5, \
                 qop=auth, nc=00000001, cnonce=\"{CNONCE}\", response=\"8ca523f5e9506fed4657c9700eebdbec\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"\r\n"
            )
        );
        let mut digest = Digest::new(rfc_7616("SHA-256"), MUFASA, CNONCE);
        let expected = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1";
        assert_eq!(response(&line(&mut digest)), expected);
    }

    #[test]
    fn the_vector_of_rfc_2617_section_3_5_comes_out() {
        let challenge = challenge_of(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", \
             nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"",
        );
        let credentials = Credentials { name: "Mufasa", password: "Circle Of Life" };
        let line = line(&mut Digest::new(challenge, credentials, "0a4f113b"));
        assert_eq!(response(&line), "6629fae49393a05397450978507c4ef1");
        assert!(!line.contains("algorithm"), "{line}");
    }

    #[test]
    fn a_digest_without_qop_is_that_of_rfc_2069() {
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093";
        let challenge = challenge_of(&format!("Digest realm=\"testrealm@host.com\", nonce=\"{nonce}\""));
        let credentials = Credentials { name: "Mufasa", password: "CircleOfLife" };
        let line = line(&mut Digest::new(challenge, credentials, "unused"));
        // RFC 2069 section 2.4, with the response of its erratum 749.
        assert_eq!(response(&line), "1949323746fe6a43ef61f9606e7febea");
        assert!(!line.contains("nc=") && !line.contains("cnonce"), "{line}");
    }

    #[test]
    fn each_request_is_counted_and_a_session_keeps_its_secret() {
        // Expected values by Python's hashlib from the formulas of RFC 7616 sections 3.4.1 to 3.4.3.
        let cases = [
            ("MD5-sess", ["e783283f46242139c486a698fec7211d", "6914b51e16f9459d9abc967ad41c4599"]),
            (
                "SHA-256",
                [
                    "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
                    "8c8db27f49ff1c202f9fb49fa9d2e9eabf078dcc93db40dfd6527010091d1c8e",
                ],
            ),
            (
                "SHA-256-sess",
                [
                    "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7",
                    "6bb0010aa4bdf46422a798c509ea32e256f27bd37de5cc3bdf8ed51e1d77d650",
                ],
            ),
        ];
        for (algorithm, expected) in cases {
            let mut digest = Digest::new(rfc_7616(algorithm), MUFASA, CNONCE);
            let (first, second) = (line(&mut digest), line(&mut digest));
            assert_eq!([response(&first), response(&second)], expected, "{algorithm}");
            assert!(second.contains("nc=00000002") && second.contains(&format!("algorithm={algorithm},")));
        }
    }

    #[test]
    fn a_stale_nonce_is_no_refusal() {
        let stale = challenge_of("Digest realm=\"r\", nonce=\"n2\", stale=true");
        let wrong = challenge_of("Digest realm=\"r\", nonce=\"n2\"");
        let mut digest = Digest::new(wrong.clone(), MUFASA, CNONCE);
        assert!(!digest.refused(&wrong), "nothing was sent yet");
        line(&mut digest);
        assert!(digest.refused(&wrong) && !digest.refused(&stale));
    }

    #[test]
    fn quotes_in_a_realm_are_escaped_in_the_header_only() {
        let challenge = challenge_of("Digest realm=\"a\\\"b\", nonce=\"n\"");
        assert!(line(&mut Digest::new(challenge, MUFASA, CNONCE)).contains("realm=\"a\\\"b\""));
    }
}
