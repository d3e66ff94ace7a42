//! When a packet that comes now is given on, and to whom.

use std::cmp::Ordering;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use model::catalogue::tier_setting::OwnHost;

use super::tun::HEADER_BYTES;

/// Packets that are held at most; more are lost. As netem's `limit` in a cable of the kernel's.
const MAX_HELD: usize = 10_000;
/// What numbers are drawn for.
const LOST: u64 = 0;
const LATE: u64 = 1;
/// Where an IPv4 header has the address that a packet goes to (RFC 791).
const DESTINATION: usize = 16;

/// All ways between the hosts of a switch.
#[derive(Debug)]
pub(super) struct Wires {
    ports: Vec<Port>,
    /// Of each pair, when the last packet from the one to the other is given on: none overtakes another.
    last_due: Vec<Option<Instant>>,
    number: u64,
}

/// A host, as the switch sees it.
#[derive(Debug)]
struct Port {
    addresses: Vec<Ipv4Addr>,
    host: OwnHost,
    /// When what the host has sent, and what was sent to it, has passed its own cable.
    sent_at: Option<Instant>,
    got_at: Option<Instant>,
}

/// A packet on its way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) due: Instant,
    /// Those that are due at the same moment keep their order.
    number: u64,
    /// The number of the host that gets it.
    pub(super) to: usize,
    pub(super) packet: Box<[u8]>,
}

impl Ord for Held {
    /// The earliest is the greatest: a heap gives that one first.
    fn cmp(&self, other: &Held) -> Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Wires {
    /// Between hosts at these addresses, each with what is done to packets from and to it.
    pub(super) fn new(hosts: impl IntoIterator<Item = (Vec<Ipv4Addr>, OwnHost)>) -> Wires {
        let port = |(addresses, host)| Port { addresses, host, sent_at: None, got_at: None };
        let ports: Vec<Port> = hosts.into_iter().map(port).collect();
        let last_due = vec![None; ports.len() * ports.len()];
        Wires { ports, last_due, number: 0 }
    }

    /// A packet from host `from` that comes at `now`, where `held` are on their way; nothing where it is for nobody here, there is
    /// no room for it, or it gets lost.
    pub(super) fn held(&mut self, from: usize, packet: &[u8], now: Instant, held: usize) -> Option<Held> {
        let to = self.destination(packet)?;
        if held >= MAX_HELD {
            return None;
        }
        self.number += 1;
        let passed = |free_at: Option<Instant>, host: &OwnHost| {
            free_at.map_or(now, |free_at| free_at.max(now)) + passage(host, packet.len())
        };
        let sent_at = passed(self.ports[from].sent_at, &self.ports[from].host);
        self.ports[from].sent_at = Some(sent_at);
        // Both cables carry at once: where nothing else is on them the slower one alone counts.
        let got_at = passed(self.ports[to].got_at, &self.ports[to].host).max(sent_at);
        self.ports[to].got_at = Some(got_at);
        let loss_ppm = [from, to].iter().map(|port| self.ports[*port].host.loss_ppm.unwrap_or(0)).max();
        if self.drawn(LOST) % 1_000_000 < u64::from(loss_ppm.unwrap_or(0)) {
            return None;
        }
        let due = got_at + self.delay(from, to);
        let last_due = &mut self.last_due[from * self.ports.len() + to];
        let due = last_due.map_or(due, |last_due| last_due.max(due));
        *last_due = Some(due);
        Some(Held { due, number: self.number, to, packet: packet.into() })
    }

    fn destination(&self, packet: &[u8]) -> Option<usize> {
        let header = packet.get(HEADER_BYTES..)?;
        if header.first()? >> 4 != 4 {
            return None;
        }
        let address: [u8; 4] = header.get(DESTINATION..DESTINATION + 4)?.try_into().ok()?;
        self.ports.iter().position(|port| port.addresses.contains(&Ipv4Addr::from(address)))
    }

    /// Of the packet that has come last. Between two hosts that are both away it is the longer way that counts.
    fn delay(&self, from: usize, to: usize) -> Duration {
        let of = |port: usize| {
            (self.ports[port].host.delay_us.unwrap_or(0), self.ports[port].host.jitter_us.unwrap_or(0))
        };
        let (delay_us, jitter_us) = of(from).max(of(to));
        let (delay_us, jitter_us) = (u64::from(delay_us), u64::from(jitter_us.min(delay_us)));
        Duration::from_micros(delay_us - jitter_us + self.drawn(LATE) % (2 * jitter_us + 1))
    }

    /// A number that depends on the packet's own and on what it is drawn for: the same for each run.
    fn drawn(&self, purpose: u64) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut mixed = self.number.wrapping_mul(2).wrapping_add(purpose).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// How long a cable's rate makes a packet take.
fn passage(host: &OwnHost, bytes: usize) -> Duration {
    let bits = bytes.saturating_sub(HEADER_BYTES) as u64 * 8;
    // A Mbit/s is a bit each microsecond.
    host.rate_mbit.map_or(Duration::ZERO, |rate| Duration::from_nanos(bits * 1_000 / u64::from(rate.max(1))))
}

#[cfg(test)]
mod tests {
    use std::collections::BinaryHeap;

    use super::*;

    const HERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
    const FAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
    const FARTHER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 3);

    /// 1,000 bytes and their header, for a host at `to`.
    fn packet(to: Ipv4Addr) -> Vec<u8> {
        let mut packet = vec![0; HEADER_BYTES + 1_000];
        packet[HEADER_BYTES] = 0x45;
        packet[HEADER_BYTES + DESTINATION..HEADER_BYTES + DESTINATION + 4].copy_from_slice(&to.octets());
        packet
    }

    fn away(delay_us: u32, rate_mbit: Option<u32>) -> OwnHost {
        OwnHost { delay_us: Some(delay_us), rate_mbit, ..OwnHost::default() }
    }

    /// This host, and one that is away.
    fn wires(host: OwnHost) -> Wires {
        Wires::new([(vec![HERE], OwnHost::default()), (vec![FAR], host)])
    }

    fn after_us(wires: &mut Wires, (from, to): (usize, Ipv4Addr), start: Instant, at_us: u64) -> u128 {
        let now = start + Duration::from_micros(at_us);
        let held = wires.held(from, &packet(to), now, 0).expect("there is room");
        held.due.duration_since(start).as_micros()
    }

    #[test]
    fn a_packet_is_held_for_the_delay_whatever_comes_beside_it_in_either_direction() {
        let (mut wires, start) = (wires(away(2_000, None)), Instant::now());
        let there = [0, 0, 10].map(|at_us| after_us(&mut wires, (0, FAR), start, at_us));
        assert_eq!(there, [2_000, 2_000, 2_010]);
        assert_eq!(after_us(&mut wires, (1, HERE), start, 10), 2_010);
    }

    #[test]
    fn between_two_hosts_that_are_both_away_the_longer_way_counts() {
        let hosts = [(HERE, OwnHost::default()), (FAR, away(1_000, None)), (FARTHER, away(3_000, None))]
            .map(|(at, host)| (vec![at], host));
        let (mut wires, start) = (Wires::new(hosts), Instant::now());
        assert_eq!(after_us(&mut wires, (1, FARTHER), start, 0), 3_000);
        assert_eq!(after_us(&mut wires, (2, FAR), start, 0), 3_000);
        assert_eq!(after_us(&mut wires, (0, FAR), start, 0), 1_000);
    }

    #[test]
    fn a_rate_lets_packets_pass_one_after_the_other() {
        // 8,000 bits at 8 Mbit/s take 1 ms.
        for (from, to) in [(0, FAR), (1, HERE)] {
            let (mut wires, start) = (wires(away(2_000, Some(8))), Instant::now());
            let due = [0, 0, 500, 9_000].map(|at_us| after_us(&mut wires, (from, to), start, at_us));
            assert_eq!(due, [3_000, 4_000, 5_000, 12_000], "the last one comes when the cable is free again");
        }
    }

    #[test]
    fn packets_that_are_due_together_keep_their_order_and_a_full_switch_loses_the_next() {
        let (mut wires, now) = (wires(away(1_000, None)), Instant::now());
        let packet = packet(FAR);
        let mut heap: BinaryHeap<Held> =
            (0..3).filter_map(|held| wires.held(0, &packet, now, held)).collect();
        let order: Vec<u64> = std::iter::from_fn(|| heap.pop()).map(|held| held.number).collect();
        assert_eq!(order, [1, 2, 3]);
        assert_eq!(wires.held(0, &packet, now, MAX_HELD), None);
    }

    #[test]
    fn what_is_for_nobody_here_goes_nowhere() {
        let (mut wires, now) = (wires(away(1_000, None)), Instant::now());
        assert_eq!(wires.held(0, &packet(Ipv4Addr::new(9, 9, 9, 9)), now, 0), None);
        let mut newer = packet(FAR);
        newer[HEADER_BYTES] = 0x60;
        assert_eq!(wires.held(0, &newer, now, 0), None, "IPv6");
        assert_eq!(wires.held(0, &[0; 3], now, 0), None, "no packet at all");
    }

    #[test]
    fn jitter_is_on_both_sides_of_the_delay_and_no_packet_overtakes_another() {
        let host = OwnHost { jitter_us: Some(500), ..away(10_000, None) };
        let (mut wires, start) = (wires(host), Instant::now());
        // So far apart that none has to wait for the one before.
        let delay =
            |number: u64| after_us(&mut wires, (0, FAR), start, number * 2_000) - u128::from(number) * 2_000;
        let delays: Vec<u128> = (0..1_000).map(delay).collect();
        assert!(delays.iter().all(|delay| (9_500..=10_500).contains(delay)), "{delays:?}");
        assert!(delays.iter().min() < Some(&9_520) && delays.iter().max() > Some(&10_480), "{delays:?}");
        let mean = delays.iter().sum::<u128>() as f64 / 1_000.0;
        assert!((mean - 10_000.0).abs() < 40.0, "{mean}");
        let due: Vec<u128> = (0..100).map(|_| after_us(&mut wires, (0, FAR), start, 3_000_000)).collect();
        assert!(due.is_sorted(), "{due:?}");
    }

    #[test]
    fn as_many_packets_get_lost_as_were_asked_for() {
        let host = OwnHost { loss_ppm: Some(10_000), ..OwnHost::default() };
        let (mut wires, now) = (wires(host), Instant::now());
        let packet = packet(FAR);
        let lost = (0..100_000).filter(|_| wires.held(0, &packet, now, 0).is_none()).count();
        assert!((850..1_150).contains(&lost), "1 % of 100,000: {lost}");
    }
}
