//! `plimsoll hit`: one request repeated over many connections, as wrk does, with the instrument's judgement of itself.

mod measure;
mod repeat;

use clap::{Args, ValueEnum};
use engine::scenario::ConnectionPolicy;
use engine::{Control, Program, RunOptions, Scenario};
use model::catalogue::load::{Arrivals, Arriving};
use model::record::Outcome;
use model::record::plan::{Load, Placement};
use model::{HitRecord, Kind, Problem, Result, units};

use crate::context::Context;
use crate::verbs::recipe_args::pattern;
use crate::verbs::server_args::SingleArgs;
use runner::cpus;
use runner::progress::Progress;
use runner::server::Server;

use measure::{Length, Witness};

const CONNECTIONS: u32 = 50;
const CONNECTIONS_AT_A_RATE: u32 = 1000;
/// A run that is bounded by its number of requests has no other end.
const NO_END_S: f64 = 1e8;

/// Repeat one request over many connections and tell rate, times and whether to believe them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll hit http://127.0.0.1:8080/
  plimsoll hit http://localhost:8080/search -c 100 -d 30s -H 'Accept-Encoding: br'
  plimsoll hit http://localhost:8080/search --rate 500/s -d 30s
  plimsoll hit http://localhost:8080/orders -n 10000 -b '{\"id\": 7}' -H 'Content-Type: application/json'
  plimsoll hit https://test.example/ --allow-target test.example

Load goes to this machine unless --allow-target names the host.
Where the generator was the limit, not the server, the result is not valid and the exit code 3.")]
pub(crate) struct HitArgs {
    /// What to ask for: http://HOST[:PORT]/PATH or https://…
    #[arg(value_name = "URL")]
    url: String,
    /// Connections, each of a user who asks again as soon as it is answered [default: 50]; with --rate the most that may be
    /// open at once [default: 1000]
    #[arg(long, short, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    connections: Option<u32>,
    /// Requests that arrive by themselves, however long the answers take: 500/s, or 50:400/s for a rate that rises. Times
    /// count from when a request was due
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// How they follow each other: at random (poisson, the default) or evenly (constant)
    #[arg(long, value_name = "PATTERN", requires = "rate", value_parser = ["poisson", "constant"])]
    arrivals: Option<String>,
    /// How long
    #[arg(long, short, default_value = "10s", value_name = "TIME", conflicts_with = "requests")]
    duration: String,
    /// How many requests in all instead, dealt out to the connections as evenly as whole numbers allow
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// The method; POST when there is a body, else GET
    #[arg(long, short)]
    method: Option<String>,
    /// A header; may be given several times
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// The body: text, or @FILE
    #[arg(long, short, value_name = "TEXT|@FILE")]
    body: Option<String>,
    /// Threads of the generator, each on a CPU of its own
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// A request that is not answered within this time has failed
    #[arg(long, default_value = "30s", value_name = "TIME")]
    timeout: String,
    /// How long a connection lives
    #[arg(long, value_enum, default_value_t = Connection::Keep)]
    connection: Connection,
    #[command(flatten)]
    server: SingleArgs,
    /// Print the record as JSON (docs/reference/hit-json.md) instead of the summary
    #[arg(long)]
    json: bool,
}

/// How long a connection lives.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Connection {
    /// Until the end, or until the server closes it
    Keep,
    /// For one request
    PerRequest,
}

pub(crate) fn main(args: &HitArgs, context: &mut Context) -> Result<u8> {
    let (length, arrivals) = (args.length()?, args.arrivals()?);
    let access = args.server.access();
    if access.front_page.is_some() {
        let problem = Problem::recipe("nothing is asked for but the URL").key("--front-page");
        return Err(problem.remedy("leave it out").into());
    }
    let (mut server, repeat) = (access.find(&args.url)?, args.repeat()?);
    if let Some(host) = repeat.host {
        server.target.host = host;
    }
    let scenario = Scenario {
        timeout_s: seconds("--timeout", &args.timeout)?,
        connections: match args.connection {
            Connection::Keep => ConnectionPolicy::Keep,
            Connection::PerRequest => ConnectionPolicy::PerRequest,
        },
        ..Scenario::of(Program::Repeat(repeat.repeat))
    };
    let options = args.options((length, arrivals), &server, scenario)?;
    if let Some(host) = &server.allowed {
        context.console.note(&format!("{host} is not this machine: allowed by --allow-target"));
    }
    context.machine.hold(&context.interrupt, &mut context.console)?;
    let control = Control::default();
    context.interrupt.steer(&control);
    let mut witness = Witness::new(length, &mut context.console);
    let totals = engine::run(&options, &control, &mut witness);
    context.interrupt.release(&control);
    let totals = totals?;
    let outcome = if context.interrupt.count() > 0 { Outcome::Interrupted } else { Outcome::Completed };
    let witnessed = witness.into_witnessed();
    let record = measure::record(&witnessed, &totals, outcome, &options, &server, context);
    let text = if args.json {
        report::hit_json(&record)
    } else {
        report::hit(&record, context.console.width(), context.console.colour())
    };
    context.console.painted(&text);
    Ok(exit_code(&record))
}

fn exit_code(record: &HitRecord) -> u8 {
    match (record.outcome, record.verdict.valid) {
        (Outcome::Interrupted, _) => Kind::Interrupted.exit_code(),
        (_, false) => Kind::Invalid.exit_code(),
        (_, true) => 0,
    }
}

impl HitArgs {
    fn length(&self) -> Result<Length> {
        if let Some(requests) = self.requests {
            return Ok(Length::Requests(requests));
        }
        let duration_s = seconds("--duration", &self.duration)?;
        if duration_s < 1.0 {
            let problem = Problem::recipe("it must last 1 s or more").key("--duration");
            return Err(problem.why("the instrument judges itself by whole seconds").into());
        }
        Ok(Length::Seconds(duration_s))
    }

    fn arrivals(&self) -> Result<Option<Arrivals>> {
        let Some(rate) = &self.rate else { return Ok(None) };
        let (from_per_s, to_per_s) =
            units::rates(rate).map_err(|what| Problem::recipe(what).key("--rate"))?;
        if from_per_s != to_per_s && self.requests.is_some() {
            let problem = Problem::recipe("a rate rises over a time").key("--rate");
            return Err(problem.remedy("give -d and not -n, or one rate").into());
        }
        let pattern = self.arrivals.as_deref().map(pattern).unwrap_or_default();
        Ok(Some(Arrivals { pattern, arriving: Arriving::Operations, from_per_s, to_per_s }))
    }

    fn options(
        &self,
        (length, arrivals): (Length, Option<Arrivals>),
        server: &Server,
        scenario: Scenario,
    ) -> Result<RunOptions> {
        let usual = if arrivals.is_some() { CONNECTIONS_AT_A_RATE } else { CONNECTIONS };
        let connections = self.connections.unwrap_or(usual);
        let (steady_s, sessions, users) = match length {
            Length::Seconds(seconds) => (seconds, None, connections),
            Length::Requests(all) => {
                let most = u32::try_from(all).unwrap_or(u32::MAX);
                (NO_END_S, Some(all), connections.min(most))
            }
        };
        let load = Load { users, steady_s, arrivals, sessions, ..Load::default() };
        let drain_s = scenario.timeout_s;
        Ok(RunOptions {
            cpus: self.cpus()?,
            total_sessions: sessions,
            drain_s,
            ..RunOptions::of(scenario, load, server.target.clone())
        })
    }

    /// The generator's CPUs: the last ones, where there are several, because the first one has the machine's
    /// interrupts.
    fn cpus(&self) -> Result<Vec<usize>> {
        let all = cpus::allowed();
        match self.threads {
            None => Ok(Placement::of_machine(&all).generator),
            Some(threads) if (1..=all.len()).contains(&threads) => Ok(all[all.len() - threads..].to_vec()),
            Some(threads) => {
                let what = format!("{threads} threads can't each have one of {} CPUs", all.len());
                Err(Problem::recipe(what).key("--threads").into())
            }
        }
    }
}

fn seconds(flag: &str, text: &str) -> Result<f64> {
    let duration = units::duration(text).map_err(|what| Problem::recipe(what).key(flag))?;
    Ok(duration.as_secs_f64())
}
