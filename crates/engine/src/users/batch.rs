//! The requests that a session waits for together: one, or those of `parallel`.

use crate::active_session::ActiveSession;
use crate::http::request::Draft;
use crate::script::page::NO_PAGE;

/// Requests that a session waits for together. Their pages stand in the session, in the order of the requests.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Not yet sent, the last one first.
    pub(crate) drafts: Vec<Draft>,
    /// On their way.
    pub(crate) outstanding: u16,
    /// The script gets a list of pages, not a page.
    pub(crate) parallel: bool,
}

impl Batch {
    /// Gets ready for a number of `requests`.
    pub(crate) fn begin(&mut self, session: &mut ActiveSession, requests: usize) {
        self.drafts.clear();
        self.outstanding = 0;
        self.parallel = false;
        session.pages.clear();
        session.pages.resize(requests, NO_PAGE);
    }

    /// Whether every request has been answered.
    pub(crate) fn is_complete(&self) -> bool {
        self.outstanding == 0 && self.drafts.is_empty()
    }
}
