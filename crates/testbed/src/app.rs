//! The files of a kit's `app` and the command that prepares it: rendered for the document root, and tried before anything is made
//! for them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use minijinja::Value;
use model::record::plan::PlanTier;
use model::{Catalogue, Plan, Problems, Result};

use crate::needed;
use crate::prepare::available_memory_bytes;
use crate::render::{Common, Reach, Renderer};

/// The application's files: (path in the document root, bytes).
pub(crate) type AppFiles = Vec<(PathBuf, Vec<u8>)>;

/// Those of the plan's kit, its templates rendered.
pub(crate) fn files(
    plan: &Plan,
    catalogue: &Catalogue,
    renderer: &Renderer,
    context: &Value,
) -> Result<AppFiles> {
    let Some(app) = &plan.kit.app else { return Ok(Vec::new()) };
    let folder = format!("kits/{}/{}", plan.kit.name, app.trim_end_matches('/'));
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for (path, bytes) in catalogue.below(&folder) {
        let name = format!("{folder}/{path}");
        let Some(rendered) = path.strip_suffix(".j2") else {
            files.push((PathBuf::from(path), bytes.to_vec()));
            continue;
        };
        let text = catalogue.text(&name)?;
        match renderer.text(&name, text, context) {
            Ok(text) => files.push((PathBuf::from(rendered), text.into_bytes())),
            Err(found) => problems.extend(found.into_vec()),
        }
    }
    Problems::check(problems)?;
    Ok(files)
}

/// The words of the command that prepares the application; none where the kit has none.
pub(crate) fn command(plan: &Plan, renderer: &Renderer, context: &Value) -> Result<Vec<String>> {
    let file = format!("kits/{}/kit.toml: prepare.run", plan.kit.name);
    let words = plan.kit.prepare.iter().flat_map(|prepare| &prepare.run);
    words.map(|word| renderer.text(&file, word, context)).collect()
}

/// Refuses a plan whose application can't be rendered or prepared, before anything is built or loaded for it: with its own names, of
/// which only the values are made up.
///
/// # Errors
/// Every template that uses what this stack, set up like this, doesn't have: the socket of a tier on a host of its own, say. An
/// interpreter that none of its services has.
pub fn check_app(plan: &Plan, catalogue: &Catalogue) -> Result<()> {
    let mut reach = BTreeMap::new();
    for tier in &plan.tiers {
        reach.insert(tier.name.clone(), supposed(tier, plan)?);
    }
    let nowhere = Path::new("/");
    let common = Common {
        plan,
        reach: &reach,
        web_root: nowhere,
        file_set: plan.kit.file_set.as_ref().map(|_| nowhere),
        uid: 0,
        secret: "",
        cpus: plan.placement.stack.len(),
        memory_bytes: available_memory_bytes(),
        loading: false,
    };
    let (renderer, context) = (Renderer::new(catalogue)?, common.for_app());
    let found = [
        files(plan, catalogue, &renderer, &context).map(drop),
        command(plan, &renderer, &context).map(drop),
        needed::interpreted(plan),
    ];
    Problems::check(found.into_iter().filter_map(Result::err).flat_map(Problems::into_vec).collect())
}

/// Where a tier's instances would be.
fn supposed(tier: &PlanTier, plan: &Plan) -> Result<Vec<Reach>> {
    let ports = needed::ports(tier, &plan.kit)?;
    let reach = Reach {
        own_host: tier.own_host.as_ref().map(|_| Ipv4Addr::LOCALHOST),
        loopback: Ipv4Addr::LOCALHOST,
        ports: ports.into_iter().map(|name| (name, 0)).collect(),
        sockets: tier.service.sockets.iter().map(|name| (name.clone(), PathBuf::from(name))).collect(),
        user: tier.service.database.as_ref().map(|database| database.user.clone()),
    };
    Ok(vec![reach; tier.instances.max(1) as usize])
}
