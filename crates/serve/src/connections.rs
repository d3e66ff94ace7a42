//! Connections: how many there may be, and how long their heads may be and take.

use std::fs;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use model::{Problem, Problems, Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

use crate::app::Peer;
use crate::settings::Tls;

const MAX_CONNECTIONS: usize = 64;
const MAX_HEAD_BYTES: usize = 16 << 10;
/// hyper's own least is half of it.
const MAX_BUFFER_BYTES: usize = 32 << 10;
/// Whoever takes longer to say what is asked for, or says nothing, is not waited for.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Whoever takes nothing of an answer for so long has gone, or holds one of few places.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Where the machine has no descriptors left, others end first.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: text/plain\r\n\
    Content-Length: 37\r\n\r\nthere are at most 64 connections now\n";

/// Answers connections until `stop` says so.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    mut stop: watch::Receiver<bool>,
) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let Ok((mut stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let Ok(place) = free.clone().try_acquire_owned() else {
            _ = stream.write_all(FULL).await;
            continue;
        };
        let (router, tls) = (router.clone(), tls.clone());
        tokio::spawn(async move {
            _ = stream.set_nodelay(true);
            match tls {
                None => answer(stream, Peer(peer.ip()), router).await,
                Some(tls) => encrypted(stream, Peer(peer.ip()), (router, tls)).await,
            }
            drop(place);
        });
    }
}

async fn encrypted(stream: TcpStream, peer: Peer, (router, tls): (Router, TlsAcceptor)) {
    if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_TIMEOUT, tls.accept(stream)).await {
        answer(stream, peer, router).await;
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, peer: Peer, router: Router) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let service = TowerToHyperService::new(router.layer(Extension(peer)).into_service::<Incoming>());
    // A connection that breaks is its peer's concern.
    _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(MAX_HEAD_BYTES)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
        .await;
}

/// What encrypts with that certificate.
///
/// # Errors
/// Files that are no certificate and no key of it.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor> {
    let wrong = |path: &std::path::Path, what: String| {
        Problem::recipe(what)
            .file(path.display().to_string())
            .key("--tls")
            .remedy("PEM files: --tls CERT.pem,KEY.pem")
    };
    let read = |path: &std::path::Path| {
        fs::read(path).map_err(|error| Problems::from(wrong(path, format!("failed to read: {error}"))))
    };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&read(&tls.certificate)?)
        .filter_map(std::result::Result::ok)
        .collect();
    if certificates.is_empty() {
        return Err(wrong(&tls.certificate, "there is no certificate in it".to_string()).into());
    }
    let key = PrivateKeyDer::from_pem_slice(&read(&tls.key)?)
        .map_err(|error| wrong(&tls.key, format!("there is no key in it: {error}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Problem::bug(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| {
            wrong(&tls.certificate, format!("certificate and key don't go together: {error}"))
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A listener for the runtime.
pub(crate) fn listener(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A certificate of its own and the key of that, or of another one.
    fn files(directory: &Path, name: &str) -> Tls {
        let made =
            rcgen::generate_simple_self_signed(vec!["lab.example".to_string()]).expect("a certificate");
        let (certificate, key) =
            (directory.join(format!("{name}.pem")), directory.join(format!("{name}.key")));
        fs::write(&certificate, made.cert.pem()).expect("a file");
        fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        Tls { certificate, key }
    }

    #[test]
    fn a_certificate_and_its_key_are_taken_and_what_is_none_is_told_with_its_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let (one, other) = (files(directory.path(), "one"), files(directory.path(), "other"));
        assert!(acceptor(&one).is_ok());
        let wrong = |certificate: &Path, key: &Path| {
            let tls = Tls { certificate: certificate.to_path_buf(), key: key.to_path_buf() };
            acceptor(&tls).err().expect("it is refused").to_string()
        };
        assert!(wrong(&one.certificate, &other.key).contains("don't go together"));
        assert!(wrong(&one.key, &one.key).contains("no certificate"));
        assert!(wrong(&one.certificate, &one.certificate).contains("no key"));
        assert!(wrong(Path::new("/nowhere"), &one.key).contains("/nowhere"));
    }

    /// Asks for an answer that is larger than what the way to whoever asks holds, reads `read` bytes of it each 20 seconds, and says
    /// how long it was waited for, in seconds.
    async fn waited_for(read: usize) -> u64 {
        let router = Router::new().route("/", axum::routing::get(|| async { vec![b'x'; 1 << 20] }));
        let (mut browser, server) = tokio::io::duplex(4 << 10);
        browser.write_all(b"GET / HTTP/1.1\r\nHost: lab\r\n\r\n").await.expect("there is room");
        let began = tokio::time::Instant::now();
        let reads = async {
            let mut some = vec![0; read];
            for _ in 0..6 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                if !some.is_empty() {
                    tokio::io::AsyncReadExt::read_exact(&mut browser, &mut some).await.expect("it is sent");
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = answer(server, Peer(std::net::Ipv4Addr::LOCALHOST.into()), router) => {}
            () = reads => {}
        }
        began.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_of_an_answer_is_not_waited_for_and_whoever_is_slow_is() {
        assert_eq!(waited_for(0).await, 30);
        assert_eq!(waited_for(1 << 10).await, 150, "30 s after the last of six reads");
    }
}
