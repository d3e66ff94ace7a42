//! What the users do, as plain data: a session script with everything it reads.

use std::collections::BTreeMap;

use model::setting::Values;
use model::{Distribution, Problem, Result};

use crate::script::sandbox::Modules;

/// What the users do. One scenario serves all threads; each compiles it for itself.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The session file's name for messages: `kits/dvdstore/session.lua`.
    pub session_name: String,
    /// Its text: Lua that defines a global function for each name in `mix`.
    pub session_text: String,
    /// The kit's other Lua files, for `require`.
    pub modules: Modules,
    /// The kit's parameters in force: `param.NAME`.
    pub params: Values,
    /// The numbers of the data set's size: `size.NAME`.
    pub size: BTreeMap<String, f64>,
    /// Sessions by weight; at least one weight is greater than 0.
    pub mix: Vec<(String, f64)>,
    /// The pause after a session.
    pub think: Option<Distribution>,
    /// The time from one session's start to the next one's, instead of `think`.
    pub cycle: Option<Distribution>,
    /// The answer to a request must be complete within this; seconds.
    pub timeout_s: f64,
}

impl Scenario {
    /// The sessions' weights as upper ends of a cumulative distribution that closes at 1.
    pub(crate) fn cumulative_mix(&self) -> Result<Vec<f64>> {
        let total: f64 = self.mix.iter().map(|(_, weight)| weight).sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(Problem::recipe("no session of the mix has a weight greater than 0")
                .key("mix")
                .into());
        }
        let mut sum = 0.0;
        Ok(self.mix.iter().map(|(_, weight)| (sum += weight / total, sum).1).collect())
    }
}
