//! The families of bottlenecks and the scenes that they can be put into (`benches/blind`), and what a draw makes of them.

use std::collections::BTreeMap;

use model::FaultFile;
use model::random::Random;
use serde::Deserialize;
use toml::{Table, Value};

use crate::Failure;

const SCENES: &str = include_str!("../../blind/scenes.toml");
const FAMILIES: &str = include_str!("../../blind/families.toml");
/// What a run has to meet where its family doesn't say: few samples are enough for it.
const TARGET: &str = "p95 < 2s";

/// All that can be drawn.
#[derive(Debug)]
pub(super) struct Deck {
    /// Each family with the scenes that it can be put into; none is without one.
    pub(super) families: Vec<(Family, Vec<Scene>)>,
}

/// `benches/blind/scenes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenes {
    scene: Vec<Scene>,
}

/// `benches/blind/families.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Families {
    family: Vec<Family>,
}

/// A kit on a stack, with users for whom it has room.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scene {
    pub(super) name: String,
    kit: String,
    stack: String,
    size: String,
    /// From, to.
    users: (u32, u32),
    /// The tier in which pages run.
    page: String,
    language: String,
    #[serde(default)]
    set: Table,
    #[serde(default)]
    param: Table,
    /// None where no program makes pages.
    patch: Option<Patch>,
}

/// The file that each page begins with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    file: String,
    find: String,
    replace: String,
}

/// What is wrong on purpose.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    pub(super) name: String,
    /// Scenes by name, or all whose pages are in one of `languages`, or all.
    #[serde(default)]
    scenes: Vec<String>,
    #[serde(default)]
    languages: Vec<String>,
    /// From, to: drawn so that its logarithm is uniform.
    strength: (f64, f64),
    /// The right answer.
    tier: String,
    resource: String,
    code: Option<String>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    #[serde(default)]
    param: BTreeMap<String, String>,
    #[serde(default)]
    inject: Vec<BTreeMap<String, String>>,
    mix: Option<String>,
    target: Option<String>,
}

impl Deck {
    pub(super) fn open() -> Result<Deck, Failure> {
        let Scenes { scene: scenes } = toml::from_str(SCENES)?;
        let Families { family: families } = toml::from_str(FAMILIES)?;
        let with_scenes = |family: Family| {
            let fits = scenes.iter().filter(|scene| family.fits(scene)).cloned().collect();
            (family, fits)
        };
        let families: Vec<(Family, Vec<Scene>)> = families.into_iter().map(with_scenes).collect();
        match families.iter().find(|(_, scenes)| scenes.is_empty()) {
            Some((family, _)) => Err(format!("family {} fits into no scene", family.name).into()),
            None => Ok(Deck { families }),
        }
    }

    /// Those whose names contain one of `families`.
    pub(super) fn only(mut self, families: &[String], scene: &str) -> Result<Deck, Failure> {
        self.families.retain(|(known, _)| families.iter().any(|family| known.name.contains(family)));
        self.families.iter_mut().for_each(|(_, scenes)| scenes.retain(|known| known.name.contains(scene)));
        self.families.retain(|(_, scenes)| !scenes.is_empty());
        if self.families.is_empty() {
            return Err(format!(
                "no family has `{}` in its name and fits into a scene with `{scene}`",
                families.join("` or `")
            )
            .into());
        }
        Ok(self)
    }

    /// Every family is as likely as the others, and so is every scene of it.
    pub(super) fn draw(&self, random: &mut Random, name: &str) -> Result<FaultFile, Failure> {
        let (family, scenes) = &self.families[random.below(self.families.len())];
        let scene = &scenes[random.below(scenes.len())];
        let (low, high) = family.strength;
        let strength = (low.ln() + random.unit() * (high.ln() - low.ln())).exp().round() as u64;
        let (few, many) = scene.users;
        let users = few + random.below((many - few + 1) as usize) as u32;
        family.plant(scene, strength, users, name)
    }
}

impl Family {
    fn fits(&self, scene: &Scene) -> bool {
        let named = self.scenes.is_empty() || self.scenes.contains(&scene.name);
        let written = self.code.is_none() || scene.patch.is_some();
        named && written && (self.languages.is_empty() || self.languages.contains(&scene.language))
    }

    /// The fault that it is in `scene`.
    pub(super) fn plant(
        &self,
        scene: &Scene,
        strength: u64,
        users: u32,
        name: &str,
    ) -> Result<FaultFile, Failure> {
        let filled = |text: &str| {
            let tier = text.replace("{tier}", self.tier(scene));
            tier.replace("{xx}", &format!("{strength:02}")).replace("{x}", &strength.to_string())
        };
        let values = |own: &Table, more: &BTreeMap<String, String>| {
            let mut all = own.clone();
            all.extend(more.iter().map(|(key, text)| (filled(key), value(&filled(text)))));
            Value::Table(all)
        };
        let target = self.target.as_deref().unwrap_or(TARGET);
        let mut recipe = table([
            ("format", Value::Integer(1)),
            ("kit", scene.kit.as_str().into()),
            ("stack", scene.stack.as_str().into()),
            ("size", scene.size.as_str().into()),
            ("users", i64::from(users).into()),
            ("ramp_up", "12s".into()),
            ("steady", "20s".into()),
            ("ramp_down", "2s".into()),
            ("qos", Value::Array(vec![target.into()])),
            ("set", values(&scene.set, &self.set)),
            ("param", values(&scene.param, &self.param)),
        ]);
        recipe.extend(self.mix.iter().map(|mix| ("mix".to_string(), mix.as_str().into())));
        let patch = self.code.iter().zip(&scene.patch).map(|(code, patch)| {
            let replace = patch.replace.replace("{code}", &filled(code));
            table([
                ("kind", "patch".into()),
                ("file", patch.file.as_str().into()),
                ("find", patch.find.as_str().into()),
                ("replace", replace.into()),
            ])
        });
        let done = self
            .inject
            .iter()
            .map(|one| one.iter().map(|(key, text)| (key.clone(), value(&filled(text)))).collect::<Table>());
        let limit = table([("tier", self.tier(scene).into()), ("resource", self.resource.as_str().into())]);
        let fault = table([
            ("format", Value::Integer(1)),
            ("name", name.into()),
            ("title", "A bottleneck that was drawn".into()),
            ("why", format!("{} of strength {strength} in {}", self.name, scene.name).into()),
            ("expect", Value::Table(table([("limit", Value::Table(limit))]))),
            ("recipe", Value::Table(recipe)),
            ("inject", Value::Array(patch.chain(done).map(Value::Table).collect())),
        ]);
        fault.try_into().map_err(|error| format!("{} in {}: {error}", self.name, scene.name).into())
    }

    fn tier<'a>(&'a self, scene: &'a Scene) -> &'a str {
        if self.tier == "page" { &scene.page } else { &self.tier }
    }
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// `20` and `0.05` are numbers, `false` is a truth value, `8M` is a text.
fn value(text: &str) -> Value {
    let number = || text.parse().ok().map(Value::Float);
    let whole = text.parse().ok().map(Value::Integer);
    whole.or_else(|| text.parse().ok().map(Value::Boolean)).or_else(number).unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use model::Plan;
    use model::catalogue::fault_file::Injection;

    use super::*;

    #[test]
    fn every_family_can_be_put_into_each_of_its_scenes_at_either_end_of_its_strength() {
        let catalogue = testkit::catalogue::catalogue();
        let deck = Deck::open().expect("the deck is right");
        assert!(deck.families.len() >= 24, "{} families", deck.families.len());
        for (family, scenes) in &deck.families {
            for (scene, strength) in
                scenes.iter().flat_map(|scene| [(scene, family.strength.0), (scene, family.strength.1)])
            {
                let fault = family.plant(scene, strength as u64, 50, "plant-001").expect("it is a fault");
                let patched = fault.patch(&mut catalogue.clone());
                let plan = Plan::resolve(&fault.recipe, None, &catalogue, &[0, 1]);
                for result in [patched.map(drop), plan.map(drop)] {
                    result.unwrap_or_else(|problem| {
                        panic!("{} in {} at {strength}: {problem}", family.name, scene.name)
                    });
                }
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_and_its_strength_is_within_the_familys() {
        let deck = Deck::open()
            .expect("the deck is right")
            .only(&["db-quota".to_string()], "dvdstore")
            .expect("there is one");
        let cores = |seed| {
            let fault = deck.draw(&mut Random::new(seed), "plant-001").expect("it is a fault");
            match fault.injections[0] {
                Injection::CpuQuota { cores, .. } => cores,
                ref other => panic!("{other:?}"),
            }
        };
        let drawn: Vec<f64> = (0..20).map(cores).collect();
        assert_eq!(drawn, (0..20).map(cores).collect::<Vec<_>>());
        assert!(drawn.iter().all(|cores| (0.03..=0.1).contains(cores)), "{drawn:?}");
        assert!(drawn.iter().any(|cores| *cores != drawn[0]), "{drawn:?}");
    }
}
