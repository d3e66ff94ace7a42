//! What a TLS connection holds while nothing happens on it: counted, not believed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use engine::tls::{TlsChannel, TlsSetup, Wallet};
use engine::{Tls, Trust};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Counts the bytes that a thread holds.
struct Counting;

fn count(change: isize) {
    HELD.with(|held| held.set(held.get() + change));
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches a const-initialised
// thread-local without a destructor, which never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `realloc`, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn site() -> Arc<ServerConfig> {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["web.test".to_string()]).expect("a name");
    let chain = vec![params.self_signed(&key).expect("a certificate").der().clone()];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.expect("versions").with_no_client_auth().with_single_cert(chain, key);
    Arc::new(config.expect("the key fits"))
}

/// A channel after its handshake and one exchange; the server's side is gone again.
fn used(setup: &TlsSetup, site: &Arc<ServerConfig>, wallet: &mut Option<Box<Wallet>>) -> TlsChannel {
    let mut client = setup.open(wallet, 0.0).expect("a channel");
    let mut server = ServerConnection::new(Arc::clone(site)).expect("a server");
    let (mut up, mut down, mut plaintext) = (Vec::new(), Vec::new(), Vec::new());
    client.write(b"GET / HTTP/1.1\r\nHost: web.test\r\n\r\n").expect("room");
    for _ in 0..4 {
        client.pull(&mut up).expect("memory");
        let mut bytes = &up[..];
        while !bytes.is_empty() {
            server.read_tls(&mut bytes).expect("bytes from memory");
            server.process_new_packets().expect("the client is right");
        }
        up.clear();
        while server.wants_write() {
            server.write_tls(&mut down).expect("bytes to memory");
        }
        client.push(&down, &mut plaintext).expect("the server is right");
        down.clear();
    }
    assert!(!client.handshaking());
    client
}

/// Bytes that each of many idle connections holds.
fn bytes_each(resumption_ratio: f64) -> isize {
    let tls = Tls { server_name: "web.test".into(), trust: Trust::Anybody, resumption_ratio };
    let (setup, site) = (TlsSetup::new(&tls).expect("a setup"), site());
    let mut wallets: Vec<Option<Box<Wallet>>> = (0..=200).map(|_| None).collect();
    let mut channels = Vec::with_capacity(201);
    channels.push(used(&setup, &site, &mut wallets[0]));
    let before = HELD.with(Cell::get);
    for wallet in &mut wallets[1..] {
        channels.push(used(&setup, &site, wallet));
    }
    (HELD.with(Cell::get) - before) / 200 + size_of::<TlsChannel>() as isize
}

#[test]
fn an_idle_tls_connection_holds_a_few_kilobytes() {
    // 8.3 KB, half of it rustls' buffer for reading; 10.5 KB with tickets (rustls 0.23.46).
    let (plain, resuming) = (bytes_each(0.0), bytes_each(1.0));
    assert!(plain < 9_000, "{plain} bytes a connection without resumption");
    assert!(resuming < 11_500, "{resuming} bytes a connection and the user's tickets");
}
