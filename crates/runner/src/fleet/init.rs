//! Setting a fleet up: its authority, its keys, the broker's configuration, and what lets each agent onto the bus.

use std::net::IpAddr;
use std::path::PathBuf;

use fleet::broker_config::{BrokerConfig, User};
use fleet::bus::Name;
use fleet::signed::Signer;
use fleet::{Authority, Credentials, new_user_seed};
use model::{Problem, Problems, Result};

use super::folder::{AGENTS, CONTROLLER, FLEET_FILE, FleetFile, FleetFolder, SIGNING_SEED};

/// Where NATS listens where nobody says otherwise.
const PORT: u16 = 4222;

/// What the streams of all its runs may take on the broker's disk.
const MAX_STORE_BYTES: u64 = 10 << 30;

/// What a fleet is set up with.
#[derive(Debug, Clone, Default)]
pub struct InitAsked {
    /// Where the broker listens: ADDRESS or ADDRESS:PORT.
    pub listen: String,
    /// By which name others find it, where that is not the address.
    pub host: Option<String>,
    /// Agents that are started by hand.
    pub agents: Vec<String>,
}

/// What has been made.
#[derive(Debug, Clone)]
pub struct Initiated {
    /// Where the broker is to be found.
    pub broker: String,
    /// The configuration of its nats-server.
    pub config: PathBuf,
    /// The public key that agents obey.
    pub controller: String,
    /// The agents, each with the file of its credentials.
    pub agents: Vec<(Name, PathBuf)>,
}

/// Makes all keys of a fleet.
///
/// # Errors
/// All that is wrong with what was asked for; the fleet is there already.
pub fn init(folder: &FleetFolder, asked: &InitAsked) -> Result<Initiated> {
    let mut problems: Vec<Problem> = Vec::new();
    if folder.is_there() {
        let what = format!("there is a fleet {} already", folder.name());
        let try_this = format!(
            "another name, or remove {} once `plimsoll fleet down {}` is done: agents of the old keys won't obey new ones",
            folder.path("").display(),
            folder.name()
        );
        problems.push(Problem::recipe(what).remedy(try_this));
    }
    let place = address_of(asked).map_err(|why| problems.push(Problem::recipe(why).key("--listen"))).ok();
    let mut agents: Vec<Name> = Vec::new();
    for text in &asked.agents {
        match agent_name(text) {
            Ok(name) if agents.contains(&name) => {
                problems.push(Problem::recipe(format!("agent {name} is named twice")).key("--agent"));
            }
            Ok(name) => agents.push(name),
            Err(why) => problems.push(Problem::recipe(why).key("--agent")),
        }
    }
    Problems::check(problems)?;
    let Some((listen, host, port)) = place else {
        return Err(Problem::bug("a fleet without a place passed its check").into());
    };
    let authority = Authority::new(folder.name()).map_err(Problem::environment)?;
    let certificate =
        authority.broker_certificate(std::slice::from_ref(&host)).map_err(Problem::environment)?;
    folder.write("authority.pem", &authority.certificate_pem)?;
    folder.write("authority.key", &authority.key_pem)?;
    folder.write("broker.pem", &certificate.certificate_pem)?;
    folder.write("broker.key", &certificate.key_pem)?;
    folder.write(SIGNING_SEED, &Signer::new_seed().map_err(Problem::environment)?)?;
    let address = if host.contains(':') { format!("[{host}]") } else { host };
    let file = FleetFile { listen, broker: format!("tls://{address}:{port}") };
    write_credentials(folder, &file, &authority.certificate_pem, None)?;
    for agent in &agents {
        write_credentials(folder, &file, &authority.certificate_pem, Some(agent))?;
    }
    write_config(folder, &file)?;
    let text = toml::to_string(&file).map_err(|error| Problem::bug(error.to_string()))?;
    // Last: what has no such file is no fleet yet.
    folder.write(FLEET_FILE, &text)?;
    Ok(Initiated {
        broker: file.broker,
        config: folder.path("broker.conf"),
        controller: folder.signer()?.public_key(),
        agents: agents.into_iter().map(|name| (name.clone(), folder.agent_file(&name))).collect(),
    })
}

/// A name that may be an agent's.
pub(super) fn agent_name(text: &str) -> std::result::Result<Name, String> {
    match Name::of(text)? {
        name if name.as_str() == CONTROLLER_NAME => {
            Err(format!("`{text}` is the controller's own name on the bus"))
        }
        name => Ok(name),
    }
}

/// The controller's name on the bus.
const CONTROLLER_NAME: &str = "controller";

/// Gives keys to those of the agents that have none, and writes the broker's configuration of all that have some; its text.
pub(super) fn configure(folder: &FleetFolder, agents: &[Name]) -> Result<String> {
    let file = folder.file()?;
    for agent in agents {
        if !folder.agent_file(agent).is_file() {
            write_credentials(folder, &file, &folder.text("authority.pem")?, Some(agent))?;
        }
    }
    write_config(folder, &file)
}

/// What lets an agent, or the controller, onto the bus.
fn write_credentials(
    folder: &FleetFolder,
    file: &FleetFile,
    authority: &str,
    agent: Option<&Name>,
) -> Result<()> {
    let (name, path) = match agent {
        Some(agent) => (agent.to_string(), format!("{AGENTS}/{agent}.toml")),
        None => (CONTROLLER_NAME.to_string(), CONTROLLER.to_string()),
    };
    let credentials = Credentials {
        broker: file.broker.clone(),
        fleet: folder.name().to_string(),
        name,
        seed: new_user_seed().map_err(Problem::environment)?,
        authority: authority.to_string(),
        controllers: vec![folder.signer()?.public_key()],
    };
    folder.write(&path, &credentials.text())
}

/// Writes the broker's configuration anew, with all agents that have keys; its text.
fn write_config(folder: &FleetFolder, file: &FleetFile) -> Result<String> {
    let user = |credentials: Credentials| -> Result<User> {
        let name = Name::of(&credentials.name).map_err(Problem::environment)?;
        Ok(User { name, key: credentials.user_key().map_err(Problem::environment)? })
    };
    let mut agents = Vec::new();
    for name in folder.agents() {
        agents.push(user(folder.agent(&name)?)?);
    }
    let listen =
        file.listen.parse().map_err(|_| Problem::environment(format!("`{}` is no address", file.listen)))?;
    let config = BrokerConfig {
        fleet: folder.name(),
        listen,
        certificate: &folder.path("broker.pem"),
        key: &folder.path("broker.key"),
        store: &folder.path("jetstream"),
        max_store_bytes: MAX_STORE_BYTES,
        controller: user(folder.credentials()?)?,
        agents: &agents,
    };
    let text = config.text().map_err(Problem::environment)?;
    folder.write("broker.conf", &text)?;
    Ok(text)
}

/// Where the broker listens, the host by which it is found, and its port.
fn address_of(asked: &InitAsked) -> std::result::Result<(String, String, u16), String> {
    let text = asked.listen.as_str();
    let wrong = || format!("`{text}` is no ADDRESS or ADDRESS:PORT: 10.0.0.5:4222, or [fd00::5]:4222");
    let (address, port) = match text.parse::<std::net::SocketAddr>() {
        Ok(address) => (address.ip(), address.port()),
        Err(_) => (text.parse::<IpAddr>().map_err(|_| wrong())?, PORT),
    };
    if port == 0 {
        return Err(format!(
            "`{text}`: agents must know the port, so it can't be one that is free at that time"
        ));
    }
    let host = match &asked.host {
        Some(host) => host.clone(),
        None if address.is_unspecified() => {
            return Err(format!(
                "`{text}` is every address of this machine: --host says by which one agents find it"
            ));
        }
        None => address.to_string(),
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-:".contains(letter);
    match !host.is_empty() && host.chars().all(is_plain) {
        true => Ok((std::net::SocketAddr::new(address, port).to_string(), host, port)),
        false => Err(format!("`{host}` is no name or address of a machine")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(listen: &str, host: Option<&str>, agents: &[&str]) -> InitAsked {
        InitAsked {
            listen: listen.to_string(),
            host: host.map(str::to_string),
            agents: agents.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_fleet_has_keys_for_its_controller_and_each_agent_and_says_where_its_broker_is() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = FleetFolder::of(home.path(), &Name::of("lab").expect("a name"));
        let made = init(&folder, &wanted("127.0.0.1:4333", None, &["a1", "a2"]));
        let made = made.unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(made.broker, "tls://127.0.0.1:4333");
        let one = folder.agent(&made.agents[0].0).expect("it is read");
        assert_eq!((one.name.as_str(), one.controllers.as_slice()), ("a1", &[made.controller.clone()][..]));
        let config = folder.text("broker.conf").expect("it is there");
        assert!(
            config.contains("127.0.0.1:4333") && config.contains(&one.user_key().expect("a key")),
            "{config}"
        );
        let third = Name::of("a3").expect("a name");
        let config = configure(&folder, std::slice::from_ref(&third)).expect("it is added");
        let key = folder.agent(&third).expect("it is read").user_key().expect("a key");
        assert!(config.contains(&key) && folder.text("broker.conf").expect("it is there") == config);
        assert_eq!(configure(&folder, std::slice::from_ref(&third)).expect("it is there"), config);
        std::fs::remove_file(folder.agent_file(&third)).expect("it is there");
        assert!(
            !configure(&folder, &[]).expect("one less").contains(&key),
            "whose file is removed is no part of it"
        );
        let again = init(&folder, &wanted("127.0.0.1:4333", None, &[])).expect_err("it is there").to_string();
        assert!(again.contains("there is a fleet lab already"), "{again}");
    }

    #[test]
    fn all_that_is_wrong_with_a_fleet_is_said_at_once_and_nothing_is_made() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = FleetFolder::of(home.path(), &Name::of("lab").expect("a name"));
        let refused =
            init(&folder, &wanted("somewhere", None, &["a_1", "a2", "a2"])).expect_err("nothing is right");
        let said = refused.to_string();
        for part in ["`somewhere` is no ADDRESS", "`a_1` is no name", "a2 is named twice"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!folder.path("").exists());
        for (listen, host, said) in [
            ("0.0.0.0:4222", None, "--host says"),
            ("10.0.0.5:0", None, "must know the port"),
            ("10.0.0.5", Some("a b"), "no name or address"),
        ] {
            let refused = address_of(&wanted(listen, host, &[])).expect_err(listen);
            assert!(refused.contains(said), "{refused}");
        }
        let (listen, host, port) = address_of(&wanted("::1", None, &[])).expect("an address");
        assert_eq!((listen.as_str(), host.as_str(), port), ("[::1]:4222", "::1", 4222));
    }
}
