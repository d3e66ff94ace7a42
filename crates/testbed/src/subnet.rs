//! The networks that hosts of their own are in, with this host: numbered, so that no two labs have the same, and what is left of one
//! can be removed by whoever finds its number.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use model::{Problem, Result};

use crate::iproute::run;

/// The first address of 198.18.0.0/15, which is for measurements between networks (RFC 2544) and nobody's.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// Addresses of one: the first and the last can't be anybody's.
const EACH: u32 = 256;
/// The number of networks that have room there.
const MAX_SUBNETS: u32 = (1 << 17) / EACH;
/// The number of hosts that have room in one, this host not counted.
pub(crate) const MAX_HOSTS: usize = EACH as usize - 3;
/// The bits that all its addresses have in common.
pub(crate) const PREFIX_BITS: u32 = 24;

/// A network, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subnet(u32);

impl Subnet {
    /// Those that nobody has, as far as can be seen: neither its card nor a route to its addresses is there.
    pub(crate) fn free() -> impl Iterator<Item = Subnet> {
        let routed = routed(&fs::read_to_string("/proc/net/route").unwrap_or_default());
        let taken = move |subnet: &Subnet| routed.iter().any(|network| subnet.overlaps(*network));
        (0..MAX_SUBNETS).map(Subnet).filter(move |subnet| !taken(subnet) && !subnet.is_there())
    }

    /// The name of this host's card in it.
    pub(crate) fn name(self) -> String {
        format!("plim{}", self.0)
    }

    fn address(self) -> u32 {
        FIRST + self.0 * EACH
    }

    /// Its own address, which is nobody's.
    pub(crate) fn network(self) -> Ipv4Addr {
        Ipv4Addr::from(self.address())
    }

    /// The address of this host in it.
    pub(crate) fn near(self) -> Ipv4Addr {
        Ipv4Addr::from(self.address() + 1)
    }

    /// The address of its host `number`, from 0.
    pub(crate) fn far(self, number: usize) -> Ipv4Addr {
        Ipv4Addr::from(self.address() + 2 + number.min(MAX_HOSTS - 1) as u32)
    }

    /// Whether some of its addresses are in a network, given with its mask.
    fn overlaps(self, (network, mask): (u32, u32)) -> bool {
        let both = mask & !(EACH - 1);
        self.address() & both == network & both
    }

    /// Whether this host's card is there.
    pub(crate) fn is_there(self) -> bool {
        card(&self.name()).exists()
    }
}

/// Removes this host's card in a network, if it is there and `owner`'s. What it was joined to ends by itself.
pub(crate) fn remove(name: &str, owner: &str) -> Result<()> {
    let is_there = || {
        let alias = fs::read_to_string(card(name).join("ifalias"));
        alias.is_ok_and(|alias| alias.trim_end() == owner)
    };
    if !is_there() {
        return Ok(());
    }
    match run("ip", &format!("link del dev {name}"), None) {
        // Else the kernel was faster: it removes a card when the last of what is behind it has ended.
        Err(said) if is_there() => {
            Err(Problem::environment(format!("failed to remove the network card {name}: {said}")).into())
        }
        _ => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_names_and_addresses_that_no_other_has() {
        let (first, second, last) = (Subnet(0), Subnet(1), Subnet(MAX_SUBNETS - 1));
        assert_eq!((first.name().as_str(), first.near()), ("plim0", Ipv4Addr::new(198, 18, 0, 1)));
        assert_eq!([0, 1].map(|host| first.far(host)), [2, 3].map(|last| Ipv4Addr::new(198, 18, 0, last)));
        assert_eq!(first.far(MAX_HOSTS - 1), Ipv4Addr::new(198, 18, 0, 254));
        assert_eq!(second.near(), Ipv4Addr::new(198, 18, 1, 1));
        assert_eq!(last.far(0), Ipv4Addr::new(198, 19, 255, 2));
        // The kernel's names have 15 characters at most (IFNAMSIZ).
        assert!(last.name().len() <= 15, "{}", last.name());
    }

    #[test]
    fn a_network_whose_addresses_lead_elsewhere_is_not_free() {
        let text = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
ens5\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
plim1\t000112C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
tun0\t000013C6\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
ens5\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";
        let routed = routed(text);
        assert_eq!(routed.len(), 3, "without the default route");
        let free = |number: u32| routed.iter().all(|network| !Subnet(number).overlaps(*network));
        assert!(free(0) && !free(1) && free(2), "another lab has the second");
        assert!(
            free(MAX_SUBNETS / 2 - 1) && !free(MAX_SUBNETS / 2) && !free(MAX_SUBNETS - 1),
            "198.19 leads into a tunnel"
        );
        assert!(
            Subnet(7).overlaps((FIRST + 7 * EACH + 30, u32::MAX))
                && !Subnet(8).overlaps((FIRST + 7 * EACH, u32::MAX))
        );
    }

    #[test]
    fn a_card_that_is_not_there_or_somebody_elses_is_left_alone() {
        assert_eq!(remove("plimX", "a-lab.0123"), Ok(()));
        // Every machine has this one, and no lab made it.
        assert_eq!(remove("lo", "a-lab.0123"), Ok(()));
        assert!(card("lo").exists(), "it must still be there");
    }
}
