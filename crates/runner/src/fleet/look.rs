//! A look at an agent's machine by the agent's own program there: what a run would have of it. It is asked by ssh, with a line of
//! JSON as its input, and answers with another one: a [`Look`].
//!
//! Not here: who asks whom ([`super::health`]), and what of an answer is too little.

mod target;

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use engine::preflight::Limits;
use model::record::plan::Placement;
use model::{Problem, Result};
use observe::StealSince;
use serde::{Deserialize, Serialize};

use super::agent::{self, AgentAsked};
use crate::interrupt::Interrupt;
use crate::progress::Nobody;
use crate::{ceiling, cpus};

/// Counts up when a reader of the old ones would misread the new ones.
const VERSION: u32 = 1;

/// Of a question: the roots of a target's certificate may be in it.
const MAX_QUESTION_BYTES: u64 = 4 << 20;

/// Of an answer: a thousand CPUs and all ways to a target are much less.
const MAX_ANSWER_BYTES: usize = 32 << 10;

/// What the hypervisor takes is watched this long at least.
const WATCH_FOR: Duration = Duration::from_secs(1);

/// What is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LookAsked {
    version: u32,
    /// Its generator is to drive a server that does nothing, for three seconds.
    pub(super) null_server: bool,
    /// Whether it reaches this server.
    pub(super) target: Option<TargetAsked>,
}

/// A server that agents are to reach.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TargetAsked {
    /// Its name in the URL.
    pub host: String,
    /// Where it is, as the controller finds it, which is where a run's load goes.
    pub addresses: Vec<SocketAddr>,
    /// How connections are encrypted.
    pub tls: Option<engine::Tls>,
}

/// What an agent's program sees of its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    version: u32,
    /// The CPUs on which the agent generates load.
    pub cpus: Vec<usize>,
    /// The share of their time that the hypervisor took within a second.
    pub steal_ratio: Option<f64>,
    /// The first and the last local port that connections are given.
    pub port_range: (u16, u16),
    /// The number of local ports that one source address has.
    pub ports: u64,
    /// Hard limit of descriptors; nothing where there is none.
    pub max_open_files: Option<u64>,
    /// What its generator does against a server that does nothing, where that was asked for.
    pub null_server: Option<NullServerLook>,
    /// Whether it reaches the target, where one was given.
    pub target: Option<TargetLook>,
}

/// An agent's generator against a server that does nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum NullServerLook {
    /// It was driven as fast as it goes.
    Measured {
        /// Scripted requests a second.
        requests_per_s: f64,
        /// Send lag at that, 99th percentile.
        lag_p99_s: f64,
        /// The share of the time in which the generator's threads had to wait for a CPU.
        waited_ratio: f64,
        /// The share of the CPUs' time that the hypervisor took meanwhile.
        steal_ratio: Option<f64>,
        /// The server had no CPU beside the generator's.
        shares_cpus: bool,
    },
    /// It wasn't.
    Failed {
        /// Why.
        why: String,
    },
}

/// What an agent's machine sees of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetLook {
    /// What that machine finds for the name; nothing where no load may go there.
    pub resolved: Vec<IpAddr>,
    /// Each address as the controller finds it.
    pub ways: Vec<Way>,
}

/// A way to the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// Where to.
    pub address: SocketAddr,
    /// What came of it.
    #[serde(flatten)]
    pub end: WayEnd,
}

/// What came of a way to the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum WayEnd {
    /// The agent's operator allows no load there: nothing was sent.
    NotAllowed {
        /// Why.
        why: String,
    },
    /// It doesn't lead there.
    Failed {
        /// Why.
        why: String,
    },
    /// It does.
    Connected {
        /// The quickest TCP connection of several.
        connect_s: f64,
        /// The handshake of TLS, where connections are encrypted.
        tls_s: Option<f64>,
    },
}

impl LookAsked {
    /// A question.
    pub(super) fn of(null_server: bool, target: Option<TargetAsked>) -> LookAsked {
        LookAsked { version: VERSION, null_server, target }
    }

    /// As it is sent.
    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("text, numbers and no map")
    }
}

impl Look {
    /// Reads what another machine answered.
    ///
    /// # Errors
    /// It is no such answer, too long, or of a later version: what is wrong with it, without any of its words.
    pub(super) fn read(answer: &str) -> std::result::Result<Look, String> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        if answer.len() > MAX_ANSWER_BYTES {
            return Err(format!(
                "its answer has {} bytes, and at most {MAX_ANSWER_BYTES} are read",
                answer.len()
            ));
        }
        // What is said of a wrong one has a place, and may have a word of it.
        let wrong = |error: serde_json::Error| {
            format!(
                "its answer is not one of `plimsoll agent --look`: wrong at line {}, column {}",
                error.line(),
                error.column()
            )
        };
        let Versioned { version } = serde_json::from_str(answer).map_err(wrong)?;
        if version > VERSION {
            return Err(format!(
                "its answer has version {version}, and this program reads {VERSION}: the program there is a newer one"
            ));
        }
        serde_json::from_str(answer).map_err(wrong)
    }
}

/// Answers a question about this machine, which an agent that is started with `asked` would be on: a line of JSON.
///
/// # Errors
/// The question is none; all that is wrong with what the agent is started with; the user's wish to stop.
pub fn answer(question: impl Read, asked: &AgentAsked, interrupt: &Interrupt) -> Result<String> {
    let unread = |why: String| {
        Problem::recipe(format!("what to look for can't be read from standard input: {why}"))
            .key("--look")
            .remedy("`plimsoll fleet doctor NAME`, which asks for it")
    };
    let mut text = String::new();
    question.take(MAX_QUESTION_BYTES).read_to_string(&mut text).map_err(|error| unread(error.to_string()))?;
    let question: LookAsked = serde_json::from_str(&text).map_err(|error| unread(error.to_string()))?;
    if question.version > VERSION {
        return Err(
            unread(format!("it has version {}, and this program knows {VERSION}", question.version)).into()
        );
    }
    let look = take(&question, asked, interrupt)?;
    Ok(serde_json::to_string(&look).map_err(|error| Problem::bug(error.to_string()))?)
}

fn take(question: &LookAsked, asked: &AgentAsked, interrupt: &Interrupt) -> Result<Look> {
    let options = agent::options(asked)?;
    let (began, steal) = (Instant::now(), StealSince::now(&options.cpus));
    let target = question.target.as_ref().map(|target| target::look(target, &options.permissions, interrupt));
    let target = target.transpose()?;
    thread::sleep(WATCH_FOR.saturating_sub(began.elapsed()));
    let steal_ratio = steal.and_then(|steal| steal.ratio());
    interrupt.check()?;
    let null_server = question.null_server.then(|| null_server(&options.cpus, interrupt));
    interrupt.check()?;
    let limits = Limits::of_this_machine();
    Ok(Look {
        version: VERSION,
        cpus: options.cpus,
        steal_ratio,
        port_range: limits.port_range,
        ports: limits.ports(),
        max_open_files: Some(limits.descriptors.1).filter(|max| *max < u64::MAX),
        null_server,
        target,
    })
}

/// Drives a server that does nothing, on a CPU of its own where the agent leaves one.
fn null_server(generator: &[usize], interrupt: &Interrupt) -> NullServerLook {
    let spare = cpus::allowed().into_iter().find(|cpu| !generator.contains(cpu));
    let placement = Placement { generator: generator.to_vec(), stack: spare.into_iter().collect() };
    let steal = StealSince::now(generator);
    match ceiling::at_full(&placement, interrupt, &mut Nobody) {
        Ok(full) => NullServerLook::Measured {
            requests_per_s: full.requests_per_s,
            lag_p99_s: full.lag_p99_s,
            waited_ratio: full.waited_ratio,
            steal_ratio: steal.and_then(|steal| steal.ratio()),
            shares_cpus: spare.is_none(),
        },
        Err(problems) => NullServerLook::Failed { why: problems.to_string() },
    }
}

#[cfg(test)]
mod tests;
