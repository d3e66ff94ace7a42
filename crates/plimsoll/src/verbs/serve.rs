//! `plimsoll serve`: the laboratory's page, and its queue done.

mod laboratory;
mod worker;

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use model::record::plan::Placement;
use model::{Problem, ProcessIdentity, Result};
use serve::{Access, Role, Server, Settings, Tls};
use store::ServeProcess;
use testbed::process::Identity;

use crate::context::Context;
pub(crate) use laboratory::Check;
use laboratory::Here;
use runner::cpus;
use runner::progress::Progress;

/// Show what is kept and the queue in a browser, do its jobs, and follow what is being measured.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  plimsoll serve                     prints an address that signs one browser in
  plimsoll serve --link              another one, for a server that runs already
  plimsoll serve --link --read-only  one that may look and change nothing
  plimsoll serve --listen 127.0.0.1:0
  plimsoll serve --set-password < password.txt
  plimsoll serve --listen 192.0.2.10 --host-name lab.example --tls cert.pem,key.pem
  plimsoll serve --read-only         nobody may change anything, whatever they signed in with

The page owns no run: jobs go on when it ends, and are followed when it comes back. How it is meant to be used:
docs/laboratory.md. Its API: docs/reference/openapi.json.")]
pub(crate) struct ServeArgs {
    /// Where it listens; what others reach also needs a password, TLS and a name
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    listen: Option<String>,
    /// The name by which browsers ask for it [default: plimsoll.localhost]
    #[arg(long, value_name = "NAME")]
    host_name: Option<String>,
    /// Files of a certificate and of its key, PEM
    #[arg(
        long,
        value_name = "CERT,KEY",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with = "behind_proxy"
    )]
    tls: Vec<PathBuf>,
    /// Something in front of it has TLS
    #[arg(long)]
    behind_proxy: bool,
    /// Nobody may change anything; with --link: whoever uses it
    #[arg(long)]
    read_only: bool,
    /// Print an address that signs one browser in, for the server of this home, and nothing else
    #[arg(long)]
    link: bool,
    /// Keep the password that is read from the standard input, and nothing else
    #[arg(long, conflicts_with = "link")]
    set_password: bool,
}

pub(crate) fn main(args: &ServeArgs, check: Check, context: &mut Context) -> Result<u8> {
    let access = Access::open(&context.home)?;
    if args.set_password {
        return set_password(&access, context);
    }
    if args.link {
        return link(args, &access, context);
    }
    let listen = args.listen.as_deref();
    let known = (access.has_password(), args.read_only);
    let settings = Settings::of(listen, args.host_name.as_deref(), (tls(args)?, args.behind_proxy), known)?;
    let allowed = cpus::allowed();
    // Every thread from here on: what is measured must not notice that somebody looks.
    testbed::keep_process_quiet(&Placement::of_machine(&allowed).generator);
    if let Some(process) = Identity::of(std::process::id()) {
        // So that a run weighs what is looked at beside it.
        ServeProcess::write(&context.home, ProcessIdentity { id: process.pid, start: process.start_ticks })?;
    }
    let server = Server::bind(Arc::new(Here::new(check, context)), settings)?;
    access.set_origin(server.origin())?;
    let role = if args.read_only { Role::Reader } else { Role::Runner };
    context.console.result(&server.link(role)?);
    context.console.note(
        "It signs one browser in, once, within a day; `plimsoll serve --link` prints another one. Ctrl-C ends the page; jobs go on.",
    );
    if args.host_name.is_some() {
        warn_of_name(args, context);
    }
    let worker = worker::start(context, server.stop(), allowed)?;
    server.serve()?;
    worker.join().map_err(|_| Problem::bug("whoever does the jobs has failed"))?;
    Ok(0)
}

/// A name that a server on this machine shares with others gets their pages' cookies, and gives them its own.
fn warn_of_name(args: &ServeArgs, context: &mut Context) {
    let shared = ["localhost", "127.0.0.1", "[::1]"];
    if args.host_name.as_deref().is_some_and(|name| shared.contains(&name)) {
        let what = "cookies know no ports: every server that a browser asks for under this name is sent this page's cookie, \
                    a stack that one clicks around in among them";
        context.console.note(&format!("note: {what}"));
    }
}

fn tls(args: &ServeArgs) -> Result<Option<Tls>> {
    match args.tls.as_slice() {
        [] => Ok(None),
        [certificate, key] => Ok(Some(Tls { certificate: certificate.clone(), key: key.clone() })),
        _ => Err(Problem::recipe("it takes two files").key("--tls").remedy("--tls cert.pem,key.pem").into()),
    }
}

fn link(args: &ServeArgs, access: &Access, context: &mut Context) -> Result<u8> {
    let role = if args.read_only { Role::Reader } else { Role::Runner };
    let Some(origin) = access.origin() else {
        let what = "no page of this home was served yet";
        return Err(Problem::environment(what).remedy("plimsoll serve").into());
    };
    let link = access.new_link(role)?;
    context.console.result(&format!("{origin}/?token={link}"));
    Ok(0)
}

fn set_password(access: &Access, context: &mut Context) -> Result<u8> {
    let input = std::io::stdin();
    if input.is_terminal() {
        context.console.note("The password, in a line (it is shown as it is written; `< FILE` is not):");
    }
    let mut line = String::new();
    input
        .lock()
        .read_line(&mut line)
        .map_err(|error| Problem::environment(format!("failed to read the password: {error}")))?;
    access.set_password(line.trim_end_matches(['\n', '\r']))?;
    context.console.result("the password is kept");
    Ok(0)
}
