//! The run's watch: the observer, a process of its own, asked once a second and never waited for, and the tool's look
//! at itself.

mod far;
mod job;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use analysis::signals::names::UNANSWERED;
use model::record::Series;
use model::record::calls::{Aborted, CallStep};
use model::record::statements::{StatementFacts, StatementSeen};
use model::record::threads::ThreadsSeen;
use model::{Plan, Problem, Result, ServerJob};
use observe::{Answer, GENERATOR, Job, OBSERVERS, OwnWatch, TierJob};
use store::ServeProcess;
use testbed::Helping;

use crate::environment::{Environment, Settings};
use crate::standing_stack::StandingStack;

pub(crate) use self::job::tiers;

/// How long the observer may take to be ready, and to end.
const READY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of a run waits for the last answer.
const LAST_ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// This number of answers late, it is given up: the pipe would fill, and what it says is about another time.
const MAX_UNANSWERED: u32 = 30;
/// Rates over less say more about the moment than about a second: a run's last second follows the one before it at once.
const MIN_STEP_S: f64 = 0.25;

/// What a run watches.
pub(crate) struct Watching {
    own: OwnWatch,
    observer: Option<Observer>,
    /// What is known of each series, by name and tier. Its points are the run's, which keeps them on the disk: those of a
    /// run of many hours take more memory than the tool may have.
    known: BTreeMap<(String, Option<String>), Known>,
    sources: Vec<(String, String)>,
    unseen: Vec<String>,
    /// What the tiers' servers are asked.
    servers: Vec<ServerJob>,
    /// When points were asked for last.
    asked_s: Option<f64>,
    /// What nobody has taken yet.
    beside: Beside,
}

/// What is told beside series.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// What the kernel counted of the tiers' calls.
    pub(crate) calls: Vec<CallStep>,
    /// The process that was ended because it waited where it was not to.
    pub(crate) aborted: Option<Aborted>,
    /// The statements that clients of databases were in.
    pub(crate) statements: Vec<StatementSeen>,
    /// What came to be known of some of them.
    pub(crate) statement_facts: Vec<StatementFacts>,
    /// What threads with a request were at.
    pub(crate) threads: Vec<ThreadsSeen>,
}

/// What is known of a series without its points.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    points: u64,
    /// One of them was below 1.
    below_one: bool,
}

/// What was seen.
pub(crate) struct Seen {
    /// Points that came after the last call of [`Watching::sample`].
    pub(crate) last: Vec<Series>,
    /// What came after the last call of [`Watching::beside`].
    pub(crate) beside: Beside,
    /// Each tier with where its CPU time comes from.
    pub(crate) sources: Vec<(String, String)>,
    /// What could not be seen, and why.
    pub(crate) unseen: Vec<String>,
}

impl Watching {
    /// Starts the observer of `standing` and waits until it is ready. A run without one goes on, and says so.
    /// Tiers `beside` are another stack's, which takes turns with this one.
    pub(crate) fn begin(
        plan: &Plan,
        standing: &StandingStack,
        beside: Vec<TierJob>,
        env: &Environment<'_>,
    ) -> Watching {
        let off = || Err("switched off by --observe off".to_string());
        let servers = standing.tiers().iter().map(|tier| tier.job.clone()).collect();
        let viewer_file = Some(ServeProcess::file(env.home));
        let watching = Watching::with(match env.settings.observes {
            true => {
                Observer::start(plan, standing, Job { beside, viewer_file, ..Job::default() }, env.settings)
            }
            false => off(),
        });
        Watching { servers, ..watching }
    }

    fn with(observer: Result<(Observer, Answer), String>) -> Watching {
        let mut watching = Watching {
            own: OwnWatch::open(),
            observer: None,
            known: BTreeMap::new(),
            sources: Vec::new(),
            unseen: Vec::new(),
            servers: Vec::new(),
            asked_s: None,
            beside: Beside::default(),
        };
        match observer {
            Ok((observer, first)) => {
                watching.observer = Some(observer);
                watching.take(first);
            }
            Err(why) => watching.unseen.push(format!("{EVERYTHING}: {why}")),
        }
        // Where figures of the tool itself come from, wherever it stands among the others.
        let observers = watching.sources.iter().position(|(tier, _)| tier == OBSERVERS);
        let own = (GENERATOR.to_string(), "clock_gettime".to_string());
        watching.sources.insert(observers.unwrap_or(watching.sources.len()), own);
        watching
    }

    /// Asks the observer for the points at `at_s` seconds of the run, unless it was asked just before; gives those that
    /// have come since the last call, and the tool's own.
    pub(crate) fn sample(&mut self, at_s: f64) -> Vec<Series> {
        let due = self.asked_s.is_none_or(|last_s| at_s - last_s >= MIN_STEP_S);
        let mut new = Vec::new();
        if due {
            self.asked_s = Some(at_s);
            new = self.own.sample(at_s);
            self.keep(&new);
        }
        if let Some(mut observer) = self.observer.take() {
            let mut lost = None;
            while let Some(answer) = observer.ready(&mut lost) {
                new.extend(self.take(answer));
            }
            match lost.or_else(|| if due { observer.ask(at_s).err() } else { None }) {
                None => self.observer = Some(observer),
                Some(why) => self.unseen.push(format!("{EVERYTHING} after {at_s:.0} s: {why}")),
            }
        }
        new
    }

    /// What was told beside series since the last call.
    pub(crate) fn beside(&mut self) -> Beside {
        std::mem::take(&mut self.beside)
    }

    /// Waits a little for what was asked last, and ends the observer.
    pub(crate) fn end(mut self) -> Seen {
        let mut last = Vec::new();
        if let Some(mut observer) = self.observer.take() {
            while observer.unanswered > 0 {
                match observer.wait(LAST_ANSWER_TIMEOUT) {
                    Ok(answer) => last.extend(self.take(answer)),
                    Err(why) => {
                        self.unseen.push(format!("the last of what was watched: {why}"));
                        break;
                    }
                }
            }
            let Observer { helping, input, .. } = observer;
            drop(input);
            helping.end(READY_TIMEOUT);
        }
        let silent = self.silent();
        self.unseen.extend(silent);
        Seen { last, beside: self.beside, sources: self.sources, unseen: self.unseen }
    }

    /// The statuses that were asked for again and again and never answered. A tier's `status.unanswered` is of all of its
    /// statuses together: the silent one is that which has no figure either.
    fn silent(&self) -> Vec<String> {
        let known = |tier: &str, name: &str| {
            self.known.get(&(name.to_string(), Some(tier.to_string()))).copied().unwrap_or_default()
        };
        let mut silent = Vec::new();
        for job in &self.servers {
            let unanswered = known(&job.tier, UNANSWERED);
            if unanswered.points == 0 || unanswered.below_one {
                continue;
            }
            for status in &job.statuses {
                let mut counters = job.counters.iter().filter(|one| one.status == status.name).peekable();
                let asked = counters.peek().is_some();
                if asked && counters.all(|counter| known(&job.tier, &counter.name).points == 0) {
                    silent.push(format!(
                        "what {} tells of itself: its status ({}) was never answered",
                        job.tier, status.name
                    ));
                }
            }
        }
        silent
    }

    fn take(&mut self, answer: Answer) -> Vec<Series> {
        self.keep(&answer.series);
        self.sources.extend(answer.sources);
        self.unseen.extend(answer.unseen);
        self.beside.calls.extend(answer.calls);
        self.beside.aborted = self.beside.aborted.take().or(answer.aborted);
        self.beside.statements.extend(answer.statements);
        self.beside.statement_facts.extend(answer.statement_facts);
        self.beside.threads.extend(answer.threads);
        answer.series
    }

    fn keep(&mut self, new: &[Series]) {
        for one in new {
            let known = self.known.entry((one.name.clone(), one.tier.clone())).or_default();
            known.points += one.points.len() as u64;
            known.below_one |= one.points.iter().any(|(_, value)| *value < 1.0);
        }
    }
}

const EVERYTHING: &str = "the machine and the tiers";

/// The tool's end of a running observer.
struct Observer {
    helping: Helping,
    input: ChildStdin,
    answers: Receiver<Answer>,
    unanswered: u32,
}

impl Observer {
    fn start(
        plan: &Plan,
        standing: &StandingStack,
        more: Job,
        settings: &Settings,
    ) -> Result<(Observer, Answer), String> {
        let said = |problems: model::Problems| problems.to_string();
        let helper = settings.helpers.observer(OBSERVERS, &plan.placement.generator);
        let mut observer = Observer::open(standing.help(&helper).map_err(said)?).map_err(said)?;
        let (calls, abort_on) = (settings.calls, settings.abort_on.clone());
        let job = serde_json::to_string(&Job { calls, abort_on, ..job::of_run(plan, standing, more) })
            .map_err(|error| error.to_string())?;
        observer.tell(&job)?;
        let first = observer.wait(READY_TIMEOUT)?;
        Ok((observer, first))
    }

    fn open(mut helping: Helping) -> Result<Observer> {
        let deaf = || Problem::bug("a helper has an input and an output");
        let input = helping.input.take().ok_or_else(deaf)?;
        let output = helping.output.take().ok_or_else(deaf)?;
        Ok(Observer { helping, input, answers: follow(output)?, unanswered: 0 })
    }

    fn ask(&mut self, at_s: f64) -> Result<(), String> {
        if self.unanswered >= MAX_UNANSWERED {
            return Err(format!("the observer has not answered for {MAX_UNANSWERED} s"));
        }
        self.tell(&format!("sample {at_s}"))
    }

    /// A line never fills the pipe: so few are under way.
    fn tell(&mut self, line: &str) -> Result<(), String> {
        self.unanswered += 1;
        let told = self.input.write_all(format!("{line}\n").as_bytes());
        told.map_err(|error| format!("the observer has ended ({error})"))
    }

    /// An answer that is there already; `lost` says when there will be none.
    fn ready(&mut self, lost: &mut Option<String>) -> Option<Answer> {
        match self.wait(Duration::ZERO) {
            Ok(answer) => Some(answer),
            Err(why) => {
                *lost = (why == GONE).then_some(why);
                None
            }
        }
    }

    fn wait(&mut self, timeout: Duration) -> Result<Answer, String> {
        match self.answers.recv_timeout(timeout) {
            Ok(answer) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => Err("the observer does not answer".to_string()),
            Err(RecvTimeoutError::Disconnected) => Err(GONE.to_string()),
        }
    }
}

const GONE: &str = "the observer has ended";

/// A thread that reads answers until there are no more.
fn follow(output: ChildStdout) -> Result<Receiver<Answer>> {
    let (sender, answers) = sync_channel(2 * MAX_UNANSWERED as usize);
    let read = move || {
        let lines = BufReader::new(output).lines().map_while(|line| line.ok());
        for answer in lines.map_while(|line| serde_json::from_str(&line).ok()) {
            if sender.send(answer).is_err() {
                break;
            }
        }
    };
    let thread = thread::Builder::new().name("watching".to_string()).spawn(read);
    thread.map_err(|error| Problem::environment(format!("failed to start a thread: {error}")))?;
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use model::catalogue::server_job::{CounterJob, StatusJob};
    use model::catalogue::service::{CounterKind, Merge, Reader};
    use testbed::Helper;

    use super::*;

    /// A watch whose observer is a shell script.
    fn watching(script: &str) -> Watching {
        let helper = Helper {
            name: OBSERVERS.to_string(),
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            cpus: Vec::new(),
        };
        let helping = helper.start_alone().expect("there is a shell");
        let mut observer = Observer::open(helping).expect("it has pipes");
        Watching::with(
            observer.tell("{}").and_then(|()| observer.wait(READY_TIMEOUT)).map(|first| (observer, first)),
        )
    }

    const POINT: &str =
        r#"{"series":[{"name":"cpu.cores","tier":"db","unit":"cores","points":[[1.0,0.5]]}]}"#;

    #[test]
    fn what_is_answered_late_is_kept_all_the_same() {
        let mut watching = watching(&format!("read job; echo '{{}}'; read ask; echo '{POINT}'; read end"));
        let now = watching.sample(1.0);
        assert!(now.iter().all(|one| one.tier.as_deref() != Some("db")), "nothing is waited for: {now:?}");
        let seen = watching.end();
        assert_eq!(seen.last.len(), 1, "{:?}", seen.last);
        assert_eq!(seen.unseen, Vec::<String>::new());
        let generator = |one: &Series| one.tier.as_deref() == Some(GENERATOR);
        assert!(now.iter().any(generator) && !seen.last.iter().any(generator), "{now:?} {:?}", seen.last);
    }

    #[test]
    fn a_second_of_a_few_milliseconds_has_no_rates() {
        let mut watching = watching("read job; echo '{}'; while read ask; do :; done");
        assert!(!watching.sample(28.035).is_empty(), "the tool sees itself");
        assert!(watching.sample(28.042).is_empty(), "not once more at once");
        assert!(!watching.sample(29.035).is_empty(), "but a second later");
        assert_eq!(
            watching.observer.map(|observer| observer.unanswered),
            Some(2),
            "nor is the observer asked"
        );
    }

    #[test]
    fn a_run_goes_on_without_an_observer_and_says_so() {
        let mut watching = watching("read job; echo '{}'; read ask; exit 7");
        // It ends after the first question; the pipe's end is seen at one of the next.
        for second in 1..1000 {
            assert!(!watching.sample(f64::from(second)).is_empty(), "the tool still sees itself");
            if watching.observer.is_none() {
                break;
            }
            thread::yield_now();
        }
        let said = watching.end().unseen;
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("the observer has"), "{said:?}");
    }

    /// A server with two statuses that give a figure each.
    fn server_with_statuses(tier: &str) -> ServerJob {
        let status = |name: &str| StatusJob {
            name: name.into(),
            reader: Reader::Lines,
            asked: Vec::new(),
            user: None,
            every_s: 1.0,
            threads: None,
        };
        let counter = |name: &str, status: &str| CounterJob {
            name: name.into(),
            status: status.into(),
            of: Vec::new(),
            kind: CounterKind::Gauge,
            unit: "workers".into(),
            times: 1.0,
            limit: None,
            merge: Merge::Sum,
            each: false,
        };
        ServerJob {
            tier: tier.into(),
            statuses: vec![status("scoreboard"), status("opcache")],
            counters: vec![counter("workers.busy", "scoreboard"), counter("opcache.hits", "opcache")],
        }
    }

    #[test]
    fn a_status_that_was_never_answered_is_told_and_one_that_was_late_at_times_is_not() {
        let mut watching = Watching::with(Err("not today".to_string()));
        watching.servers = ["web", "app", "cache", "db"].map(server_with_statuses).to_vec();
        let keep = |watching: &mut Watching, tier: &str, name: &str, values: &[f64]| {
            let points = values.iter().enumerate().map(|(second, value)| (second as f64, *value)).collect();
            let (tier, unit) = (Some(tier.to_string()), "ratio".to_string());
            watching.keep(&[Series { name: name.to_string(), tier, unit, points }]);
        };
        keep(&mut watching, "web", "status.unanswered", &[1.0, 1.0]);
        keep(&mut watching, "app", "status.unanswered", &[1.0, 0.0]);
        keep(&mut watching, "cache", "status.unanswered", &[1.0, 1.0]);
        keep(&mut watching, "cache", "workers.busy", &[4.0]);
        let silent = |tier: &str, status: &str| {
            format!("what {tier} tells of itself: its status ({status}) was never answered")
        };
        let expected = [silent("web", "scoreboard"), silent("web", "opcache"), silent("cache", "opcache")];
        assert_eq!(watching.end().unseen[1..], expected);
    }

    #[test]
    fn an_observer_that_hangs_is_given_up_and_one_that_does_not_start_is_told() {
        let mut hanging = watching("read job; echo '{}'; exec sleep 1000");
        (0..=MAX_UNANSWERED).for_each(|second| _ = hanging.sample(f64::from(second)));
        assert!(hanging.observer.is_none());
        assert!(hanging.end().unseen[0].contains("has not answered"));
        let none = Watching::with(Err("no such program".to_string())).end();
        assert_eq!(none.unseen, ["the machine and the tiers: no such program"]);
        assert_eq!(none.sources, [(GENERATOR.to_string(), "clock_gettime".to_string())]);
    }

    #[test]
    fn what_is_watched_for_ten_hours_takes_no_memory() {
        let mut watching = Watching::with(Err("not today".to_string()));
        let names: Vec<String> = (0..250).map(|number| format!("server.figure_{number}")).collect();
        let before = peak_bytes();
        for minute in 0..600 {
            let points: Vec<(f64, f64)> = (0..60).map(|s| (f64::from(60 * minute + s), 1.0)).collect();
            let one = |name: &String| Series {
                name: name.clone(),
                tier: Some("db".to_string()),
                unit: "1/s".to_string(),
                points: points.clone(),
            };
            watching.take(Answer { series: names.iter().map(one).collect(), ..Answer::default() });
        }
        let took = peak_bytes() - before;
        assert!(took < 50_000_000, "{took} bytes for 250 series of ten hours");
        assert!(watching.end().last.is_empty());
    }

    /// The most memory that this process ever had.
    fn peak_bytes() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("there is /proc");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
    }
}
