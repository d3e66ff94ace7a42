//! A client that sends bytes as they are given: what a kept connection, a cut one or nonsense does to a server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// A server that says nothing for so long is stuck.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An answer: its head's names are in lower case.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn to(address: &str) -> Connection {
        let stream = TcpStream::connect(address).expect("the server takes connections");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
        let reader = BufReader::new(stream.try_clone().expect("a descriptor"));
        Connection { stream, reader }
    }

    /// Sends bytes; a server that has ended the connection may not take them.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Says that nothing more will come.
    pub(crate) fn finish(&self) {
        _ = self.stream.shutdown(Shutdown::Write);
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(request(path));
        self.answer().unwrap_or_else(|| panic!("{path} is answered"))
    }

    /// The next answer; none where the connection has ended, or ends within it.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        self.answer_to(false)
    }

    /// The same, to a HEAD where that was sent.
    pub(crate) fn answer_to(&mut self, to_head: bool) -> Option<Answer> {
        let status = self.line()?.split(' ').nth(1)?.parse().ok()?;
        let mut head = BTreeMap::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            head.insert(name.to_lowercase(), value.trim().to_string());
        }
        let has_none = to_head || status == 304;
        let length =
            head.get("content-length").filter(|_| !has_none).map_or(0, |text| text.parse().expect(text));
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        if !has_none && head.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
            body = self.chunks()?;
        }
        Some(Answer { status, head, body })
    }

    /// A body whose pieces say each how long they are, to the last one, which is empty.
    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line()?, 16).ok()?;
            let mut chunk = vec![0; length];
            self.reader.read_exact(&mut chunk).ok()?;
            self.line()?;
            if length == 0 {
                return Some(body);
            }
            body.extend(chunk);
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.reader.read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end().to_string())
    }

    /// Reads a few bytes and no more.
    pub(crate) fn sip(&mut self, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        self.reader.read_exact(&mut buffer).expect("bytes come");
        buffer
    }

    /// Whether the server ends the connection, whatever it says before.
    pub(crate) fn is_ended(&mut self) -> bool {
        let mut rest = Vec::new();
        // A reset is an end, too; a timeout is none.
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// A request that keeps the connection.
pub(crate) fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")
}
