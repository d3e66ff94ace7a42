//! `plimsoll export`: a run's figures while it is measured, for the monitoring that people already have; and all of a run in a file. It reads what
//! the run writes and touches nothing, so that it costs the tool nothing.

mod follow;
mod otlp;
mod prometheus;

use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use model::{Problem, Result};
use store::Run;

use crate::context::Context;
use crate::verbs::kept::{self, Kept};
use runner::progress::Progress;
use runner::server::ServerAccess;

use self::follow::Followed;
use self::otlp::Collector;
use self::prometheus::Page;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);

/// Give a run's figures to Prometheus or an OpenTelemetry collector while it is measured, or all of it to a file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll export --prometheus 9464                    http://127.0.0.1:9464/metrics, of the run under way or the next
  plimsoll export --prometheus 0.0.0.0:9464            for a Prometheus on another machine
  plimsoll export --otlp http://127.0.0.1:4318         pushed each second to a collector beside
  plimsoll export --otlp http://127.0.0.1:4318 last    the last run, once
  plimsoll export --archive run.tar.gz last            all of the last run, to be unpacked below $PLIMSOLL_HOME/runs elsewhere

It follows one run after the other, also the trials of a study, until Ctrl-C. docs/export.md has the metrics.")]
#[command(group = clap::ArgGroup::new("to").required(true))]
pub(crate) struct ExportArgs {
    /// Serve Prometheus' text format at /metrics of this port of 127.0.0.1, or of this address
    #[arg(long, value_name = "[ADDR:]PORT", group = "to")]
    prometheus: Option<String>,
    /// Push OTLP metrics as JSON over HTTP to this collector; without a path, to /v1/metrics
    #[arg(long, value_name = "URL", group = "to")]
    otlp: Option<String>,
    /// Allow to push to a collector that is not on this machine: its exact name or address
    #[arg(long, value_name = "HOST", requires = "otlp")]
    allow_target: Vec<String>,
    /// Write the whole directory of a run that has ended to this file, as .tar.gz
    #[arg(long, value_name = "FILE", group = "to", requires = "run")]
    archive: Option<PathBuf>,
    /// Only this run or trial (STUDY/N), instead of whatever is under way
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

pub(crate) fn main(args: &ExportArgs, context: &mut Context) -> Result<u8> {
    if let (Some(path), Some(name)) = (&args.archive, &args.run) {
        return archive(&run(name, context)?, path, context);
    }
    let only = args.run.as_ref().map(|name| run(name, context)).transpose()?;
    let mut to = destination(args, context)?;
    let mut followed: Option<Followed> = only.map(Followed::new);
    let mut next = Instant::now();
    while context.interrupt.count() == 0 {
        if args.run.is_none() {
            find_next(&mut followed, context)?;
        }
        if let Some(run) = &mut followed {
            match run.look() {
                Ok(fresh) => to.take(run, fresh, context),
                // It has only begun, and its file is not whole yet.
                Err(_) if args.run.is_none() && run.second() == 0 && run.under_way() => {}
                Err(problems) => return Err(problems),
            }
            if args.run.is_some() && args.otlp.is_some() && !run.under_way() {
                return Ok(0);
            }
        }
        next = (next + EVERY).max(Instant::now());
        while context.interrupt.count() == 0 && Instant::now() < next {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(0)
}

/// Writes all of a run to a new file.
fn archive(run: &Run, path: &Path, context: &mut Context) -> Result<u8> {
    run.check_archive()?;
    let made = File::create_new(path).and_then(|file| {
        let written = run.archive(BufWriter::new(file));
        if written.is_err() {
            // Half of an archive is none.
            _ = std::fs::remove_file(path);
        }
        written
    });
    made.map_err(|error| {
        Problem::environment(format!("failed to write the archive: {error}")).file(path.display().to_string())
    })?;
    context.console.result(&format!("{} is in {}", run.record().id, path.display()));
    Ok(0)
}

/// A run that ended is left for the one that is under way, if there is one.
fn find_next(followed: &mut Option<Followed>, context: &mut Context) -> Result<()> {
    if followed.as_ref().is_some_and(Followed::under_way) {
        return Ok(());
    }
    let Some(run) = store::under_way(&context.home)? else { return Ok(()) };
    if followed.as_ref().is_none_or(|followed| followed.id() != run.record().id) {
        context.console.note(&format!("following {}", run.record().id));
        *followed = Some(Followed::new(run));
    }
    Ok(())
}

fn run(name: &str, context: &Context) -> Result<Run> {
    match kept::find(name, context)? {
        Kept::Run(run) => Ok(run),
        Kept::Study(study) => {
            let id = &study.record().id;
            Err(Problem::recipe(format!("{id} is a study, and only a run has figures by the second"))
                .remedy(format!("{id}/1, the run of its first trial; without a name its trials are followed"))
                .into())
        }
    }
}

/// Where the figures go.
enum Destination {
    Page(Page),
    Collector(Collector),
}

fn destination(args: &ExportArgs, context: &mut Context) -> Result<Destination> {
    if let Some(url) = &args.otlp {
        let server = ServerAccess { allow_target: args.allow_target.clone(), ..ServerAccess::default() };
        return Collector::find(url, &server).map(Destination::Collector);
    }
    let page = Page::serve(address(args.prometheus.as_deref().unwrap_or_default())?)?;
    context.console.note(&format!("metrics at http://{}/metrics until Ctrl-C", page.address()));
    Ok(Destination::Page(page))
}

/// `9464` and `:9464` are ports of this machine's loopback.
fn address(text: &str) -> Result<SocketAddr> {
    let port = text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    let parsed = match port {
        Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => text.parse::<SocketAddr>(),
    };
    parsed.map_err(|_| {
        let what = format!("`{text}` is neither a port nor an address with one");
        Problem::recipe(what).key("--prometheus").remedy("9464, or 127.0.0.1:9464").into()
    })
}

impl Destination {
    fn take(&mut self, followed: &Followed, fresh: bool, context: &mut Context) {
        match self {
            Destination::Page(page) => page.show(prometheus::text(followed)),
            Destination::Collector(collector) if fresh => {
                if let Some(what) = collector.push(&otlp::body(followed).to_string()) {
                    context.console.note(&what);
                }
            }
            Destination::Collector(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_the_loopback() {
        let shown = |text: &str| address(text).map(|address| address.to_string()).unwrap_or_default();
        assert_eq!(shown("9464"), "127.0.0.1:9464");
        assert_eq!(shown(":9464"), "127.0.0.1:9464");
        assert_eq!(shown("0.0.0.0:9464"), "0.0.0.0:9464");
        assert_eq!(shown("[::1]:9464"), "[::1]:9464");
        for wrong in ["", "localhost", "99999", "127.0.0.1"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
