//! What a controller costs whose agents replay the seconds of a recorded run: `bench fleet`.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use engine::Second;
use fleet::bus::{Broker, Kind, Name, NothingTold, Reader, StreamOf, Teller, Voice};
use fleet::spool::Spool;
use fleet::{Merge, second};
use model::Interval;
use model::record::interval::OperationName;
use model::record::interval::encoded::Encoder;
use store::Runs;
use testkit::recorded::Specimen;

use crate::Failure;
use crate::child;

/// How much there is to merge.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Fleet {
    /// Agents, in one process, each telling one second a second
    #[arg(long, default_value_t = 100)]
    agents: u32,
    /// Rows of each second at least: those of a recorded bookstore are repeated under other names
    #[arg(long, default_value_t = 60)]
    rows: usize,
    /// Seconds
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// The broker's program; Debian's, as `plimsoll doctor --install --stack nats` unpacks it, unless said otherwise
    #[arg(long)]
    nats: Option<PathBuf>,
    /// The agents' side, which this program starts itself
    #[arg(long, hide = true)]
    agents_of: Option<String>,
}

/// A line is printed each time this number of seconds has passed.
const LINE_EVERY: u32 = 60;

pub(crate) fn run(asked: &Fleet) -> Result<(), Failure> {
    if let Some(url) = &asked.agents_of {
        return tell(asked, &Broker::local(url.clone()));
    }
    let folder = tempfile::tempdir()?;
    let program = asked
        .nats
        .clone()
        .unwrap_or_else(|| testkit::programs::unpacked().join("nats-server/usr/sbin/nats-server"));
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut broker = Command::new(&program);
    broker.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream", "--store_dir"]);
    broker.arg(folder.path().join("streams")).stdout(Stdio::null()).stderr(Stdio::null());
    let broker = child::start(&mut broker, 1).map_err(|error| format!("{}: {error}", program.display()))?;
    let ended = wait_for(port).and_then(|()| with_agents(asked, port, folder.path()));
    child::end(broker);
    ended
}

fn wait_for(port: u16) -> Result<(), Failure> {
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if began.elapsed() > Duration::from_secs(30) {
            return Err("the broker doesn't listen within 30 s".into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn with_agents(asked: &Fleet, port: u16, folder: &Path) -> Result<(), Failure> {
    let url = format!("nats://127.0.0.1:{port}");
    let stream = StreamOf { fleet: name("bench")?, run: name("replay")?, max_bytes: 8 << 30 };
    let within = Duration::from_secs(10);
    let reader = Reader::begin(Broker::local(url.clone()), stream, BTreeMap::new(), within)?;
    let mut agents = Command::new(std::env::current_exe()?);
    agents.args(["fleet", "--agents-of", &url]);
    agents.args(["--agents", &asked.agents.to_string(), "--rows", &asked.rows.to_string()]);
    agents.args(["--seconds", &asked.seconds.to_string()]);
    let agents = child::start(&mut agents, 1)?;
    let ended = merge(asked, &reader, folder);
    child::end(agents);
    ended
}

/// Merges what comes, and keeps it as a run does.
fn merge(asked: &Fleet, reader: &Reader, folder: &Path) -> Result<(), Failure> {
    let runs = Runs::open(&folder.join("home")).map_err(|problems| problems.to_string())?;
    let record = Specimen::ManyOperations.open().skeleton();
    let mut writer = runs.create(&record).map_err(|problems| problems.to_string())?;
    let mut merge = Merge::of(asked.agents as usize);
    let (mut cost, mut bytes) = (Cost::now()?, 0);
    println!("| seconds | controller's CPU, share of a core | resident, MB | told, kB each |");
    println!("|---|---|---|---|");
    let mut seconds = 0;
    while seconds < asked.seconds {
        let told = match reader.next(Duration::from_secs(60)) {
            Ok(told) => told,
            Err(nothing @ (NothingTold::Yet(_) | NothingTold::Ever)) => {
                return Err(nothing.to_string().into());
            }
        };
        bytes += told.bytes.len();
        let agent = told.voice.agent.as_str().trim_start_matches("a").parse()?;
        merge.take_second(agent, told.bytes).map_err(|misfit| misfit.to_string())?;
        reader.keep(&told.voice, told.number + 1);
        while let Some(second) = merge.next_second() {
            writer.second(second.interval, second.names).map_err(|problems| problems.to_string())?;
            seconds += 1;
            if seconds % LINE_EVERY == 0 || seconds == asked.seconds {
                let now = Cost::now()?;
                let share = (now.cpu_s - cost.cpu_s) / (now.at - cost.at).as_secs_f64();
                let each = bytes as f64 / f64::from(seconds) / f64::from(asked.agents) / 1e3;
                println!("| {seconds} | {:.1} % | {:.0} | {each:.1} |", share * 100.0, resident_mb()?);
                cost = now;
            }
        }
    }
    Ok(())
}

struct Cost {
    at: Instant,
    cpu_s: f64,
}

impl Cost {
    /// This process's until now.
    fn now() -> Result<Cost, Failure> {
        let stat = fs::read_to_string("/proc/self/stat")?;
        // Behind the name, which may have blanks: utime and stime are the 12th and 13th (proc(5)).
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: u64 =
            fields.get(11..13).unwrap_or_default().iter().flat_map(|one| one.parse::<u64>()).sum();
        Ok(Cost { at: Instant::now(), cpu_s: ticks as f64 / rustix::param::clock_ticks_per_second() as f64 })
    }
}

fn resident_mb() -> Result<f64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kb: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kb / 1e3)
}

fn name(text: &str) -> Result<Name, Failure> {
    Ok(Name::of(text)?)
}

/// The agents' side: each second of the recorded run as every agent's, again and again.
fn tell(asked: &Fleet, broker: &Broker) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let recorded = Specimen::ManyOperations.open();
    let copies = asked.rows.div_ceil(recorded.names.len());
    let names = repeated(&recorded.names, copies);
    let mut intervals: Vec<Interval> = recorded.intervals().skip(10).take(10).collect();
    if intervals.is_empty() {
        return Err("the recorded run is too short".into());
    }
    intervals.iter_mut().for_each(|interval| repeat(interval, recorded.names.len(), copies));
    let mut tellers = Vec::new();
    for agent in 0..asked.agents {
        let agent = name(&format!("a{agent}"))?;
        let spool = Spool::open(&folder.path().join(agent.as_str()), 1 << 30)?;
        let voice = Voice { fleet: name("bench")?, run: name("replay")?, agent, incarnation: 1 };
        tellers.push(Teller::begin(broker.clone(), voice, spool)?);
    }
    let mut encoder = Encoder::default();
    let began = Instant::now();
    for second in 0..asked.seconds {
        let due = Duration::from_secs(second.into());
        thread::sleep(due.saturating_sub(began.elapsed()));
        let at = second as usize % intervals.len();
        let interval = &mut intervals[at];
        interval.second = second;
        let told = Second { interval, names: &names, evidence: &[] };
        let known = if second == 0 { 0 } else { names.len() };
        let message = second::encode(&told, known, &mut encoder)?;
        for teller in &tellers {
            teller.tell(Kind::Second, &message)?;
        }
    }
    for teller in &tellers {
        if !teller.is_kept_within(Duration::from_secs(60)) {
            return Err(format!("the controller hasn't kept all: {:?}", teller.telling()).into());
        }
    }
    Ok(())
}

fn repeated(names: &[OperationName], copies: usize) -> Vec<OperationName> {
    let copy = |number: usize| {
        names.iter().map(move |one| OperationName { name: format!("{} {number}", one.name), ..one.clone() })
    };
    (0..copies).flat_map(copy).collect()
}

fn repeat(interval: &mut Interval, rows: usize, copies: usize) {
    interval.operations.resize_with(rows, model::OperationInterval::empty);
    let once = interval.operations.clone();
    interval.operations = (0..copies).flat_map(|_| once.clone()).collect();
}
