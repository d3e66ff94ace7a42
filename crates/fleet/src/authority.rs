//! A fleet's own authority: it signs the broker's certificate, and agents believe no other one. So neither a name in the DNS nor a
//! certificate of the public is needed, and nobody else's authority is good for anything here.

use std::fmt;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType, date_time_ymd,
};

use crate::bus::Name;

const DAY: Duration = Duration::from_secs(86_400);

/// Certificates are valid from so long ago, for machines whose clocks are behind.
const BEFORE: Duration = DAY;

/// As long as a fleet may live without new credentials files.
const AUTHORITY_FOR: Duration = Duration::from_secs(10 * 365 * 86_400);

/// As long as its broker may without a new certificate.
const BROKER_FOR: Duration = Duration::from_secs(2 * 365 * 86_400);

/// Who signs for a fleet.
#[derive(Clone, PartialEq, Eq)]
pub struct Authority {
    /// What agents know it by: PEM text, which is in every credentials file.
    pub certificate_pem: String,
    /// Its secret: PEM text, which only whoever makes certificates needs.
    pub key_pem: String,
}

/// A broker's certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    /// What it shows everybody: PEM text.
    pub certificate_pem: String,
    /// Its secret: PEM text.
    pub key_pem: String,
}

impl fmt::Debug for Authority {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").field("certificate_pem", &self.certificate_pem).finish_non_exhaustive()
    }
}

impl fmt::Debug for Certificate {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("certificate_pem", &self.certificate_pem).finish_non_exhaustive()
    }
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// This machine makes no keys.
    pub fn new(fleet: &Name) -> Result<Authority, String> {
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let mut params = params_of(&key);
        valid_for(&mut params, AUTHORITY_FOR);
        // For whoever looks at it: what it signs names it by its key alone.
        let shown = fleet.as_str().try_into().map_err(|error: rcgen::Error| error.to_string())?;
        params.subject_alt_names.push(SanType::DnsName(shown));
        let signed =
            params.self_signed(&key).map_err(|error| format!("no authority for fleet {fleet}: {error}"))?;
        Ok(Authority { certificate_pem: signed.pem(), key_pem: key.serialize_pem() })
    }

    /// A certificate for the broker that is reached by these names and addresses.
    ///
    /// # Errors
    /// There is none, or one of them is neither; or the authority's key can't be read.
    pub fn broker_certificate(&self, hosts: &[String]) -> Result<Certificate, String> {
        let Some(first) = hosts.first() else {
            return Err("a broker's certificate is for at least one name or address by which it is reached"
                .to_string());
        };
        if let Some(wrong) = hosts.iter().find(|host| !is_host(host)) {
            return Err(format!("`{wrong}` is no name and no address of a broker"));
        }
        let key = KeyPair::from_pem(&self.key_pem)
            .map_err(|error| format!("the authority's key can't be read: {error}"))?;
        let issuer = Issuer::new(params_of(&key), key);
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let failed = |error: rcgen::Error| format!("no certificate for {}: {error}", hosts.join(", "));
        let mut params = CertificateParams::new(hosts).map_err(failed)?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, first.as_str());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        valid_for(&mut params, BROKER_FOR);
        let signed = params.signed_by(&key, &issuer).map_err(failed)?;
        Ok(Certificate { certificate_pem: signed.pem(), key_pem: key.serialize_pem() })
    }
}

/// What of an authority's certificate follows from its key: what it signs has to name it as it names itself, and two authorities have
/// different names.
fn params_of(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    let id = params.key_identifier(key).iter().take(8).fold(String::new(), |mut id, byte| {
        // Writing to a string can't fail.
        _ = write!(id, "{byte:02x}");
        id
    });
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("plimsoll fleet authority {id}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn valid_for(params: &mut CertificateParams, length: Duration) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(BEFORE);
    params.not_after = epoch + now + length;
}

fn is_host(text: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
    text.parse::<IpAddr>().is_ok() || !text.is_empty() && text.chars().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_printed_nowhere() {
        let authority = Authority::new(&Name::of("lab").expect("a name")).expect("a key");
        let hosts = ["bus.example".to_string(), "10.0.0.5".to_string(), "::1".to_string()];
        let certificate = authority.broker_certificate(&hosts).expect("they are hosts");
        for (printed, secret) in [
            (format!("{authority:#?}"), &authority.key_pem),
            (format!("{certificate:#?}"), &certificate.key_pem),
        ] {
            let line = secret.lines().nth(1).expect("a line of the key");
            assert!(!printed.contains(line) && printed.contains("BEGIN CERTIFICATE"), "{printed}");
        }
    }

    #[test]
    fn what_is_no_host_and_what_is_no_key_gets_no_certificate() {
        let authority = Authority::new(&Name::of("lab").expect("a name")).expect("a key");
        for (hosts, why) in [
            (vec![], "at least one name"),
            (vec!["bus.example".to_string(), "tls://x:1".to_string()], "`tls://x:1` is no name"),
            (vec![String::new()], "`` is no name"),
        ] {
            let said = authority.broker_certificate(&hosts).expect_err(why);
            assert!(said.contains(why), "{said}");
        }
        let broken = Authority { key_pem: "nothing".to_string(), ..authority };
        let said = broken.broker_certificate(&["bus.example".to_string()]).expect_err("no key");
        assert!(said.contains("the authority's key can't be read"), "{said}");
    }
}
