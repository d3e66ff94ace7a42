//! Requests and answers of a worker's users over their connections.

use std::io;

use model::interval::ErrorKind;

use super::{Doing, NO_CONNECTION, Worker};
use crate::clock::Clock;
use crate::connection::{Connection, Phase};
use crate::trace::Step;
use crate::transport::{Ready, Transport};

impl<C: Clock, T: Transport> Worker<C, T> {
    /// Sends the host's draft on the user's connection, opening one where there is none.
    pub(super) fn send_request(&mut self, user: u32) {
        let now_ns = self.now();
        let slot = match self.users[user as usize].connection {
            NO_CONNECTION => self.claim_connection(user),
            slot => slot,
        };
        {
            let mut host = self.host.borrow_mut();
            let connection = &mut self.connections[slot as usize];
            std::mem::swap(&mut connection.out, &mut host.draft.bytes);
            connection.sent = 0;
            connection.row = host.draft.row;
            connection.expected_status = host.draft.expected_status;
            connection.head = host.draft.head;
            connection.issued_ns = now_ns;
        }
        let state = &mut self.users[user as usize];
        state.doing = Doing::Waiting;
        if let Some(presence) = &mut state.presence {
            presence.visit.request_issued(now_ns);
        }
        self.wheel.set(user, now_ns + self.timeout_ns);
        self.dispatch(slot);
    }

    /// Gets the connection's request on its way.
    fn dispatch(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let page = self.host.borrow().pages.borrow_mut().claim(&connection.out, connection.head);
        connection.page = Some(page);
        if connection.phase == Phase::Idle {
            connection.phase = Phase::Waiting;
            return self.push_out(slot);
        }
        connection.phase = Phase::Connecting;
        connection.used = false;
        connection.ended = false;
        if let Err(error) = self.transport.connect(slot) {
            let message = connect_message(&error);
            self.fail_exchange(slot, ErrorKind::Connect, &message);
        }
    }

    pub(super) fn connection_ready(&mut self, event: Ready) {
        let slot = event.slot;
        self.connections[slot as usize].ended |= event.ended;
        if self.connections[slot as usize].phase == Phase::Connecting && event.writable {
            match self.transport.finish_connect(slot) {
                Ok(()) => {
                    self.host.borrow_mut().recorder.connected();
                    self.connections[slot as usize].phase = Phase::Waiting;
                    self.push_out(slot);
                }
                Err(error) => {
                    let message = connect_message(&error);
                    return self.fail_exchange(slot, ErrorKind::Connect, &message);
                }
            }
        } else if self.connections[slot as usize].phase == Phase::Waiting && event.writable {
            self.push_out(slot);
        }
        // A repeated request may just have begun to connect anew: the old connection's bytes are not its own.
        if event.readable && self.connections[slot as usize].phase != Phase::Connecting {
            self.take_in(slot);
        }
    }

    fn push_out(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        while connection.phase == Phase::Waiting && connection.sent < connection.out.len() {
            match self.transport.send(slot, &connection.out[connection.sent..]) {
                Ok(sent) => connection.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.lost(slot, &format!("failed to send: {error}")),
            }
        }
    }

    fn take_in(&mut self, slot: u32) {
        loop {
            if self.connections[slot as usize].phase == Phase::Closed {
                return;
            }
            match self.transport.receive(slot, &mut self.receive_buffer) {
                Ok(0) => return self.end_of_stream(slot),
                // An answer that isn't complete is read on until the socket is dry: the peer's end may be in it already,
                // and no other event would tell.
                Ok(length) => {
                    if !self.bytes_came(slot, length) {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.lost(slot, &format!("failed to receive: {error}")),
            }
        }
    }

    /// Feeds the answer; false when there is nothing left to read for.
    fn bytes_came(&mut self, slot: u32, length: usize) -> bool {
        let connection = &self.connections[slot as usize];
        let (Phase::Waiting, Some(page)) = (connection.phase, connection.page) else {
            // Bytes that nobody asked for: the connection can't be trusted any more.
            self.forget_idle(slot);
            return false;
        };
        let fed = self.pages().borrow_mut().response(page).feed(&self.receive_buffer[..length]);
        match fed {
            Ok(true) => {
                self.answered(slot);
                false
            }
            Ok(false) => true,
            Err(fault) => {
                self.fail_exchange(slot, ErrorKind::Protocol, fault.words());
                false
            }
        }
    }

    fn end_of_stream(&mut self, slot: u32) {
        let connection = &self.connections[slot as usize];
        match (connection.phase, connection.page) {
            (Phase::Idle, _) => self.forget_idle(slot),
            (Phase::Waiting, Some(page)) => {
                let ended = self.pages().borrow_mut().response(page).end_of_stream();
                match ended {
                    Ok(()) => self.answered(slot),
                    Err(fault) => self.lost(slot, fault.words()),
                }
            }
            (Phase::Connecting, _) => self.fail_exchange(slot, ErrorKind::Connect, "closed while connecting"),
            _ => {}
        }
    }

    /// The connection broke. When it had been used before and not a byte of the answer has come, the server may have
    /// closed it in good faith before it saw the request: a GET or HEAD is repeated once on a new connection
    /// (RFC 9110 section 9.2.2), and the first try's outcome stays unknown.
    fn lost(&mut self, slot: u32, message: &str) {
        let connection = &self.connections[slot as usize];
        let started = connection.page.is_some_and(|page| self.pages().borrow_mut().response(page).started());
        let safe = [&b"GET "[..], b"HEAD "].iter().any(|method| connection.out.starts_with(method));
        if !(connection.used && safe) || started || connection.phase != Phase::Waiting {
            return self.fail_exchange(slot, ErrorKind::Protocol, message);
        }
        let user = connection.user;
        self.transport.close(slot);
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Closed;
        connection.sent = 0;
        if let Some(page) = connection.page.take() {
            self.pages().borrow_mut().release(page);
        }
        let presence = self.users[user as usize].presence.as_ref();
        if let Some(row) = presence.and_then(|presence| presence.visit.operation_row()) {
            self.host.borrow_mut().recorder.unanswered(row);
        }
        self.dispatch(slot);
    }

    /// The answer is complete.
    fn answered(&mut self, slot: u32) {
        let now_ns = self.now();
        let connection = &mut self.connections[slot as usize];
        let Some(page) = connection.page.take() else { return };
        connection.phase = Phase::Idle;
        connection.used = true;
        let (user, row, issued_ns) = (connection.user, connection.row, connection.issued_ns);
        let expected = connection.expected_status;
        let sent_whole = connection.sent == connection.out.len();
        self.wheel.cancel(user);
        let pages = self.pages();
        let (status, closes, bytes) = {
            let mut pages = pages.borrow_mut();
            let response = pages.response(page);
            (response.status(), response.closes(), response.received_bytes())
        };
        let fits = if expected == 0 { status < 400 } else { status == expected };
        let took_ns = now_ns.saturating_sub(issued_ns);
        {
            let mut host = self.host.borrow_mut();
            if fits {
                host.recorder.completed(row, took_ns, took_ns);
            } else {
                host.recorder.failed(row, ErrorKind::Status);
            }
            host.recorder.bytes(row, bytes);
        }
        self.store_cookies(user, slot, page);
        self.trace_answer(user, page, took_ns);
        // A server may answer before it has the whole request; what is left of it must not run into the next one.
        if closes || !sent_whole || self.connections[slot as usize].ended {
            self.drop_connection(user, slot);
        }
        if let Some(presence) = &mut self.users[user as usize].presence {
            presence.visit.answered(now_ns);
            presence.visit.page = Some(page);
        } else {
            return pages.borrow_mut().release(page);
        }
        if fits {
            self.deliver(user, page);
        } else {
            let wanted = if expected == 0 { "one below 400".to_string() } else { expected.to_string() };
            self.fail_session(user, ErrorKind::Status, &format!("status {status}, expected {wanted}"));
        }
    }

    fn store_cookies(&mut self, user: u32, slot: u32, page: u32) {
        let pages = self.pages();
        let mut pages = pages.borrow_mut();
        let response = pages.response(page);
        let mut cookies = response.header("set-cookie").peekable();
        if cookies.peek().is_none() {
            return;
        }
        let request = &self.connections[slot as usize].out;
        let target = request.split(|byte| *byte == b' ').nth(1).unwrap_or(b"/");
        let path = crate::http::request::path_of(target).to_vec();
        if let Some(presence) = &mut self.users[user as usize].presence {
            let jar = presence.visit.jar.get_or_insert_default();
            cookies.for_each(|cookie| jar.store(cookie, &path));
        }
    }

    fn trace_answer(&mut self, user: u32, page: u32, took_ns: u64) {
        if self.host.borrow().traces.is_none() {
            return;
        }
        let number = self.global_index(user) + 1;
        let now_ns = self.now();
        let mut host = self.host.borrow_mut();
        let pages = std::rc::Rc::clone(&host.pages);
        let Some(traces) = &mut host.traces else { return };
        let mut pages = pages.borrow_mut();
        let request = pages.request_line(page);
        let response = pages.response(page);
        let step = Step::Request {
            request,
            status: response.status(),
            took_ns,
            bytes: response.received_bytes(),
            body: crate::script::page::excerpt(response),
        };
        traces.push(crate::trace::Trace { at_ns: now_ns, user: number, step });
    }

    pub(super) fn time_out(&mut self, user: u32) {
        let slot = self.users[user as usize].connection;
        if slot == NO_CONNECTION {
            return self.fail_session(user, ErrorKind::Timeout, "no connection in time");
        }
        let message = format!("no complete answer within {} s", self.scenario.timeout_s);
        self.fail_exchange(slot, ErrorKind::Timeout, &message);
    }

    /// The request failed: its connection is closed, its operation and session fail.
    fn fail_exchange(&mut self, slot: u32, kind: ErrorKind, message: &str) {
        let connection = &mut self.connections[slot as usize];
        let (user, row) = (connection.user, connection.row);
        let page = connection.page.take();
        self.wheel.cancel(user);
        self.host.borrow_mut().recorder.failed(row, kind);
        self.drop_connection(user, slot);
        // What had come of the answer is evidence: the visit holds it until the session has ended.
        match (&mut self.users[user as usize].presence, page) {
            (Some(presence), Some(page)) => presence.visit.page = Some(page),
            (None, Some(page)) => self.pages().borrow_mut().release(page),
            _ => {}
        }
        self.fail_session(user, kind, message);
    }

    fn claim_connection(&mut self, user: u32) -> u32 {
        let slot = self.free_connections.pop().unwrap_or_else(|| {
            self.connections.push(Connection::new());
            self.connections.len() as u32 - 1
        });
        self.connections[slot as usize].user = user;
        self.users[user as usize].connection = slot;
        slot
    }

    /// The server closed a connection on which nothing was outstanding.
    fn forget_idle(&mut self, slot: u32) {
        let connection = &self.connections[slot as usize];
        if connection.phase == Phase::Idle {
            let user = connection.user;
            self.drop_connection(user, slot);
        }
    }

    fn drop_connection(&mut self, user: u32, slot: u32) {
        self.users[user as usize].connection = NO_CONNECTION;
        self.close_connection(slot);
    }

    pub(super) fn close_connection(&mut self, slot: u32) {
        self.transport.close(slot);
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Closed;
        connection.used = false;
        let page = connection.page.take();
        self.free_connections.push(slot);
        if let Some(page) = page {
            self.pages().borrow_mut().release(page);
        }
    }
}

fn connect_message(error: &io::Error) -> String {
    format!("failed to connect: {error}")
}
