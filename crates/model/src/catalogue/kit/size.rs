//! How much data: a size is asked for by its name, in bytes, or by the numbers that scripts see.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KitManifest;
use crate::record::study::SizeForUsers;
use crate::units;

/// The largest number that a size can have: up to here every whole number is one of its own.
const LARGEST: u64 = 1 << 53;

/// How a size such as `30mb` follows from the named ones: a named size's numbers times (asked for / its nominal
/// bytes).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomSize {
    /// What the named sizes are called in bytes: `small = "10mb"`. Asking for exactly this gives the named size.
    pub nominal: BTreeMap<String, String>,
    /// Which named size is scaled, by the first entry that applies.
    pub scale: Vec<Scale>,
}

/// One entry of [`CustomSize::scale`].
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Applies to sizes below this; to all when absent.
    pub below: Option<String>,
    /// The named size whose numbers are scaled.
    pub from: String,
}

/// A number of every size that follows from another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The number of `[sizes]` that it follows from.
    pub of: String,
    /// How many for each of those; what comes out is rounded, and at least 1.
    pub times: f64,
}

impl KitManifest {
    /// The numbers of a size, with those that follow from others. It is a name of `[sizes]`, its initial, bytes (`30mb`)
    /// where the kit says how to scale, or all numbers themselves (`items=1000,browsers=20`).
    pub fn size(&self, asked: &str) -> Result<BTreeMap<String, f64>, String> {
        let said = if asked.contains('=') { self.by_numbers(asked)? } else { self.by_name_or_bytes(asked)? };
        self.with_derived(said)
    }

    /// What a size is called whose numbers are these: by the kit's own name for them, if it has one, so that the same
    /// data are called the same however they were asked for.
    pub fn size_label(&self, asked: &str, numbers: &BTreeMap<String, f64>) -> String {
        let wanted = asked.to_lowercase();
        if self.sizes.contains_key(&wanted) {
            return wanted;
        }
        let same = |name: &&String| self.size(name).is_ok_and(|own| own == *numbers);
        if let Some(name) = self.sizes.keys().find(same) {
            return name.clone();
        }
        if !asked.contains('=') {
            return wanted;
        }
        let said = numbers.iter().filter(|(name, _)| !self.derived.contains_key(*name));
        let pairs: Vec<String> = said.map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(",")
    }

    /// The default size and those that a search for the load line goes on with, each with the users that it is for; empty for
    /// a kit whose data are for any number of users.
    pub fn sizes_for_users(&self) -> Vec<SizeForUsers> {
        let all = std::iter::once(&self.default_size).chain(&self.larger_sizes);
        let one = |size: &String| {
            let users = self.most_users(&self.size(size).ok()?)?;
            Some(SizeForUsers { size: size.clone(), users })
        };
        all.filter_map(one).collect()
    }

    /// The numbers that a size says, of all of `[sizes]`.
    pub fn size_numbers(&self) -> BTreeSet<&str> {
        self.sizes.values().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    fn with_derived(&self, mut numbers: BTreeMap<String, f64>) -> Result<BTreeMap<String, f64>, String> {
        let follows = |(name, Derived { of, times }): (&String, &Derived)| {
            let value = numbers.get(of).map(|base| (base * times).round().max(1.0));
            let lacking = || format!("`{name}` follows from `{of}`, which the size lacks");
            value.map(|value| (name.clone(), value)).ok_or_else(lacking)
        };
        let derived: Vec<(String, f64)> = self.derived.iter().map(follows).collect::<Result<_, String>>()?;
        numbers.extend(derived);
        Ok(numbers)
    }

    fn by_numbers(&self, asked: &str) -> Result<BTreeMap<String, f64>, String> {
        let known = self.size_numbers();
        let list = known.iter().copied().collect::<Vec<_>>().join(", ");
        if known.is_empty() {
            return Err(format!("`{asked}`: the sizes of this kit have no numbers"));
        }
        let (mut numbers, mut faults) = (BTreeMap::new(), Vec::new());
        for pair in asked.split(',').map(str::trim) {
            let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
            let name = name.trim();
            if let Some(derived) = self.derived.get(name) {
                faults.push(format!("`{name}` follows from `{}`: say that one", derived.of));
            } else if !known.contains(name) {
                faults.push(format!("`{name}` is no number of this kit's sizes, which have {list}"));
            } else if let Some(value) = whole(text) {
                if numbers.insert(name.to_string(), value).is_some() {
                    faults.push(format!("`{name}` is said twice"));
                }
            } else {
                faults.push(format!("`{pair}`: a number of a size is whole, and 1 or more"));
            }
        }
        if faults.is_empty() {
            let lacking = known.iter().filter(|name| !numbers.contains_key(**name));
            faults.extend(lacking.map(|name| format!("`{asked}` doesn't say `{name}`: a size has {list}")));
        }
        if faults.is_empty() { Ok(numbers) } else { Err(faults.join("; ")) }
    }

    fn by_name_or_bytes(&self, asked: &str) -> Result<BTreeMap<String, f64>, String> {
        let wanted = asked.to_lowercase();
        if let Some(values) = self.sizes.get(&wanted) {
            return Ok(values.clone());
        }
        let names: Vec<&str> = self.sizes.keys().map(String::as_str).collect();
        let by_initial: Vec<&&str> =
            names.iter().filter(|name| wanted.len() == 1 && name.starts_with(&wanted)).collect();
        if let [name] = by_initial[..] {
            return Ok(self.sizes[*name].clone());
        }
        let unknown = |others: &str| {
            let numbers: Vec<String> = self.size_numbers().iter().map(|name| format!("{name}=…")).collect();
            let numbers = numbers.join(",");
            let or = if numbers.is_empty() { "" } else { ", or " };
            format!("`{asked}` is not a size of this kit; it has {}{others}{or}{numbers}", names.join(", "))
        };
        let Some(custom) = &self.custom_size else { return Err(unknown("")) };
        let bytes = units::size_bytes(&wanted).map_err(|_| unknown(", or bytes such as 30mb"))?;
        if bytes == 0 {
            return Err("a data set of no bytes can't be measured".to_string());
        }
        self.by_bytes(custom, bytes, asked)
    }

    fn by_bytes(
        &self,
        custom: &CustomSize,
        bytes: u64,
        asked: &str,
    ) -> Result<BTreeMap<String, f64>, String> {
        let nominal = |name: &str| {
            let text =
                custom.nominal.get(name).ok_or_else(|| format!("custom_size.nominal lacks `{name}`"))?;
            units::size_bytes(text)
        };
        for name in custom.nominal.keys() {
            if nominal(name)? == bytes {
                return self
                    .sizes
                    .get(name)
                    .cloned()
                    .ok_or_else(|| format!("custom_size names no size `{name}`"));
            }
        }
        for scale in &custom.scale {
            let below = scale.below.as_deref().map(units::size_bytes).transpose()?;
            if below.is_none_or(|below| bytes < below) {
                let base = self.sizes.get(&scale.from).ok_or_else(|| format!("no size `{}`", scale.from))?;
                let factor = bytes as f64 / nominal(&scale.from)? as f64;
                return Ok(base
                    .iter()
                    .map(|(key, value)| (key.clone(), (value * factor).round().max(1.0)))
                    .collect());
            }
        }
        Err(format!("the kit does not say how to make a data set of {asked}"))
    }
}

/// A whole number from 1 on, as people write it: `10000` or `10_000`.
fn whole(text: &str) -> Option<f64> {
    let number: u64 = text.trim().replace('_', "").parse().ok()?;
    (1..=LARGEST).contains(&number).then_some(number as f64)
}
