//! Agents' seconds into the run's. A second is the run's when every agent has told it, or has ended before it: the watermark.

use std::collections::VecDeque;
use std::fmt;

use engine::{Second, Totals};
use model::Interval;
use model::record::interval::{OperationName, Rows};
use model::record::interval::{Times, new_times};
use model::record::{AgentSecond, Evidence};

use crate::second::SecondMessage;
use crate::totals;

/// Why a message can't be taken. Nothing of it was added to anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// Its bytes are wrong, or those of another program.
    Damaged(String),
    /// A second before it hasn't come.
    Gap {
        /// The one that should have come.
        expected: u32,
        /// The one that did.
        found: u32,
    },
    /// The agent has ended.
    AfterEnd,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Damaged(what) => f.write_str(what),
            Misfit::Gap { expected, found } => write!(f, "second {found} came where {expected} is missing"),
            Misfit::AfterEnd => f.write_str("it came after the agent's end"),
        }
    }
}

#[derive(Debug, Default)]
struct Agent {
    waiting: VecDeque<SecondMessage>,
    /// From the agent's row numbers to the run's.
    rows: Vec<usize>,
    /// How many rows its messages have named, those that wait included.
    named: usize,
    /// The next second to come.
    next: u32,
    /// What its generator saw of itself, second by second.
    seconds: Vec<AgentSecond>,
    end: Option<Totals>,
}

/// Merges the seconds of a number of agents. The order in which messages of different agents come has no part in what comes out:
/// they are added in the agents' order, so that sums of fractions are the same bits each time.
#[derive(Debug)]
pub struct Merge {
    agents: Vec<Agent>,
    rows: Rows,
    merged: Interval,
    evidence: Vec<Evidence>,
    totals: Totals,
    next: u32,
    scratch: Times,
}

impl Merge {
    /// Of that number of agents.
    pub fn of(agents: usize) -> Merge {
        Merge {
            agents: (0..agents).map(|_| Agent::default()).collect(),
            rows: Rows::default(),
            merged: Interval::empty(0),
            evidence: Vec::new(),
            totals: Totals::default(),
            next: 0,
            scratch: new_times(),
        }
    }

    /// Takes an agent's message of a second. One that came before is left out: what is sent again until somebody has it may come
    /// twice.
    ///
    /// # Errors
    /// It can't be the next one of this agent.
    pub fn take_second(&mut self, agent: usize, bytes: Vec<u8>) -> Result<(), Misfit> {
        let agent = &mut self.agents[agent];
        let message = SecondMessage::read(bytes).map_err(Misfit::Damaged)?;
        let second = message.second();
        if second < agent.next {
            return Ok(());
        }
        if agent.end.is_some() {
            return Err(Misfit::AfterEnd);
        }
        if second > agent.next {
            return Err(Misfit::Gap { expected: agent.next, found: second });
        }
        message.check(agent.named).map_err(Misfit::Damaged)?;
        agent.seconds.push(message.of_generator(&mut self.scratch).map_err(Misfit::Damaged)?);
        agent.named += message.names().len();
        agent.next += 1;
        agent.waiting.push_back(message);
        Ok(())
    }

    /// Takes an agent's end, after which it has no more seconds. One that came before is left out.
    ///
    /// # Errors
    /// The message is damaged.
    pub fn take_end(&mut self, agent: usize, bytes: &[u8]) -> Result<(), Misfit> {
        let end = totals::decode(bytes).map_err(Misfit::Damaged)?;
        self.agents[agent].end.get_or_insert(end);
        Ok(())
    }

    /// An agent from which nothing more is expected.
    pub fn give_up(&mut self, agent: usize) {
        self.agents[agent].end.get_or_insert_default();
    }

    /// Whether the agent has told its end, or was given up.
    pub fn has_ended(&self, agent: usize) -> bool {
        self.agents[agent].end.is_some()
    }

    /// What the agent's generator saw of itself, in each second that it has told.
    pub fn seconds(&self, agent: usize) -> &[AgentSecond] {
        &self.agents[agent].seconds
    }

    /// The agents without which there is no next second.
    pub fn laggards(&self) -> impl Iterator<Item = usize> + '_ {
        let holds_up = |agent: &Agent| agent.waiting.is_empty() && agent.end.is_none();
        self.agents.iter().enumerate().filter(move |(_, agent)| holds_up(agent)).map(|(index, _)| index)
    }

    /// Whether all have ended and all that they told was given.
    pub fn is_over(&self) -> bool {
        self.agents.iter().all(|agent| agent.waiting.is_empty() && agent.end.is_some())
    }

    /// The run's next second, once the watermark has passed it.
    pub fn next_second(&mut self) -> Option<Second<'_>> {
        let any = self.agents.iter().any(|agent| !agent.waiting.is_empty());
        if !any || self.laggards().next().is_some() {
            return None;
        }
        self.evidence.clear();
        self.merged.clear();
        self.merged.second = self.next;
        self.next += 1;
        for index in 0..self.agents.len() {
            if let Some(message) = self.agents[index].waiting.pop_front() {
                self.add(index, &message);
            }
        }
        Some(Second { interval: &self.merged, names: self.rows.names(), evidence: &self.evidence })
    }

    /// Sums over the whole run, once [`Self::is_over`].
    pub fn into_totals(mut self) -> Totals {
        for index in 0..self.agents.len() {
            let Some(end) = self.agents[index].end.take() else { continue };
            for (name, count) in end.names.into_iter().zip(end.unanswered) {
                let row = self.row(name);
                self.totals.unanswered[row] += count;
            }
            for (status, count) in end.statuses {
                *self.totals.statuses.entry(status).or_default() += count;
            }
            // A user lives on one agent alone: no two of them tell of the same thing.
            self.totals.told.extend(end.told);
            self.totals.unknown.extend(end.unknown);
            self.totals.elapsed_s = self.totals.elapsed_s.max(end.elapsed_s);
        }
        Totals { names: self.rows.names().to_vec(), ..self.totals }
    }

    fn add(&mut self, agent: usize, message: &SecondMessage) {
        for name in message.names() {
            let row = self.row(name.clone());
            self.agents[agent].rows.push(row);
        }
        let rows = &self.agents[agent].rows;
        for (row, completed, failed) in message.counts() {
            self.totals.completed[rows[row]] += completed;
            self.totals.failed[rows[row]] += failed;
        }
        for (name, count) in message.counters() {
            *self.totals.counters.entry(name.clone()).or_default() += count;
        }
        self.totals.connects += message.connects();
        self.totals.evidence.extend_from_slice(message.evidence());
        self.evidence.extend_from_slice(message.evidence());
        message.add_to(&mut self.merged, rows).expect("it was checked as it was read");
    }

    fn row(&mut self, name: OperationName) -> usize {
        let row = self.rows.row(name);
        self.totals.make_room(self.rows.names().len());
        row
    }
}
