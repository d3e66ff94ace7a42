//! Signals of tiers that a study asks for, `TIER.NAME` such as `web.calls.blocks`: whether its cells can have them, and in which unit.

use std::collections::BTreeMap;

use super::design::Found;
use super::level::path;
use super::{StudyFile, services};
use crate::problem::{Problem, Result};
use crate::record::study::{Arm, TierSignal};
use crate::{Catalogue, KitManifest, SignalRegistry, Subject, document};

/// What begins the name of a figure that is a signal.
const PREFIX: &str = "signal:";

/// The tiers of a study's cells, each with the services that run there, and what these tell.
pub(super) struct StudySignals<'a> {
    /// Absent where a stack can't be read, which is told elsewhere: nothing is known of its tiers.
    tiers: Option<BTreeMap<String, Vec<String>>>,
    registry: &'a SignalRegistry,
}

/// The name of the signal that a figure is written as: `web.calls.blocks` of `signal:web.calls.blocks`.
pub(super) fn name_of(figure: &str) -> Option<&str> {
    figure.trim().strip_prefix(PREFIX)
}

impl StudySignals<'_> {
    /// What the cells of `arms` can have.
    pub(super) fn of<'a>(
        arms: &[Arm],
        kit: Option<&KitManifest>,
        catalogue: &Catalogue,
        registry: &'a SignalRegistry,
    ) -> StudySignals<'a> {
        StudySignals { tiers: kit.and_then(|kit| tiers(arms, kit, catalogue)), registry }
    }

    /// The study's own signals, each with its unit; mistakes are added to `found`.
    pub(super) fn own(&self, study: &StudyFile, found: &mut Found) -> Vec<TierSignal> {
        let mut own: Vec<TierSignal> = Vec::new();
        for (at, name) in study.signals.iter().enumerate() {
            let here = path(&["signals", &at.to_string()]);
            if own.iter().any(|known| known.name == *name) {
                let problem = Problem::recipe(format!("`{name}` is there twice"));
                found.push((here, problem.remedy("leave it out")));
                continue;
            }
            let unit = self.unit(name, &here, found);
            own.extend(unit.map(|unit| TierSignal { name: name.clone(), unit }));
        }
        own
    }

    /// The unit of the signal `TIER.NAME`, which stands at `here` in the file; absent where no cell has it. A mistake is
    /// added to `found`.
    pub(super) fn unit(&self, signal: &str, here: &[String], found: &mut Found) -> Option<String> {
        let tiers = self.tiers.as_ref()?;
        let mistakes = match self.declared(tiers, signal) {
            Ok(unit) => return Some(unit),
            Err(mistakes) => mistakes.into_vec(),
        };
        found.extend(mistakes.into_iter().map(|problem| (here.to_vec(), problem)));
        None
    }

    fn declared(&self, tiers: &BTreeMap<String, Vec<String>>, signal: &str) -> Result<String> {
        let Some((tier, name)) = signal.split_once('.') else {
            let problem = Problem::recipe(format!("`{signal}` is no signal of a tier"));
            return Err(problem.remedy("the tier, a dot and its signal: `web.calls.blocks`").into());
        };
        let Some(services) = tiers.get(tier) else {
            let names: Vec<&str> = tiers.keys().map(String::as_str).collect();
            let remedy = match document::nearest(tier, names.iter().copied()) {
                Some(near) => format!("`{near}.{name}`"),
                None => format!("one of: {}", names.join(", ")),
            };
            return Err(Problem::recipe(format!("no cell has a tier `{tier}`")).remedy(remedy).into());
        };
        if let Some(signal) = self.registry.declaration(Subject::Tier, services, name) {
            return Ok(signal.unit.to_string());
        }
        let what = format!("nobody declares a signal `{name}` of a tier of {}", services.join(", "));
        let known = self.registry.of(Subject::Tier, services).map(|signal| signal.name.as_ref());
        let remedy = match document::nearest(name, known) {
            Some(near) => format!("`{tier}.{near}`"),
            None => "docs/reference/signals.md lists them".to_string(),
        };
        Err(Problem::recipe(what).remedy(remedy).into())
    }
}

/// The tiers of all cells, each with its services: of their stacks, and the kit's own.
fn tiers(arms: &[Arm], kit: &KitManifest, catalogue: &Catalogue) -> Option<BTreeMap<String, Vec<String>>> {
    let mut tiers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |tier: &str, service: &str| {
        let services = tiers.entry(tier.to_string()).or_default();
        if !services.iter().any(|known| known == service) {
            services.push(service.to_string());
        }
    };
    for arm in arms {
        services::of_arm(arm, kit, catalogue)?.iter().for_each(|(tier, service)| add(tier, service));
    }
    Some(tiers)
}
