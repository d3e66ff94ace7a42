//! An agent: hears what a controller wants, drives its slice of the users with the engine, watches tiers of its machine, and tells
//! what it records. It listens
//! nowhere; it goes out to the broker alone, and to the server under load.

mod generator;
mod watcher;
mod work;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;

use engine::RunOptions;

use crate::bundle::{self, Bundle};
use crate::bus::{Broker, BusError, Heard, Name, Station, Voice, now_ns};
use crate::duty::{Act, Duty};
use crate::heartbeat::Heartbeat;
use crate::permissions::{Permissions, Role};
use crate::signed::{Purpose, Trusted};
use crate::want::{Beacon, Share, Standing};
use watcher::Watched;
use work::Work;

/// How often it looks whether something has changed.
const TICK: Duration = Duration::from_millis(20);

/// Before its next run, and at its end, so long it waits until a controller has all that it told.
const KEPT_TIMEOUT: Duration = Duration::from_secs(5);

/// What an agent is.
#[derive(Debug)]
pub struct AgentOptions {
    /// Where it hears and tells.
    pub broker: Broker,
    /// The fleet that it is of.
    pub fleet: Name,
    /// Its name in it.
    pub name: Name,
    /// Whom it obeys.
    pub trusted: Trusted,
    /// What it may do.
    pub permissions: Permissions,
    /// The build that it is of.
    pub build: String,
    /// Where it generates load; not empty.
    pub cpus: Vec<usize>,
    /// The directory of its spools.
    pub spools: PathBuf,
    /// What they may take on the disk.
    pub max_spool_bytes: u64,
}

/// Makes of a bundle what its users do: who has the engine's scenario of a kit is above this room.
pub type Open<'a> = dyn Fn(&Bundle) -> Result<RunOptions, String> + 'a;

/// What happens to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentNews<'a> {
    /// The bus isn't there yet.
    Waiting {
        /// Why.
        why: &'a str,
    },
    /// The bus is there.
    Connected,
    /// It stands otherwise than before.
    Standing {
        /// In this run.
        run: Option<&'a str>,
        /// So.
        standing: &'a Standing,
    },
}

/// Serves until `is_over` says so; what happens is told to `news`.
///
/// # Errors
/// This machine gives no thread, or the broker and this agent refuse each other. Whatever fails of a run is said to its controller.
pub fn serve(
    options: AgentOptions,
    open: &Open<'_>,
    news: &mut dyn FnMut(&AgentNews<'_>),
    is_over: &dyn Fn() -> bool,
) -> Result<(), BusError> {
    // Another one in each of its lives.
    let incarnation = RandomState::new().build_hasher().finish();
    let name = options.name.as_str();
    let first = Heartbeat::of(name, incarnation, &options.build, &options.cpus);
    let station = Station::begin(options.broker.clone(), options.fleet.clone(), first.clone())?;
    let duty = Duty::of(name, incarnation);
    let mut agent = Agent {
        options,
        open,
        news,
        incarnation,
        station,
        duty,
        ready: None,
        work: None,
        over: None,
        said: first,
        refused: None,
    };
    while !is_over() {
        if let Err(error) = agent.look() {
            agent.end();
            return Err(error);
        }
    }
    agent.end();
    Ok(())
}

/// A bundle that was looked at.
struct Ready {
    /// What the users do; nothing where nobody of them can be this agent's.
    options: Option<RunOptions>,
    /// What is watched on this machine, where something is.
    watched: Option<Watched>,
}

struct Agent<'a> {
    options: AgentOptions,
    open: &'a Open<'a>,
    news: &'a mut dyn FnMut(&AgentNews<'_>),
    incarnation: u64,
    station: Station,
    duty: Duty,
    /// What is to be done for the run in which it has a part, once that is known.
    ready: Option<Ready>,
    work: Option<Work>,
    /// That of the run before, as long as nobody is known to have all that it told: a controller that takes the run over will want it.
    over: Option<Work>,
    /// What it said last.
    said: Heartbeat,
    /// The last beacon that it didn't believe, and why.
    refused: Option<String>,
}

impl Agent<'_> {
    fn look(&mut self) -> Result<(), BusError> {
        let act = match self.station.next(TICK) {
            Some(Heard::Beacon { at_ns, sealed }) => self.hears(at_ns, &sealed),
            Some(Heard::Bundle { run, name, fetched }) => {
                self.takes(&run, &name, fetched);
                None
            }
            Some(Heard::Waiting(why)) => {
                (self.news)(&AgentNews::Waiting { why: &why });
                None
            }
            Some(Heard::Connected) => {
                (self.news)(&AgentNews::Connected);
                None
            }
            Some(Heard::Refused(error)) => return Err(error),
            None => None,
        };
        act.into_iter().for_each(|act| self.does(act));
        let act = self.duty.passes(now_ns());
        act.into_iter().for_each(|act| self.does(act));
        self.follow();
        self.say();
        Ok(())
    }

    fn hears(&mut self, at_ns: i64, sealed: &[u8]) -> Option<Act> {
        let body = self.options.trusted.open(Purpose::Beacon, sealed).map_err(|refusal| refusal.to_string());
        match body.and_then(Beacon::read) {
            Ok(beacon) if self.duty.is_outdated(&beacon) => {
                self.refused =
                    Some(format!("{} came before another controller that it has heard", beacon.who));
                None
            }
            Ok(beacon) => {
                self.refused = None;
                self.duty.hears(at_ns, &beacon)
            }
            Err(why) => {
                self.refused = Some(why);
                None
            }
        }
    }

    fn does(&mut self, act: Act) {
        match act {
            Act::Fetch { run, bundle } => match Name::of(&run) {
                Ok(run) => self.station.fetch(run, bundle),
                Err(why) => self.duty.failed(&why),
            },
            Act::Arm(share) => {
                if let Err(why) = self.arm(&share) {
                    self.duty.failed(&why);
                }
            }
            Act::Begin { at_ns } => self.work.iter().for_each(|work| work.begin_at(at_ns)),
            Act::StopGently => self.work.iter().for_each(Work::stop_gently),
            Act::StopAtOnce => self.work.iter().for_each(Work::stop_at_once),
        }
    }

    /// A bundle came, or doesn't come.
    fn takes(&mut self, run: &Name, name: &str, fetched: Result<Vec<u8>, String>) {
        if self.duty.standing().0 != Some(run.as_str()) {
            return;
        }
        match fetched.and_then(|sealed| self.check(name, &sealed)) {
            Ok(ready) => {
                self.ready = Some(ready);
                self.duty.checked();
            }
            Err(why) => self.duty.failed(&why),
        }
    }

    fn check(&self, name: &str, sealed: &[u8]) -> Result<Ready, String> {
        if bundle::name_of(sealed) != name {
            return Err("the broker gave another bundle than the controller named".to_string());
        }
        let body = self.options.trusted.open(Purpose::Bundle, sealed);
        let bundle = Bundle::read(body.map_err(|refusal| format!("its bundle isn't believed: {refusal}"))?)?;
        if bundle.build != self.options.build {
            return Err(format!(
                "it is another build ({}) than the controller's ({}), and the generator is the instrument",
                self.options.build, bundle.build
            ));
        }
        let (permissions, share) = (&self.options.permissions, self.duty.share());
        let watches = share.is_some_and(|share| share.watches).then(|| {
            permissions.check_role(Role::Observe)?;
            Watched::find(
                bundle.watches.get(self.options.name.as_str()).map(Vec::as_slice).unwrap_or_default(),
            )
        });
        let drives = share.is_some_and(|share| share.part.is_some()).then(|| {
            permissions.check_role(Role::Load)?;
            permissions.check_target(&bundle.target, &bundle.plan.load)?;
            (self.open)(&bundle)
        });
        Ok(Ready { watched: watches.transpose()?, options: drives.transpose()? })
    }

    fn arm(&mut self, share: &Share) -> Result<(), String> {
        let nothing = || "it has no part in the run".to_string();
        let Ready { options, watched } = self.ready.take().ok_or_else(nothing)?;
        let options = match (&share.part, options) {
            (None, _) => None,
            (Some(part), Some(options)) => {
                let slice = part.slice().ok_or_else(nothing)?;
                self.options.permissions.check_part(slice, &options.load)?;
                Some(RunOptions { cpus: self.options.cpus.clone(), slice: Some(slice), ..options })
            }
            (Some(_), None) => return Err(nothing()),
        };
        self.over.take().into_iter().for_each(|over| over.close(KEPT_TIMEOUT));
        let run = self.duty.standing().0.map(Name::of).ok_or("it has no run")??;
        let AgentOptions { broker, fleet, name, spools, max_spool_bytes, .. } = &self.options;
        let voice = Voice { fleet: fleet.clone(), run, agent: name.clone(), incarnation: self.incarnation };
        let folder = spools.join(voice.run.as_str()).join(self.incarnation.to_string());
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        self.work = Some(Work::arm((options, watched), broker.clone(), voice, (folder, *max_spool_bytes))?);
        Ok(())
    }

    /// How far its work is.
    fn follow(&mut self) {
        if let Some(work) = &mut self.work {
            if work.is_armed() {
                self.duty.armed();
            }
            match work.ended() {
                Some(Ok(())) => self.duty.ended(),
                Some(Err(why)) => self.duty.failed(&why),
                None => {}
            }
        }
        // Its run is over for everybody, or nobody is there any more who wants it.
        if self.duty.standing().0.is_none() {
            self.ready = None;
            if let Some(work) = self.work.take() {
                work.stop_at_once();
                self.over.replace(work).into_iter().for_each(|over| over.close(KEPT_TIMEOUT));
            }
        }
        let kept = self.over.take_if(|over| over.is_kept());
        kept.into_iter().for_each(|over| over.close(Duration::ZERO));
    }

    /// Says where it stands, where that has changed.
    fn say(&mut self) {
        let (run, standing) = self.duty.standing();
        let telling = self.work.as_ref().map(Work::telling).unwrap_or_default();
        let mut now = self.said.clone();
        now.run = run.map(str::to_string);
        now.standing = standing;
        now.told = telling.told;
        now.late_ns = self.work.as_ref().and_then(Work::late_ns);
        now.problem = telling.problem;
        now.refused.clone_from(&self.refused);
        if (&now.run, &now.standing) != (&self.said.run, &self.said.standing) {
            (self.news)(&AgentNews::Standing { run: now.run.as_deref(), standing: &now.standing });
        }
        if now != self.said {
            self.said = now.clone();
            self.station.say(now);
        }
    }

    fn end(mut self) {
        for work in [self.over.take(), self.work.take()].into_iter().flatten() {
            work.stop_at_once();
            work.close(KEPT_TIMEOUT);
        }
    }
}
