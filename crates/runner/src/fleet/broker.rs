//! The broker of a fleet, on its controller's machine: started by `up`, ended by `down`, and there in between.

use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use model::{Problem, Result};
use testbed::{Detached, LastingProcess, StopOutcome};

use super::folder::FleetFolder;
use super::local;
use super::placed::PlacedFile;
use crate::environment::Environment;

/// It may take so long to listen.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// One that listens answers within this.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// It may take so long to end, until it is killed.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// Has it stand with the configuration that is written, and remembers it; one that stands with another one is started anew, on what it
/// keeps.
pub(super) fn start(
    folder: &FleetFolder,
    placed: &mut PlacedFile,
    config: &str,
    env: &mut Environment<'_>,
) -> Result<()> {
    if let Some(process) = placed.broker.as_ref().filter(|process| process.is_alive()) {
        if placed.broker_config == config {
            return Ok(());
        }
        env.progress.step("starting the broker again, with another list of agents");
        process.stop(STOP_GRACE)?;
    }
    let listen = folder.file()?.listen;
    let address: SocketAddr = listen.parse().map_err(|_| {
        Problem::environment(format!("`{listen}` is no address")).file("fleet.toml".to_string())
    })?;
    refuse_another(address)?;
    let process = Detached {
        program: local::bus(env.catalogue, env.home)?,
        args: vec!["--config".into(), folder.path("broker.conf").into()],
        env: Vec::new(),
        dir: folder.path(""),
        outputs: folder.path("broker"),
    };
    let process = process.start_lasting()?;
    placed.broker = Some(process.clone());
    placed.broker_config = config.to_string();
    placed.write(folder)?;
    wait_for(&process, address, env)
}

fn wait_for(process: &LastingProcess, address: SocketAddr, env: &Environment<'_>) -> Result<()> {
    let began = Instant::now();
    loop {
        env.interrupt.check()?;
        let listens = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok();
        // Whoever listens there when it has ended is another one.
        let is_alive = process.is_alive();
        if listens && is_alive {
            return Ok(());
        }
        if !is_alive || began.elapsed() > READY_TIMEOUT {
            let said = process.last_lines(3).join("; ");
            process.stop(Duration::ZERO)?;
            return Err(Problem::environment(format!("the broker doesn't listen at {address}: {said}"))
                .file(process.log.display().to_string())
                .remedy("is it an address of this machine, and its port free?")
                .into());
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Ends it, where it runs.
pub(super) fn stop(process: &LastingProcess) -> Result<StopOutcome> {
    process.stop(STOP_GRACE)
}

/// Somebody else's server there would be taken for the broker.
fn refuse_another(address: SocketAddr) -> Result<()> {
    match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok() {
        true => Err(Problem::environment(format!("somebody listens at {address} already, who was not started from here"))
            .remedy("end it (it may be this fleet's broker, started by hand or from another machine's folder), or set the fleet up at another port")
            .into()),
        false => Ok(()),
    }
}
