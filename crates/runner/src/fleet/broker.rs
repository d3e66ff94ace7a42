//! The broker of a fleet, on its controller's machine: started by `up`, ended by `down`, and there in between.

use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use model::{Problem, Result};
use testbed::{Detached, LastingProcess};

use super::folder::FleetFolder;
use super::local;
use crate::environment::Environment;

/// It may take so long to listen.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// It may take so long to end, until it is killed.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// Starts it where it isn't there; where it is and its configuration has changed, it is started anew on what it keeps.
pub(super) fn start(
    folder: &FleetFolder,
    known: Option<LastingProcess>,
    is_changed: bool,
    env: &mut Environment<'_>,
) -> Result<LastingProcess> {
    if let Some(process) = known.filter(LastingProcess::is_alive) {
        if !is_changed {
            return Ok(process);
        }
        env.progress.step("starting the broker again, which knows new agents then");
        process.stop(STOP_GRACE)?;
    }
    let listen = folder.file()?.listen;
    refuse_another(&listen)?;
    let process = Detached {
        program: local::bus(env.catalogue, env.home)?,
        args: vec!["--config".into(), folder.path("broker.conf").into()],
        env: Vec::new(),
        dir: folder.path(""),
        outputs: folder.path("broker"),
    };
    let process = process.start_lasting()?;
    let began = Instant::now();
    while TcpStream::connect(&listen).is_err() {
        if !process.is_alive() || began.elapsed() > READY_TIMEOUT {
            let said = process.last_lines(3).join("; ");
            process.stop(Duration::ZERO)?;
            return Err(Problem::environment(format!("the broker doesn't listen at {listen}: {said}"))
                .file(process.log.display().to_string())
                .remedy("is it an address of this machine, and its port free?")
                .into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(process)
}

/// Ends it, where it runs.
pub(super) fn stop(process: &LastingProcess) -> Result<()> {
    process.stop(STOP_GRACE).map(drop)
}

/// Somebody else's server there would be taken for the broker.
fn refuse_another(listen: &str) -> Result<()> {
    let addresses: Vec<_> = listen.to_socket_addrs().into_iter().flatten().collect();
    match addresses.iter().any(|address| TcpStream::connect_timeout(address, Duration::from_secs(1)).is_ok())
    {
        true => Err(Problem::environment(format!(
            "somebody listens at {listen} already, and it is not this fleet's broker"
        ))
        .remedy("end it, or set the fleet up at another port")
        .into()),
        false => Ok(()),
    }
}
