//! What was started for a fleet, as a later start of the tool needs it to end that and nothing else.

use std::path::{Path, PathBuf};

use fleet::bus::Name;
use model::{Problem, Result};
use serde::{Deserialize, Serialize};
use testbed::LastingProcess;
use testbed::ssh::{RemoteProcess, SshHost};

use super::folder::{FleetFolder, PLACED};
use super::roles::Roles;

/// All that runs for a fleet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct PlacedFile {
    /// The broker on this machine.
    pub(super) broker: Option<LastingProcess>,
    /// The configuration that it was started with.
    #[serde(default)]
    pub(super) broker_config: String,
    /// Agents on other machines.
    pub(super) agents: Vec<PlacedAgent>,
}

/// An agent on another machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlacedAgent {
    /// Its name.
    pub(super) agent: String,
    /// How ssh calls the machine.
    pub(super) ssh: String,
    /// The configuration of ssh, where it isn't the user's own.
    pub(super) ssh_config: Option<PathBuf>,
    /// The folder there that has its credentials, its spools and its log.
    pub(super) folder: String,
    /// The program there, and what it was started with; nothing where a build of before did so.
    #[serde(default)]
    pub(super) program: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// Its process; none where it may not have been started.
    pub(super) process: Option<RemoteProcess>,
    /// What it is for.
    #[serde(default)]
    pub(super) roles: Roles,
}

impl PlacedAgent {
    /// The machine.
    pub(super) fn host(&self) -> Result<SshHost> {
        SshHost::new(&self.ssh, self.ssh_config.as_deref())
    }
}

impl PlacedFile {
    /// What is known to run; nothing where nothing was ever started.
    pub(super) fn read(folder: &FleetFolder) -> Result<PlacedFile> {
        let path = folder.path(PLACED);
        if !path.exists() {
            return Ok(PlacedFile::default());
        }
        let read = serde_json::from_str(&folder.text(PLACED)?);
        read.map_err(|error| damaged(&path, &error.to_string()))
    }

    /// Remembers it, before or at once after something is started.
    pub(super) fn write(&self, folder: &FleetFolder) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|error| Problem::bug(error.to_string()))?;
        folder.write(PLACED, &text)
    }

    /// What an agent is for: users, where it wasn't placed from here.
    pub(super) fn roles(&self, agent: &Name) -> Roles {
        let known = self.agents.iter().find(|known| known.agent == agent.as_str());
        known.map(|known| known.roles.clone()).unwrap_or_default()
    }

    /// Takes the place of what was known of that agent.
    pub(super) fn put(&mut self, agent: PlacedAgent) {
        self.agents.retain(|known| known.agent != agent.agent);
        self.agents.push(agent);
    }
}

fn damaged(path: &Path, why: &str) -> model::Problems {
    Problem::environment(format!("it can't be read: {why}"))
        .file(path.display().to_string())
        .why("what runs for this fleet is written there")
        .remedy("end its agents and its broker by hand, and remove the file")
        .into()
}

/// Where all of an agent is on its machine, below the cache folder of Plimsoll. Somebody else's fleet may have the same name, and
/// not the same key.
pub(super) fn folder_of(fleet: &FleetFolder, agent: &Name) -> Result<String> {
    let key = fleet.signer()?.public_key();
    Ok(format!("fleets/{}-{}/{agent}", fleet.name(), &key[..key.len().min(12)]))
}
