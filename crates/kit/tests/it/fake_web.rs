//! A web server of the test's own on a loopback port: it answers as a function says, one connection after the other.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What becomes of a request.
pub(crate) enum Then {
    /// These bytes; the connection is kept.
    Answer(String),
    /// These bytes, if any, and the end of the connection.
    Close(String),
    /// Nothing, as long as the client waits.
    Silence,
}

pub(crate) struct FakeWeb {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FakeWeb {
    /// Starts one; `decide` is given each request whole.
    pub(crate) fn start(mut decide: impl FnMut(&str) -> Then + Send + 'static) -> FakeWeb {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("it is bound");
        let (asked, connections, stop) = (Arc::default(), Arc::default(), Arc::default());
        let log: Arc<Mutex<Vec<String>>> = Arc::clone(&asked);
        let count: Arc<AtomicUsize> = Arc::clone(&connections);
        let stopped: Arc<AtomicBool> = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                count.fetch_add(1, Ordering::SeqCst);
                serve(stream, &log, &mut decide);
            }
        });
        FakeWeb { address, asked, connections, stop, thread: Some(thread) }
    }

    /// Every request so far, as it came.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panics with it").clone()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for FakeWeb {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // It waits for a connection, and sees only then that it is to end.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An answer with a body of known length.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<String>>, decide: &mut impl FnMut(&str) -> Then) {
    while let Some(request) = next_request(&mut stream) {
        log.lock().expect("nobody panics with it").push(request.clone());
        let (text, more) = match decide(&request) {
            Then::Answer(text) => (text, true),
            Then::Close(text) => (text, false),
            Then::Silence => {
                // Until the client has had enough.
                let _ = stream.read(&mut [0]);
                return;
            }
        };
        if stream.write_all(text.as_bytes()).is_err() || !more {
            return;
        }
    }
}

/// Nothing where the client has gone.
fn next_request(stream: &mut TcpStream) -> Option<String> {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        request.extend(byte);
    }
    let head = String::from_utf8(request).expect("a request's head is text");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).expect("a request's body is text"))
}
