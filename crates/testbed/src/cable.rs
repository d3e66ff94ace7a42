//! The cable between this host and a tier's own: a pair of virtual network cards (veth(4)), made, slowed down and removed
//! by the commands of iproute2.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use model::catalogue::tier_setting::{DELAY, HOST, OwnHost, RATE};
use model::{Problem, Result};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// The first address of 198.18.0.0/15, which is for measurements between networks (RFC 2544) and nobody's.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// Addresses of a cable's own network: two are the ends', and the first and the last can't be anybody's.
const EACH: u32 = 4;
/// The number of cables that have room there.
const MAX_CABLES: u32 = (1 << 17) / EACH;
/// The name of the far end: there it is the only card.
const FAR: &str = "eth0";
/// What making a network takes: root of a container has not always the right to.
const NETWORK_TAKES: &str =
    "run as root, in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN, with the package iproute2";
/// Where the programs are, whatever PATH the tool was started with.
const PLACES: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

/// Why a tier can't be on a host of its own here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostRefusal {
    /// Its network, or the cable to it, can't be made.
    Network(String),
    /// The kernel doesn't have, or doesn't let us use, what slows the cable down.
    Discipline {
        /// What was asked for: `net.rate_mbit`.
        setting: &'static str,
        /// What it takes: `tbf`.
        name: &'static str,
        /// What tc said.
        said: String,
    },
}

impl fmt::Display for HostRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostRefusal::Network(said) => write!(f, "no network of its own can be made: {said}"),
            HostRefusal::Discipline { setting, name, said } => {
                write!(f, "{setting} takes the queueing discipline {name}: {said}")
            }
        }
    }
}

impl HostRefusal {
    /// What it takes.
    pub fn remedy(&self) -> String {
        match self {
            HostRefusal::Network(_) => NETWORK_TAKES.to_string(),
            HostRefusal::Discipline { name, .. } => format!("a kernel with sch_{name}"),
        }
    }

    /// As a problem of a tier.
    pub(crate) fn of_tier(self, tier: &str) -> Problem {
        let without = match &self {
            HostRefusal::Network(_) => format!("--set {tier}.{HOST}=shared"),
            HostRefusal::Discipline { setting, .. } => format!("--set {tier}.{setting}=0"),
        };
        let remedy = format!("{} (`plimsoll doctor` says what there is); or {without}", self.remedy());
        Problem::environment(format!("tier {tier} can't be on a host of its own as asked: {self}"))
            .why("with another network between the tiers this would be another measurement")
            .remedy(remedy)
    }
}

/// A cable, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cable(u32);

impl Cable {
    /// Those that nobody has, as far as can be seen: neither its card nor a route to its addresses is there.
    pub(crate) fn free() -> impl Iterator<Item = Cable> {
        let routed = routed(&fs::read_to_string("/proc/net/route").unwrap_or_default());
        let taken = move |cable: &Cable| routed.iter().any(|network| cable.overlaps(*network));
        (0..MAX_CABLES).map(Cable).filter(move |cable| !taken(cable) && !card(&cable.name()).exists())
    }

    /// The name of its near end.
    pub(crate) fn name(self) -> String {
        format!("plim{}", self.0)
    }

    fn network(self) -> u32 {
        FIRST + self.0 * EACH
    }

    fn near(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network() + 1)
    }

    /// The address of its far end.
    pub(crate) fn far(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network() + 2)
    }

    /// Whether some of its addresses are in a network, given with its mask.
    fn overlaps(self, (network, mask): (u32, u32)) -> bool {
        let both = mask & !(EACH - 1);
        self.network() & both == network & both
    }

    /// Makes it: its far end is in the network behind `door`, its near end in ours. `false` when somebody else was
    /// faster.
    pub(crate) fn add(self, door: &OwnedFd) -> Result<bool, HostRefusal> {
        let (name, here) = (self.name(), format!("/proc/{}/ns/net", std::process::id()));
        match run("ip", &format!("link add {FAR} type veth peer name {name} netns {here}"), Some(door)) {
            Ok(()) => Ok(true),
            Err(said) if said.contains("File exists") || card(&name).exists() => Ok(false),
            Err(said) => Err(HostRefusal::Network(said)),
        }
    }

    /// Writes on it whose it is, gives both ends their addresses, and slows it down as asked.
    pub(crate) fn join(self, owner: &str, own: &OwnHost, door: &OwnedFd) -> Result<(), HostRefusal> {
        let (name, near, far) = (self.name(), self.near(), self.far());
        let here = [
            format!("link set dev {name} alias {owner}"),
            format!("addr add {near}/30 dev {name}"),
            format!("link set dev {name} up"),
        ];
        let there = [
            "link set dev lo up".to_string(),
            format!("addr add {far}/30 dev {FAR}"),
            format!("link set dev {FAR} up"),
        ];
        let here = here.iter().map(|line| (line, None));
        for (line, door) in here.chain(there.iter().map(|line| (line, Some(door)))) {
            run("ip", line, door).map_err(HostRefusal::Network)?;
        }
        slow_down(&name, own, None)?;
        slow_down(FAR, own, Some(door))
    }
}

/// Removes the near end of a cable, and with it the other one, if it is there and `owner`'s.
pub(crate) fn remove(name: &str, owner: &str) -> Result<()> {
    let is_there = || {
        let alias = fs::read_to_string(card(name).join("ifalias"));
        alias.is_ok_and(|alias| alias.trim_end() == owner)
    };
    if !is_there() {
        return Ok(());
    }
    match run("ip", &format!("link del dev {name}"), None) {
        // Else the kernel was faster: it removes the cable when the last of the network behind it has ended.
        Err(said) if is_there() => {
            Err(Problem::environment(format!("failed to remove the network card {name}: {said}")).into())
        }
        _ => Ok(()),
    }
}

/// Makes a cable within the network behind `door`, slows one end down, and leaves both to that network's end.
pub(crate) fn try_out(own: &OwnHost, door: &OwnedFd) -> Result<(), HostRefusal> {
    let line = format!("link add {FAR} type veth peer name near");
    run("ip", &line, Some(door)).map_err(HostRefusal::Network)?;
    slow_down(FAR, own, Some(door))
}

fn card(name: &str) -> PathBuf {
    PathBuf::from("/sys/class/net").join(name)
}

/// Networks that have a route, each with its mask. `text` is /proc/net/route, which has both as they lie in memory.
fn routed(text: &str) -> Vec<(u32, u32)> {
    let number = |hex: &str| Some(u32::from_be_bytes(u32::from_str_radix(hex, 16).ok()?.to_ne_bytes()));
    let network = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        Some((number(fields.nth(1)?)?, number(fields.nth(5)?)?))
    };
    // The default route has the mask 0: it leads everywhere, and gives way to any other.
    text.lines().skip(1).filter_map(network).filter(|(_, mask)| *mask != 0).collect()
}

/// What holds back all that an end sends: the setting that it is for, its name, and what tc is told of it.
fn discipline(own: &OwnHost) -> Option<(&'static str, &'static str, String)> {
    match (own.rate_mbit, own.delay_us) {
        (None, None) => None,
        (Some(rate), None) => {
            // What a millisecond carries: a late timer takes nothing from the rate then. Two frames at the least.
            let burst_bytes = rate.saturating_mul(125).max(3_200);
            Some((RATE, "tbf", format!("rate {rate}mbit burst {burst_bytes} latency 50ms")))
        }
        (rate, Some(delay)) => {
            let rate = rate.map(|rate| format!(" rate {rate}mbit")).unwrap_or_default();
            Some((DELAY, "netem", format!("limit 10000 delay {delay}us{rate}")))
        }
    }
}

fn slow_down(device: &str, own: &OwnHost, door: Option<&OwnedFd>) -> Result<(), HostRefusal> {
    let Some((setting, name, told)) = discipline(own) else { return Ok(()) };
    run("tc", &format!("qdisc add dev {device} root {name} {told}"), door)
        .map_err(|said| HostRefusal::Discipline { setting, name, said })
}

/// Moves the calling thread into the network behind `door`. Safe between fork and exec: a system call, and no memory.
pub(crate) fn enter(door: &OwnedFd) -> io::Result<()> {
    move_into_link_name_space(door.as_fd(), Some(LinkNameSpaceType::Network)).map_err(io::Error::from)
}

/// Runs a command of iproute2, in the network behind `door` where one is given; the error is what it said.
fn run(program: &str, line: &str, door: Option<&OwnedFd>) -> Result<(), String> {
    let mut command = Command::new(program);
    command
        .args(line.split_ascii_whitespace())
        .env_clear()
        .env("PATH", PLACES)
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null());
    if let Some(door) = door {
        let door = door.try_clone().map_err(|error| error.to_string())?;
        // SAFETY: the closure runs between fork and exec; it makes one system call on a descriptor that it holds, and
        // neither allocates nor locks.
        unsafe { command.pre_exec(move || enter(&door)) };
    }
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("there is no program {program}"),
        _ => format!("{program} can't be started: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(format!("`{program} {line}` ended with {}: {said}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cables_have_names_and_addresses_that_no_other_has() {
        let (first, second, last) = (Cable(0), Cable(1), Cable(MAX_CABLES - 1));
        assert_eq!((first.name().as_str(), first.near()), ("plim0", Ipv4Addr::new(198, 18, 0, 1)));
        assert_eq!(first.far(), Ipv4Addr::new(198, 18, 0, 2));
        assert_eq!(second.near(), Ipv4Addr::new(198, 18, 0, 5));
        assert_eq!(last.far(), Ipv4Addr::new(198, 19, 255, 254));
        // The kernel's names have 15 characters at most (IFNAMSIZ).
        assert!(last.name().len() <= 15, "{}", last.name());
    }

    #[test]
    fn a_cable_whose_addresses_lead_elsewhere_is_not_free() {
        let text = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
ens5\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
plim1\t040012C6\t00000000\t0001\t0\t0\t0\tFCFFFFFF\t0\t0\t0
tun0\t000013C6\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
ens5\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";
        let routed = routed(text);
        assert_eq!(routed.len(), 3, "without the default route");
        let free = |number: u32| routed.iter().all(|network| !Cable(number).overlaps(*network));
        assert!(free(0) && !free(1) && free(2), "another lab has the second");
        assert!(
            free(MAX_CABLES / 2 - 1) && !free(MAX_CABLES / 2) && !free(MAX_CABLES - 1),
            "198.19 leads into a tunnel"
        );
        assert!(Cable(7).overlaps((FIRST + 30, u32::MAX)) && !Cable(8).overlaps((FIRST + 30, u32::MAX)));
    }

    #[test]
    fn a_rate_takes_a_bucket_and_a_delay_an_emulated_network() {
        let told = |rate_mbit, delay_us| {
            discipline(&OwnHost { rate_mbit, delay_us }).map(|(_, name, told)| format!("{name} {told}"))
        };
        assert_eq!(told(None, None), None);
        assert_eq!(told(Some(1000), None).as_deref(), Some("tbf rate 1000mbit burst 125000 latency 50ms"));
        assert_eq!(told(Some(10), None).as_deref(), Some("tbf rate 10mbit burst 3200 latency 50ms"));
        assert_eq!(told(None, Some(50)).as_deref(), Some("netem limit 10000 delay 50us"));
        let both = "netem limit 10000 delay 50us rate 100mbit";
        assert_eq!(told(Some(100), Some(50)).as_deref(), Some(both));
    }

    #[test]
    fn a_refusal_names_what_is_missing_and_how_to_run_without() {
        let said = "`tc …` ended with exit status: 2: Error: Specified qdisc kind is unknown.".to_string();
        let refusal = HostRefusal::Discipline { setting: DELAY, name: "netem", said };
        let text = refusal.of_tier("db").to_string();
        assert!(text.contains("netem") && text.contains("--set db.net.delay_us=0"), "{text}");
        let text = HostRefusal::Network("Operation not permitted".to_string()).of_tier("db").to_string();
        assert!(text.contains("root") && text.contains("--set db.net.host=shared"), "{text}");
    }

    #[test]
    fn what_a_command_says_when_it_fails_is_told_with_the_command() {
        let said = run("ls", "/nonexistent-of-a-test", None).expect_err("it is not there");
        assert!(said.starts_with("`ls /nonexistent-of-a-test` ended with exit status"), "{said}");
        assert!(said.contains("No such file"), "{said}");
        let said = run("no-such-program-at-all", "x", None).expect_err("there is none");
        assert_eq!(said, "there is no program no-such-program-at-all");
    }

    #[test]
    fn a_card_that_is_not_there_or_somebody_elses_is_left_alone() {
        assert_eq!(remove("plimX", "a-lab.0123"), Ok(()));
        // Every machine has this one, and no lab made it.
        assert_eq!(remove("lo", "a-lab.0123"), Ok(()));
        assert!(card("lo").exists(), "it must still be there");
    }
}
