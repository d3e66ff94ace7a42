//! Whose certificates are believed.

use std::sync::Arc;

use model::{Problem, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::target::Trust;

/// What verifies the server; a problem when there is no root to begin with.
pub(super) fn verifier(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    Ok(match trust {
        Trust::Anybody => Arc::new(Anybody(Arc::clone(provider))),
        Trust::System => chains_to(system_roots()?, provider)?,
        Trust::Roots(pem) => {
            let given = given_certificates(pem)?;
            let mut roots = RootCertStore::empty();
            for certificate in &given {
                roots.add(certificate.clone()).map_err(|error| unusable(&error.to_string()))?;
            }
            Arc::new(Given { chains: chains_to(roots, provider)?, given })
        }
    })
}

fn chains_to(roots: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>> {
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

fn given_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| unusable(&error.to_string()))?;
    if found.is_empty() { Err(unusable("there is none in the file").into()) } else { Ok(found) }
}

fn unusable(what: &str) -> Problem {
    Problem::recipe(format!("the root certificates are not usable: {what}"))
        .why("without them the server's certificate can't be verified")
        .remedy("a file with one or more -----BEGIN CERTIFICATE----- parts")
}

/// Believes what chains to a given certificate, and a given one itself: what `openssl req -x509` makes for a test
/// server is an authority and the server's certificate at the same time, which no chain may be.
#[derive(Debug)]
struct Given {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Given {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let chained = self.chains.verify_server_cert(certificate, intermediates, name, ocsp, now);
        match chained {
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if self.given.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            chained => chained,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
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
