//! What an agent's operator lets it do, whatever a controller wants: `agent.toml`.

use std::net::{IpAddr, ToSocketAddrs};

use engine::{Endpoint, Slice, Target};
use model::record::plan::Load;

/// What may be under load beside this machine itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// A machine by its name, which this agent looks up itself.
    Host(String),
    /// All machines of a network.
    Network {
        /// Its address.
        address: IpAddr,
        /// The number of leading bits that are the network's.
        prefix: u8,
    },
}

impl Allowed {
    /// Reads `shop.example`, `10.0.0.7` or `10.0.0.0/24`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Allowed, String> {
        let wrong = |why: &str| format!("`{text}` is no machine and no network: {why}");
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Allowed::Network { address, prefix: bits(address) });
        }
        let Some((address, prefix)) = text.split_once('/') else {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
            return match !text.is_empty() && text.chars().all(is_name) {
                true => Ok(Allowed::Host(text.to_string())),
                false => Err(wrong("a name has letters, digits, `-` and `.`")),
            };
        };
        let address: IpAddr = address.parse().map_err(|_| wrong("what is before `/` is no address"))?;
        let prefix: u8 = prefix.parse().map_err(|_| wrong("what is after `/` is no number of bits"))?;
        match prefix <= bits(address) {
            true => Ok(Allowed::Network { address, prefix }),
            false => Err(wrong(&format!("an address of that kind has {} bits", bits(address)))),
        }
    }

    fn has(&self, target: IpAddr) -> bool {
        match self {
            Allowed::Host(name) => {
                let addresses = (name.as_str(), 0).to_socket_addrs();
                addresses.is_ok_and(|mut addresses| addresses.any(|address| address.ip() == target))
            }
            Allowed::Network { address: IpAddr::V4(address), prefix } => match target {
                IpAddr::V4(target) => {
                    u32::from(*address).checked_shr(32 - u32::from(*prefix)).unwrap_or(0)
                        == u32::from(target).checked_shr(32 - u32::from(*prefix)).unwrap_or(0)
                }
                IpAddr::V6(_) => false,
            },
            Allowed::Network { address: IpAddr::V6(address), prefix } => match target {
                IpAddr::V6(target) => {
                    u128::from(*address).checked_shr(128 - u32::from(*prefix)).unwrap_or(0)
                        == u128::from(target).checked_shr(128 - u32::from(*prefix)).unwrap_or(0)
                }
                IpAddr::V4(_) => false,
            },
        }
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It drives users.
    Load,
    /// It watches tiers on its machine.
    Observe,
}

impl Role {
    /// Both.
    pub const ALL: [Role; 2] = [Role::Load, Role::Observe];

    /// Its word in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Role::Load => "load",
            Role::Observe => "observe",
        }
    }

    /// The role of that word.
    ///
    /// # Errors
    /// There is none.
    pub fn read(word: &str) -> Result<Role, String> {
        let found = Role::ALL.into_iter().find(|role| role.word() == word);
        found.ok_or_else(|| format!("`{word}` is no role: load, observe"))
    }
}

/// What an agent may do. By default it drives load to its own machine alone, and watches nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Permissions {
    /// What it may be for.
    pub roles: Vec<Role>,
    /// Who may be under load beside this machine.
    pub targets: Vec<Allowed>,
    /// The most users that are this agent's at a time.
    pub max_users: Option<u32>,
    /// The most arrivals a second that are this agent's.
    pub max_rate_per_s: Option<f64>,
    /// The longest run; seconds.
    pub max_duration_s: Option<f64>,
}

impl Default for Permissions {
    fn default() -> Permissions {
        Permissions {
            roles: vec![Role::Load],
            targets: Vec::new(),
            max_users: None,
            max_rate_per_s: None,
            max_duration_s: None,
        }
    }
}

impl Permissions {
    /// Whether it may be used so.
    ///
    /// # Errors
    /// Why not.
    pub fn check_role(&self, role: Role) -> Result<(), String> {
        match self.roles.contains(&role) {
            true => Ok(()),
            false => Err(format!("`{}` is not among the `roles` of this agent", role.word())),
        }
    }

    /// Whether load may go there for so long.
    ///
    /// # Errors
    /// Why not.
    pub fn check_target(&self, target: &Target, load: &Load) -> Result<(), String> {
        match &target.endpoint {
            // It is on this machine.
            Endpoint::Unix(_) => {}
            Endpoint::Tcp(address) => {
                let ip = address.ip();
                if !ip.is_loopback() && !self.targets.iter().any(|allowed| allowed.has(ip)) {
                    return Err(format!("{ip} is not among the `targets` of this agent"));
                }
            }
        }
        let takes_s = load.ramp_up_s + load.steady_s + load.ramp_down_s;
        match self.max_duration_s {
            Some(max_s) if load.sessions.is_some() => Err(format!(
                "a run of a number of sessions takes as long as it takes, and `max_duration` of this agent is {max_s} s"
            )),
            Some(max_s) if takes_s > max_s => {
                Err(format!("the run takes {takes_s} s, and `max_duration` of this agent is {max_s} s"))
            }
            _ => Ok(()),
        }
    }

    /// Whether this part of the load may be this agent's.
    ///
    /// # Errors
    /// Why not.
    pub fn check_part(&self, slice: Slice, load: &Load) -> Result<(), String> {
        let share = f64::from(slice.lanes) / f64::from(slice.all.max(1));
        let users = (f64::from(load.users) * share).ceil();
        if let Some(max) = self.max_users.filter(|max| users > f64::from(*max)) {
            return Err(format!("its part is {users} users, and `max_users` of this agent is {max}"));
        }
        let rate = load.arrivals.map_or(0.0, |open| open.from_per_s.max(open.to_per_s) * share);
        match self.max_rate_per_s {
            Some(max) if rate > max => {
                Err(format!("its part is {rate} arrivals/s, and `max_rate` of this agent is {max}"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use model::catalogue::load::{Arrivals, Arriving, Pattern};

    use super::*;

    fn target(text: &str) -> Target {
        Target::from(text.parse::<SocketAddr>().expect("an address"))
    }

    fn allowing(targets: &[&str]) -> Permissions {
        let targets = targets.iter().map(|text| Allowed::read(text).expect("it is one")).collect();
        Permissions { targets, ..Permissions::default() }
    }

    #[test]
    fn load_goes_to_the_agents_own_machine_unless_its_operator_allows_more() {
        let load = Load::default();
        let nothing = allowing(&[]);
        for own in ["127.0.0.1:80", "127.3.2.1:80", "[::1]:80"] {
            assert_eq!(nothing.check_target(&target(own), &load), Ok(()), "{own}");
        }
        let refused = nothing.check_target(&target("10.1.2.3:80"), &load).expect_err("it is elsewhere");
        assert!(refused.contains("10.1.2.3 is not among the `targets`"), "{refused}");
        for (allowed, there, is_allowed) in [
            ("10.1.2.0/24", "10.1.2.3:80", true),
            ("10.1.2.0/24", "10.1.3.3:80", false),
            ("10.1.2.3", "10.1.2.3:8080", true),
            ("10.1.2.3", "10.1.2.4:80", false),
            ("0.0.0.0/0", "192.0.2.1:80", true),
            ("0.0.0.0/0", "[2001:db8::1]:80", false),
            ("2001:db8::/32", "[2001:db8::1]:80", true),
            ("2001:db8::/32", "[2001:db9::1]:80", false),
        ] {
            let found = allowing(&[allowed]).check_target(&target(there), &load).is_ok();
            assert_eq!(found, is_allowed, "{there} with {allowed} allowed");
        }
    }

    #[test]
    fn an_agent_drives_load_and_watches_nothing_unless_its_operator_says_otherwise() {
        let usual = Permissions::default();
        assert_eq!(usual.check_role(Role::Load), Ok(()));
        let refused = usual.check_role(Role::Observe).expect_err("nobody allowed it");
        assert!(refused.contains("`observe` is not among the `roles`"), "{refused}");
        let observer = Permissions { roles: vec![Role::Observe], ..Permissions::default() };
        assert!(observer.check_role(Role::Load).is_err() && observer.check_role(Role::Observe).is_ok());
        assert_eq!(Role::ALL.map(|role| Role::read(role.word())), Role::ALL.map(Ok));
        assert!(Role::read("watch").expect_err("there is none").contains("load, observe"));
    }

    #[test]
    fn what_is_no_machine_and_no_network_is_refused() {
        for text in ["", "10.0.0.0/33", "shop/24", "10.0.0.0/x", "a b", "http://shop"] {
            let refused = Allowed::read(text).expect_err(text);
            assert!(refused.contains("no machine and no network"), "{refused}");
        }
        assert_eq!(Allowed::read("shop.example"), Ok(Allowed::Host("shop.example".to_string())));
    }

    #[test]
    fn an_agents_share_of_the_load_and_the_length_of_a_run_have_a_limit() {
        let slice = Slice { first: 0, lanes: 1, all: 4 };
        let (pattern, arriving) = (Pattern::Poisson, Arriving::Sessions);
        let arrivals = Some(Arrivals { pattern, arriving, from_per_s: 100.0, to_per_s: 401.0 });
        let load = Load { users: 401, steady_s: 60.0, ramp_up_s: 10.0, arrivals, ..Load::default() };
        let with =
            |max_users, max_rate_per_s| Permissions { max_users, max_rate_per_s, ..Permissions::default() };
        assert_eq!(with(Some(101), Some(101.0)).check_part(slice, &load), Ok(()));
        let refused = with(Some(100), None).check_part(slice, &load).expect_err("one more");
        assert!(refused.contains("101 users") && refused.contains("is 100"), "{refused}");
        let refused = with(None, Some(100.0)).check_part(slice, &load).expect_err("more");
        assert!(refused.contains("100.25 arrivals/s"), "{refused}");
        let brief = Permissions { max_duration_s: Some(69.0), ..Permissions::default() };
        let refused = brief.check_target(&target("127.0.0.1:80"), &load).expect_err("longer");
        assert!(refused.contains("takes 70 s") && refused.contains("is 69 s"), "{refused}");
        let endless = Load { sessions: Some(5), ..load };
        let refused = brief.check_target(&target("127.0.0.1:80"), &endless).expect_err("as long as it takes");
        assert!(refused.contains("as long as it takes"), "{refused}");
    }
}
