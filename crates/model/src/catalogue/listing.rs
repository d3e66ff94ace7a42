//! What the catalogue has, as a program reads it: `plimsoll list --json`, and what forms are made of.

use std::collections::BTreeMap;

use serde::Serialize;

use super::link_file::LinkFile;
use super::setting::Setting;
use super::stack::StackTier;
use super::tier_setting;
use crate::{Catalogue, Result};

/// What the catalogue has, by kind, each in the order of names.
#[derive(Debug, Default, Serialize)]
pub struct Listing {
    /// Workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kits: Vec<KitListing>,
    /// Services composed into tiers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackListing>,
    /// Server programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceListing>,
    /// Files that ask for many runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub studies: Vec<StudyListing>,
    /// Ways between hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkFile>,
    /// Where instances stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<Titled>,
    /// Targets under a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub presets: Vec<PresetListing>,
}

/// A workload.
#[derive(Debug, Serialize)]
pub struct KitListing {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// For people.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// The stack that it runs on unless another is named.
    pub default_stack: String,
    /// Every stack that has what it needs.
    pub stacks: Vec<String>,
    /// The size of its data unless another is named.
    pub default_size: String,
    /// Each size with its numbers.
    pub sizes: BTreeMap<String, BTreeMap<String, f64>>,
    /// Mixes beside the default one.
    pub mixes: Vec<String>,
    /// What `--param` sets.
    pub params: Vec<Setting>,
}

/// Services composed into tiers.
#[derive(Debug, Serialize)]
pub struct StackListing {
    /// Its name.
    pub name: String,
    /// For people.
    pub title: String,
    /// Its tiers, in the order in which they start.
    pub tiers: Vec<StackTier>,
}

/// A server program.
#[derive(Debug, Serialize)]
pub struct ServiceListing {
    /// Its name.
    pub name: String,
    /// For people.
    pub title: String,
    /// Its own, set by `--set NAME.KNOB`.
    pub knobs: Vec<Setting>,
    /// Of the tier that it runs in, set by `--set TIER.NAME`.
    pub of_tier: Vec<Setting>,
}

/// A file that asks for many runs.
#[derive(Debug, Serialize)]
pub struct StudyListing {
    /// Its name.
    pub name: String,
    /// For people.
    pub title: String,
    /// What it repeats.
    pub source: String,
    /// The workload.
    pub kit: String,
}

/// What has a name and a title.
#[derive(Debug, Serialize)]
pub struct Titled {
    /// Its name.
    pub name: String,
    /// For people.
    pub title: String,
}

/// Targets under a name.
#[derive(Debug, Serialize)]
pub struct PresetListing {
    /// Its name.
    pub name: String,
    /// For people.
    pub title: String,
    /// Where they come from.
    pub source: String,
    /// Each as `--qos` takes it.
    pub targets: Vec<String>,
}

impl Listing {
    /// All of `catalogue`, or what is called `name` in it: a stack may be called like its one server.
    ///
    /// # Errors
    /// A file of the catalogue that is wrong.
    pub fn of(catalogue: &Catalogue, name: Option<&str>) -> Result<Listing> {
        let meant = |one: &&str| name.is_none_or(|name| name == *one);
        let topology = |name: &str| -> Result<Titled> {
            Ok(Titled { name: name.to_string(), title: catalogue.topology(name)?.title })
        };
        Ok(Listing {
            kits: each(catalogue.kits(), meant, |name| KitListing::of(catalogue, name))?,
            stacks: each(catalogue.stacks(), meant, |name| stack(catalogue, name))?,
            services: each(catalogue.services(), meant, |name| ServiceListing::of(catalogue, name))?,
            studies: each(catalogue.studies(), meant, |name| study(catalogue, name))?,
            links: each(catalogue.links(), meant, |name| catalogue.link(name))?,
            topologies: each(catalogue.topologies(), meant, topology)?,
            presets: each(catalogue.presets(), meant, |name| preset(catalogue, name))?,
        })
    }
}

impl Listing {
    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        let Listing { kits, stacks, services, studies, links, topologies, presets } = self;
        kits.is_empty()
            && stacks.is_empty()
            && services.is_empty()
            && studies.is_empty()
            && links.is_empty()
            && topologies.is_empty()
            && presets.is_empty()
    }
}

fn each<T>(
    names: Vec<&str>,
    meant: impl Fn(&&str) -> bool,
    of: impl Fn(&str) -> Result<T>,
) -> Result<Vec<T>> {
    names.into_iter().filter(meant).map(of).collect()
}

impl KitListing {
    /// The kit of that name.
    pub fn of(catalogue: &Catalogue, name: &str) -> Result<KitListing> {
        let kit = catalogue.kit(name)?;
        let mut stacks = Vec::new();
        for stack in catalogue.stacks() {
            if catalogue.stack(stack)?.lacking(&kit).next().is_none() {
                stacks.push(stack.to_string());
            }
        }
        Ok(KitListing {
            name: name.to_string(),
            version: kit.version,
            title: kit.title,
            source: kit.source,
            default_stack: kit.default_stack,
            stacks,
            default_size: kit.default_size,
            sizes: kit.sizes,
            mixes: kit.mixes.into_keys().collect(),
            params: kit.params,
        })
    }
}

impl ServiceListing {
    /// The service of that name.
    pub fn of(catalogue: &Catalogue, name: &str) -> Result<ServiceListing> {
        let service = catalogue.service(name)?;
        let mut of_tier = tier_setting::all(service.instances.max);
        // A server that is only reached from this host can be on no other one, and has no cable.
        of_tier.retain(|one| service.own_host || !one.name.starts_with("net."));
        Ok(ServiceListing { name: name.to_string(), title: service.title, knobs: service.knobs, of_tier })
    }
}

fn stack(catalogue: &Catalogue, name: &str) -> Result<StackListing> {
    let stack = catalogue.stack(name)?;
    Ok(StackListing { name: name.to_string(), title: stack.title, tiers: stack.tiers })
}

fn study(catalogue: &Catalogue, name: &str) -> Result<StudyListing> {
    let (study, ..) = catalogue.study(name)?;
    Ok(StudyListing { name: name.to_string(), title: study.title, source: study.source, kit: study.kit })
}

fn preset(catalogue: &Catalogue, name: &str) -> Result<PresetListing> {
    let preset = catalogue.preset(name)?;
    Ok(PresetListing {
        name: name.to_string(),
        title: preset.title,
        source: preset.source,
        targets: preset.targets,
    })
}
