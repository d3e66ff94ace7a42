//! Where a run's servers were, drawn: those on this machine's network in one frame, every host of its own in another, and the
//! links between them.

use std::iter::repeat;

use model::record::{Carrier, LinkResult, NetworkSetup, Setup, TierSetup};
use serde_json::{Value, json};

use super::text::{thin_groups, tier_class};
use crate::figures;

/// Pixels of a box for a server, of the room around it, and of the line below all frames.
const BOX: (f64, f64) = (92.0, 30.0);
const MARGIN: f64 = 10.0;
const GAP: f64 = 26.0;
const TITLE: f64 = 18.0;
const DROP: f64 = 26.0;
/// Servers of this machine's network that stand above each other.
const HIGH: usize = 3;

/// A frame with its servers, in the order in which they are drawn.
struct Frame {
    title: String,
    boxes: Vec<(String, String)>,
}

/// What is drawn of a set-up, with what its links did; absent where there is one server of each kind, all on this machine's
/// network.
pub(super) fn of(setup: &Setup, measured: &[LinkResult]) -> Option<Value> {
    let several = setup.tiers.iter().any(|tier| tier.instances > 1 || tier.network.is_some());
    if !several {
        return None;
    }
    let mut x = 0.0;
    let frames: Vec<Value> = frames(&setup.tiers).iter().map(|frame| drawn(frame, &mut x)).collect();
    let links = setup.tiers.iter().filter_map(|tier| Some(sentence(tier, tier.network.as_ref()?, measured)));
    let height = TITLE + HIGH as f64 * (BOX.1 + MARGIN) + MARGIN;
    Some(json!({
        "width": x - GAP,
        "height": height + DROP,
        "frame_height": height,
        "box": {"width": BOX.0, "height": BOX.1},
        "line_y": height + DROP - 2.0,
        "frames": frames,
        "links": links.collect::<Vec<_>>(),
    }))
}

fn frames(tiers: &[TierSetup]) -> Vec<Frame> {
    let names = |tier: &TierSetup| -> Vec<(String, String)> {
        let name = |number: u32| match tier.instances {
            1 => tier.tier.clone(),
            _ => format!("{}-{number}", tier.tier),
        };
        (1..=tier.instances).map(|number| (tier.tier.clone(), name(number))).collect()
    };
    let here = tiers.iter().filter(|tier| tier.network.is_none()).rev().flat_map(names);
    let users = ("generator".to_string(), "users".to_string());
    let here = Frame { title: "this host".to_string(), boxes: [users].into_iter().chain(here).collect() };
    let mut all = vec![here];
    for tier in tiers.iter().filter(|tier| tier.network.is_some()).rev() {
        let hosts =
            tier.network.iter().flat_map(|network| network.hosts.iter().map(Some)).chain(repeat(None));
        for (server, host) in names(tier).into_iter().zip(hosts) {
            let title = host.map_or_else(|| format!("host of {}", server.1), |host| format!("host {host}"));
            match all.iter_mut().find(|frame| host.is_some() && frame.title == title) {
                Some(frame) => frame.boxes.push(server),
                None => all.push(Frame { title, boxes: vec![server] }),
            }
        }
    }
    all
}

/// A frame at `x`, which is then where the next one begins.
fn drawn(frame: &Frame, x: &mut f64) -> Value {
    let columns = frame.boxes.len().div_ceil(HIGH);
    let width = columns as f64 * (BOX.0 + MARGIN) + MARGIN;
    let boxes = frame.boxes.iter().enumerate().map(|(at, (tier, name))| {
        json!({
            "name": name,
            "class": tier_class(tier, 0),
            "x": *x + MARGIN + (at / HIGH) as f64 * (BOX.0 + MARGIN),
            "y": TITLE + MARGIN + (at % HIGH) as f64 * (BOX.1 + MARGIN),
        })
    });
    let value = json!({
        "title": frame.title,
        "x": *x,
        "width": width,
        "middle": *x + width / 2.0,
        "boxes": boxes.collect::<Vec<_>>(),
    });
    *x += width + GAP;
    value
}

/// `db: metro-2ms, 1 000 Mbit/s, each packet held for 1 ms in each direction, by a process of the tool's; a byte there and back took 2.03 ms`.
fn sentence(tier: &TierSetup, network: &NetworkSetup, measured: &[LinkResult]) -> String {
    let us = |us: u32| figures::time(Some(f64::from(us) / 1e6));
    let host = &network.host;
    let parts = [
        network.link.clone(),
        host.rate_mbit.map(|rate| format!("{} Mbit/s", figures::number(Some(f64::from(rate))))),
        host.delay_us.map(|delay| format!("each packet held for {} in each direction", us(delay))),
        host.jitter_us.map(|jitter| format!("{} more or less", us(jitter))),
        host.loss_ppm.map(|ppm| format!("{} of packets lost", figures::percent(Some(f64::from(ppm) / 1e6)))),
        host.cpu_us.map(|cost| format!("{} of the sender's CPU time for each packet", us(cost))),
        Some(match network.carried_by {
            Carrier::Kernel => "by the kernel".to_string(),
            Carrier::Process => "by a process of the tool's, whose CPU time is the tier network".to_string(),
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let took = measured.iter().find(|link| link.tier == tier.tier).map(|link| {
        let after = link.after_s.map(|after_s| format!(", {} after them", figures::time(Some(after_s))));
        let before = figures::time(Some(link.before_s));
        format!("; a byte there and back took {before} before the users{}", after.unwrap_or_default())
    });
    thin_groups(&format!("{}: {}{}", tier.tier, parts.join(", "), took.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::catalogue::tier_setting::OwnHost;

    use super::*;

    fn tier(name: &str, instances: u32, link: Option<&str>) -> TierSetup {
        let host = OwnHost { delay_us: Some(1_000), ..OwnHost::default() };
        let network = link.map(|link| NetworkSetup {
            link: Some(link.to_string()),
            hosts: Vec::new(),
            host,
            carried_by: Carrier::Process,
        });
        TierSetup {
            tier: name.to_string(),
            service: name.to_string(),
            version: "1".to_string(),
            built: None,
            instances,
            network,
            values: BTreeMap::new(),
            files: BTreeMap::new(),
            counters: BTreeMap::new(),
        }
    }

    #[test]
    fn each_instance_on_a_host_of_its_own_has_a_frame_and_the_others_share_one() {
        let tiers = [tier("db", 3, Some("metro-2ms")), tier("web", 1, None)];
        let frames = frames(&tiers);
        let titles: Vec<&str> = frames.iter().map(|frame| frame.title.as_str()).collect();
        assert_eq!(titles, ["this host", "host of db-1", "host of db-2", "host of db-3"]);
        let here: Vec<&str> = frames[0].boxes.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(here, ["users", "web"]);
    }

    #[test]
    fn a_link_is_told_with_what_it_does_to_packets_and_who_does_it() {
        let db = tier("db", 2, Some("metro-2ms"));
        let measured =
            LinkResult { tier: "db".to_string(), asked_s: 0.002, before_s: 0.00203, after_s: None };
        let said = sentence(&db, db.network.as_ref().expect("it has one"), &[measured]);
        assert!(said.starts_with("db: metro-2ms, each packet held for 1"), "{said}");
        assert!(said.contains("by a process of the tool's"), "{said}");
        assert!(said.contains("a byte there and back took 2.03"), "{said}");
    }
}
