//! What `try` shows: every step of a user, in words.

/// One step of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Nanoseconds since the run's start.
    pub at_ns: u64,
    /// The user's number, 1-based.
    pub user: u32,
    /// What happened.
    pub step: Step,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A session began.
    Session(String),
    /// An operation began.
    Operation(String),
    /// A request was answered.
    Request {
        /// `GET /ds2/dslogin.php?username=…`: method and target as sent.
        request: String,
        /// Status code.
        status: u16,
        /// Service time.
        took_ns: u64,
        /// Bytes received.
        bytes: u64,
        /// Bytes of the request's own body.
        sent_bytes: u64,
        /// One of several that the session asked for together.
        beside: bool,
        /// The beginning of the body.
        body: String,
    },
    /// The user pauses; nanoseconds.
    Think(u64),
    /// The user becomes a new visitor: no connections, cookies, credentials, cache.
    Forget,
    /// The session's own counter.
    Count(String, u64),
    /// An error.
    Error {
        /// In words.
        message: String,
        /// The beginning of the answer that it is about, where one had come.
        answer: Option<String>,
    },
    /// The session ended; true when nothing failed.
    End(bool),
}
