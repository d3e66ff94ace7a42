//! Whose certificates are believed.

use std::sync::Arc;

use model::{Problem, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::target::Trust;

/// What verifies the server; a problem when there is no root to begin with.
pub(super) fn verifier(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    let roots = match trust {
        Trust::Anybody => return Ok(Arc::new(Anybody(Arc::clone(provider)))),
        Trust::System => system_roots()?,
        Trust::Roots(pem) => given_roots(pem)?,
    };
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    Ok(verifier.map_err(|error| Problem::bug(format!("failed to prepare verification: {error}")))?)
}

fn system_roots() -> Result<RootCertStore> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or(String::new(), |error| format!(": {error}"));
        return Err(Problem::environment(format!("this machine has no root certificates{reason}"))
            .why("without them no server's certificate can be verified")
            .remedy("apt-get install ca-certificates, or name the server's own root")
            .into());
    }
    Ok(roots)
}

fn given_roots(pem: &[u8]) -> Result<RootCertStore> {
    let broken = |what: String| {
        Problem::recipe(format!("the root certificates are not usable: {what}"))
            .why("without them the server's certificate can't be verified")
            .remedy("a file with one or more -----BEGIN CERTIFICATE----- parts")
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| broken(error.to_string()))?;
        roots.add(certificate).map_err(|error| broken(error.to_string()))?;
    }
    if roots.is_empty() { Err(broken("there is none in the file".into()).into()) } else { Ok(roots) }
}

/// Believes every certificate, but not that somebody else holds its key.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
