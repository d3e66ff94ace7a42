//! What goes wrong on a connection.

use std::io;

use model::record::interval::ErrorKind;

use crate::http::response::Fault;
use crate::recorder::Recorder;
use crate::transport::ConnectFault;

/// Why the exchange on a connection can't go on.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) slot: u32,
    pub(crate) cause: Cause,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It has failed.
    Failed(ErrorKind),
    /// The connection broke: the request may be sent again.
    Lost,
}

/// What has become of a step: boxed, because hardly any goes wrong.
pub(crate) type Progress<D = ()> = Result<D, Box<Trouble>>;

impl Trouble {
    pub(super) fn failed(slot: u32, kind: ErrorKind, message: impl Into<String>) -> Box<Trouble> {
        Box::new(Trouble { slot, cause: Cause::Failed(kind), message: message.into() })
    }

    pub(super) fn lost(slot: u32, message: impl Into<String>) -> Box<Trouble> {
        Box::new(Trouble { slot, cause: Cause::Lost, message: message.into() })
    }

    /// The server's bytes are no answer.
    pub(super) fn unread(slot: u32, fault: Fault) -> Box<Trouble> {
        Trouble::failed(slot, ErrorKind::Protocol, fault.words())
    }

    /// No connection could be made.
    pub(super) fn unconnected(slot: u32, error: &io::Error, recorder: &mut Recorder) -> Box<Trouble> {
        let fault = ConnectFault::of(error);
        if fault.is_the_generators() {
            recorder.wire().exhausted += 1;
        }
        let message = match fault.words() {
            Some(words) => format!("failed to connect: {words} ({error})"),
            None => format!("failed to connect: {error}"),
        };
        Trouble::failed(slot, ErrorKind::Connect, message)
    }
}
