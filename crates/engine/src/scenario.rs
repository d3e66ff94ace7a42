//! What the users do, as plain data: a program with everything it reads, and the pace at which it is followed.

use std::collections::BTreeMap;

use model::catalogue::population::Populations;
use model::catalogue::setting::Values;
pub use model::{Acknowledge, ConnectionPolicy, Resend};
use model::{Distribution, Mix};

use crate::script::feeder::Feeder;
pub use crate::script::parts::Files;
use crate::script::sandbox::Modules;

/// What the users do. One scenario serves all threads; each compiles it for itself.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The steps of a user's session.
    pub program: Program,
    /// The pause after a session.
    pub think: Option<Distribution>,
    /// The time from one session's start to the next one's, instead of `think`.
    pub cycle: Option<Distribution>,
    /// Where that differs by session: the distribution instead of `think` or `cycle`, whichever there is.
    pub by_session: BTreeMap<String, Distribution>,
    /// The answer to a request must be complete within this; seconds.
    pub timeout_s: f64,
    /// How long a user's connections live.
    pub connections: ConnectionPolicy,
    /// Which requests are sent once more where a kept connection was closed before a byte of the answer came.
    pub resend: Resend,
    /// How what is received is acknowledged, over TCP.
    pub acknowledge: Acknowledge,
    /// Whether users' caches take what doesn't say for how long it is fresh to be so for a tenth of its age (RFC 9111 section 4.2.2).
    pub heuristic_freshness: bool,
    /// Users whose operation has been under way for longer than this are counted as waiting; seconds.
    pub waiting_over_s: f64,
}

/// The steps of a user's session.
#[derive(Debug, Clone)]
pub enum Program {
    /// Sessions written in Lua.
    Script(Source),
    /// One request again and again, without a script: `hit`.
    Repeat(Repeat),
}

/// Sessions written in Lua.
#[derive(Debug, Clone)]
pub struct Source {
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
    /// Rows for sessions: `feed.NAME()`.
    pub feeders: Vec<Feeder>,
    /// Files that requests may send as they are, by name.
    pub files: Files,
    /// Which session a user begins next, where all users are alike.
    pub mix: Mix,
    /// Users of several kinds, instead of `mix` and of the scenario's pauses; absent where all are alike.
    pub populations: Option<Populations>,
}

/// One request, repeated; each time is a session of one operation of one request.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// The operation's name.
    pub name: String,
    /// `GET`, `POST`, any token.
    pub method: String,
    /// Path with query, encoded.
    pub target: String,
    /// Header lines, each with its line end.
    pub headers: String,
    /// The body, which is sent as it is.
    pub body: Option<Vec<u8>>,
}

impl Source {
    /// A script of one session and nothing beside it.
    pub fn of(session_name: &str, session_text: &str, session: &str) -> Source {
        Source {
            session_name: session_name.to_string(),
            session_text: session_text.to_string(),
            modules: Modules::new(),
            params: Values::new(),
            size: BTreeMap::new(),
            feeders: Vec::new(),
            files: Files::new(),
            mix: Mix::only(session),
            populations: None,
        }
    }

    /// The functions of the script that are sessions, by the sessions' numbers.
    pub(crate) fn sessions(&self) -> Vec<&String> {
        match &self.populations {
            Some(populations) => populations.sessions().collect(),
            None => self.mix.names.iter().collect(),
        }
    }
}

impl Scenario {
    /// The program without a pause between sessions, requests given 30 s, connections kept.
    pub fn of(program: Program) -> Scenario {
        Scenario {
            program,
            think: None,
            cycle: None,
            by_session: BTreeMap::new(),
            timeout_s: 30.0,
            connections: ConnectionPolicy::default(),
            resend: Resend::default(),
            acknowledge: Acknowledge::default(),
            heuristic_freshness: true,
            waiting_over_s: 10.0,
        }
    }

    /// Who the users are: which session each begins next, and how long it pauses.
    pub(crate) fn populations(&self) -> Populations {
        let mix = match &self.program {
            Program::Script(Source { populations: Some(populations), .. }) => return populations.clone(),
            Program::Script(source) => source.mix.clone(),
            Program::Repeat(repeat) => Mix::only(&repeat.name),
        };
        let usual = self.cycle.or(self.think);
        let after = |name: &String| self.by_session.get(name).copied().or(usual);
        let pauses = mix.names.iter().map(after).collect();
        Populations::alike(mix, pauses, self.cycle.is_some())
    }
}
