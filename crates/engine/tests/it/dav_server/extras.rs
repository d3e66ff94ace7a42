//! What a program asks for at its start and only some servers know: by what people can be looked for, for whom somebody acts,
//! colours of calendars, an inbox, notices.

use super::{Asked, DavServer, Dialect, answer, multistatus};

/// What becomes of such a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Extras {
    /// As the dialect has it.
    Known,
    /// It is answered with this status, although the server says that it has all of it.
    Refused(u16),
    /// As the dialect has it; but nobody may change what is said of a calendar.
    Unchangeable,
}

impl DavServer {
    /// The answer; nothing where the request is none of these.
    pub(super) fn extra(&mut self, asked: &Asked<'_>) -> Option<Vec<u8>> {
        let found = self.canned_answer(asked)?;
        let found = match self.extras {
            Extras::Refused(status) => answer(status, "", ""),
            Extras::Known | Extras::Unchangeable => found,
        };
        let refused = !found.starts_with(b"HTTP/1.1 20") || found.windows(5).any(|part| part == b" 403 ");
        self.refused += usize::from(refused);
        Some(found)
    }

    fn canned_answer(&self, asked: &Asked<'_>) -> Option<Vec<u8>> {
        let nothing = multistatus(&[], self.dialect);
        match asked.method {
            "REPORT" if asked.body.contains("<D:principal-search-property-set ") => match self.dialect {
                Dialect::Sabre => Some(answer(200, "", "<d:principal-search-property-set/>")),
                Dialect::Radicale => Some(nothing),
            },
            "REPORT" if asked.body.contains("<D:expand-property ") => Some(nothing),
            "PROPPATCH" => {
                assert_eq!(asked.body.matches("<D:set>").count(), 1, "{}", asked.body);
                let status = if self.extras == Extras::Unchangeable { "403 Forbidden" } else { "200 OK" };
                let row = format!("<d:propstat><d:status>HTTP/1.1 {status}</d:status></d:propstat>");
                Some(multistatus(&[(asked.path.to_string(), row)], self.dialect))
            }
            "PROPFIND" if asked.path.ends_with("/inbox/") => Some(nothing),
            "PROPFIND" if asked.path.ends_with("/notifications/") => Some(answer(404, "", "")),
            _ => None,
        }
    }

    /// What the server says of them: properties of a principal.
    pub(super) fn announced(&self, home: &str) -> String {
        let href = |path: &str| format!("<d:href>{path}</d:href>");
        let (people, notices) = match self.dialect {
            Dialect::Sabre => ("/dav/principals/", href(&format!("{home}notifications/"))),
            Dialect::Radicale => ("/", String::new()),
        };
        let inbox = match self.extras {
            Extras::Refused(_) => href(&format!("{home}inbox/")),
            Extras::Known | Extras::Unchangeable => String::new(),
        };
        format!(
            "<d:principal-collection-set>{}</d:principal-collection-set><d:supported-report-set><d:report>\
             <d:expand-property/></d:report><d:report><d:principal-search-property-set/></d:report>\
             </d:supported-report-set><s:notification-URL>{notices}</s:notification-URL>\
             <c:schedule-inbox-URL>{inbox}</c:schedule-inbox-URL>",
            href(people)
        )
    }
}
