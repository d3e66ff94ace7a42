//! A cache that is full by weight: what was used longest ago goes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub struct Lru<V> {
    entries: HashMap<Arc<[u8]>, Entry<V>>,
    by_age: BTreeMap<u64, Arc<[u8]>>,
    clock: u64,
    weight: u64,
    max_weight: u64,
}

struct Entry<V> {
    value: V,
    used: u64,
    weight: u64,
}

impl<V> Lru<V> {
    pub fn new(max_weight: u64) -> Lru<V> {
        Lru { entries: HashMap::new(), by_age: BTreeMap::new(), clock: 0, weight: 0, max_weight }
    }

    pub fn get(&mut self, key: &[u8]) -> Option<&V> {
        let young = self.clock.saturating_sub(self.entries.len() as u64 / 8);
        let entry = self.entries.get_mut(key)?;
        // One of the youngest is in no danger, and stays where it is.
        if entry.used < young
            && let Some(key) = self.by_age.remove(&entry.used)
        {
            self.clock += 1;
            entry.used = self.clock;
            self.by_age.insert(self.clock, key);
        }
        Some(&entry.value)
    }

    /// Puts it in and makes room; one that is heavier than all room is kept alone.
    pub fn insert(&mut self, key: Arc<[u8]>, value: V, weight: u64) {
        self.remove(&key);
        while self.weight + weight > self.max_weight
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.weight -= self.entries.remove(&oldest).map_or(0, |entry| entry.weight);
        }
        self.clock += 1;
        self.weight += weight;
        self.by_age.insert(self.clock, Arc::clone(&key));
        self.entries.insert(key, Entry { value, used: self.clock, weight });
    }

    pub fn remove(&mut self, key: &[u8]) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_age.remove(&entry.used);
            self.weight -= entry.weight;
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn weight(&self) -> u64 {
        self.weight
    }
}
