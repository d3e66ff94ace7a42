//! What a user carries from one session to the next, beside its Lua table. Most users of most kits have none of it for
//! a while, so it is made when it is first needed.

use crate::http::cookies::Jar;

/// What a user carries from one session to the next.
#[derive(Debug, Default)]
pub(crate) struct Belongings {
    /// Cookies.
    pub(crate) jar: Jar,
}
