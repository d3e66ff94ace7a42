//! An agent of a fleet: what its operator says of it, and its serving.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fleet::Credentials;
use fleet::agent::{AgentNews, AgentOptions, serve};
use fleet::bus::{Broker, Name};
use fleet::permissions::{Allowed, Permissions, Role};
use fleet::signed::Trusted;
use model::catalogue::agent_file::AgentFile;
use model::{Problem, Problems, Result, document, units};

use super::build::build;
use super::bundle;

/// What an agent's spools may take on the disk.
const MAX_SPOOL_BYTES: u64 = 2 << 30;

/// What an agent is started with.
#[derive(Debug, Clone, Default)]
pub struct AgentAsked {
    /// The file that lets it onto a fleet's bus; it has the next three, and the controller's key.
    pub credentials: Option<PathBuf>,
    /// `nats://HOST:PORT`.
    pub broker: String,
    /// The fleet's name.
    pub fleet: String,
    /// The agent's name in it.
    pub name: String,
    /// Public keys of controllers that it obeys, beside those of the file.
    pub controllers: Vec<String>,
    /// Who may be under load beside this machine, beside those of the file.
    pub targets: Vec<String>,
    /// What it is for; what the file says, or to drive load, when empty.
    pub roles: Vec<Role>,
    /// `agent.toml`.
    pub file: Option<PathBuf>,
    /// Where it generates load.
    pub cpus: Vec<usize>,
    /// The directory of its spools.
    pub spools: PathBuf,
}

/// Everything that an agent is, checked.
///
/// # Errors
/// All that is wrong with what was asked for.
pub fn options(asked: &AgentAsked) -> Result<AgentOptions> {
    let file = asked.file.as_deref().map(read).transpose()?.unwrap_or_default();
    let credentials = asked.credentials.as_deref().map(read_credentials).transpose()?;
    let mut problems: Vec<Problem> = Vec::new();
    let mut wrong = |key: &str, why: String| problems.push(Problem::recipe(why).key(key));
    let broker = match &credentials {
        Some(credentials) => credentials.broker().map_err(|why| wrong("--creds", why)).ok(),
        None => {
            let broker = Broker::local(asked.broker.clone());
            broker.check().map(|()| broker).map_err(|why| wrong("--broker", why)).ok()
        }
    };
    let (fleet, name) = match &credentials {
        Some(credentials) => (&credentials.fleet, &credentials.name),
        None => (&asked.fleet, &asked.name),
    };
    let fleet = Name::of(fleet).map_err(|why| wrong("--fleet", why)).ok();
    let name = Name::of(name).map_err(|why| wrong("--name", why)).ok();
    let in_credentials = credentials.iter().flat_map(|credentials| &credentials.controllers);
    let keys: Vec<String> =
        asked.controllers.iter().chain(&file.controllers).chain(in_credentials).cloned().collect();
    if keys.is_empty() {
        wrong("controllers", "no controller's key was given: it would obey nobody".to_string());
    }
    let trusted = fleet.clone().and_then(|fleet| match Trusted::of(&keys, fleet) {
        Ok(trusted) => Some(trusted),
        Err(all) => {
            all.into_iter().for_each(|why| wrong("controllers", why));
            None
        }
    });
    let mut targets = Vec::new();
    for text in asked.targets.iter().chain(&file.targets) {
        match Allowed::read(text) {
            Ok(allowed) => targets.push(allowed),
            Err(why) => wrong("targets", why),
        }
    }
    let longest = file.max_duration.as_deref().map(units::duration).transpose();
    let max_duration_s = longest.map_err(|why| wrong("max_duration", why)).ok().flatten();
    let max_duration_s = max_duration_s.map(|longest| longest.as_secs_f64());
    let roles = roles(asked, &file, &mut |why| wrong("roles", why));
    let permissions = Permissions {
        roles,
        targets,
        max_users: file.max_users,
        max_rate_per_s: file.max_rate,
        max_duration_s,
    };
    Problems::check(problems)?;
    let (Some(broker), Some(fleet), Some(name), Some(trusted)) = (broker, fleet, name, trusted) else {
        return Err(Problem::bug("an agent without a name passed its check").into());
    };
    Ok(AgentOptions {
        broker,
        fleet,
        name,
        trusted,
        permissions,
        build: build()?,
        cpus: asked.cpus.clone(),
        spools: asked.spools.clone(),
        max_spool_bytes: MAX_SPOOL_BYTES,
    })
}

/// What the agent may be for. The machine's operator has the last word: who starts the agent asks for some of what is allowed.
fn roles(asked: &AgentAsked, file: &AgentFile, wrong: &mut dyn FnMut(String)) -> Vec<Role> {
    let Some(words) = &file.roles else {
        return if asked.roles.is_empty() { vec![Role::Load] } else { asked.roles.clone() };
    };
    let mut allowed = Vec::new();
    for word in words {
        match Role::read(word) {
            Ok(role) => allowed.push(role),
            Err(why) => wrong(why),
        }
    }
    for role in asked.roles.iter().filter(|role| !allowed.contains(role)) {
        wrong(format!("it is started for `{}`, which this machine's operator doesn't allow", role.word()));
    }
    if asked.roles.is_empty() { allowed } else { asked.roles.clone() }
}

/// Reads the file that lets an agent onto a fleet's bus.
///
/// # Errors
/// It can't be read, is none, or others can read it.
pub fn read_credentials(path: &Path) -> Result<Credentials> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| Problem::recipe(format!("failed to read: {error}")).file(&name);
    let text = fs::read_to_string(path).map_err(failed)?;
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(Problem::recipe("other users of this machine can read it")
            .file(&name)
            .why("whoever has it is this agent on the fleet's bus")
            .remedy(format!("chmod 600 {name}"))
            .into());
    }
    Credentials::read(&name, &text)
}

fn read(path: &Path) -> Result<AgentFile> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| Problem::recipe(format!("failed to read: {error}")).file(&name))?;
    document::read(&name, &text)
}

/// Serves until `is_over` says so; what happens is told to `news`.
///
/// # Errors
/// What is wrong with what was asked for; this machine gives no thread.
pub fn run(
    asked: &AgentAsked,
    news: &mut dyn FnMut(&AgentNews<'_>),
    is_over: &dyn Fn() -> bool,
) -> Result<()> {
    let served = serve(options(asked)?, &bundle::options, news, is_over);
    served.map_err(|error| Problem::environment(error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_wrong_with_an_agent_is_said_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("agent.toml");
        let text = "controllers = [\"nobody\"]\ntargets = [\"10.0.0.0/99\"]\nmax_duration = \"long\"\n";
        std::fs::write(&file, text).expect("a file");
        let asked = AgentAsked {
            broker: "nats://192.0.2.1:4222".to_string(),
            fleet: "lab".to_string(),
            name: "a_1".to_string(),
            file: Some(file.clone()),
            ..AgentAsked::default()
        };
        let said = options(&asked).map(|_| ()).expect_err("nothing of it is right").to_string();
        for part in [
            "192.0.2.1:4222 is not on this machine",
            "`a_1` is no name",
            "`nobody` is no controller's key",
            "10.0.0.0/99",
            "long",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let text = "roles = [\"load\", \"watch\"]\ncontrollers = []\n";
        std::fs::write(&file, text).expect("a file");
        let observer = AgentAsked { roles: vec![Role::Observe], ..asked.clone() };
        let said = options(&observer).map(|_| ()).expect_err("it may not").to_string();
        for part in
            ["`watch` is no role", "started for `observe`, which this machine's operator doesn't allow"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        std::fs::write(&file, "controllers = []\nmax_user = 3\n").expect("a file");
        let said = options(&asked).map(|_| ()).expect_err("there is no such key").to_string();
        assert!(said.contains("agent.toml:2") && said.contains("`max_users`"), "{said}");
    }
}
