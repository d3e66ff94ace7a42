//! Network cards that a lab made.

use std::fs;

/// The names of the network cards of this host on which the lab with that id wrote that they are its own.
pub fn cards_of(lab: &str) -> Vec<String> {
    let mark = format!("{lab}.");
    let cards = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let alias = |card: &fs::DirEntry| fs::read_to_string(card.path().join("ifalias")).unwrap_or_default();
    let ours = cards.filter(|card| alias(card).starts_with(&mark));
    ours.map(|card| card.file_name().to_string_lossy().into_owned()).collect()
}
