//! What A and B are: a stack, settings, a folder of the catalogue, a combination of these, or a stored run.

use std::path::Path;

use model::setting::Value;
use model::study::Arm;
use model::{Problem, Recipe, Result, document};
use store::{Run, Runs};

use crate::context::Context;
use crate::verbs::recipe_args::{StackArgs, named};

/// One side of a comparison.
pub(super) enum Side {
    /// Something that is measured.
    Arm(Box<Arm>),
    /// A stored run.
    Run(Box<Run>),
}

/// What both sides have in common. Without `kit` it is the catalogue's only one.
pub(super) fn base(kit: Option<&str>, stack: &StackArgs, context: &Context) -> Result<Recipe> {
    let kits = context.catalogue.kits();
    let kit = match (kit, kits.as_slice()) {
        (Some(kit), _) => kit.to_string(),
        (None, [only]) => (*only).to_string(),
        (None, _) => {
            let problem = Problem::recipe("which kit is not said").key("--kit");
            return Err(problem.remedy(format!("one of: {}", kits.join(", "))).into());
        }
    };
    let (mut recipe, _) = named(&kit)?;
    stack.lay_over(&mut recipe)?;
    Ok(recipe)
}

impl Side {
    /// Reads `text` as the command line has it.
    pub(super) fn read(text: &str, base: &Recipe, context: &Context) -> Result<Side> {
        let mut arm = Arm {
            label: text.to_string(),
            recipe: base.clone(),
            levels: Default::default(),
            stored_run: None,
            catalogue: None,
        };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if let Some(folder) = part.strip_prefix("catalogue:") {
                arm.catalogue = Some(absolute(folder)?);
            } else if let Some((name, value)) = part.split_once('=') {
                let (name, value) = (name.trim(), Value::Text(value.trim().to_string()));
                match name.strip_prefix("param.") {
                    Some(param) => _ = arm.recipe.param.insert(param.to_string(), value),
                    None => _ = arm.recipe.set.insert(name.to_string(), value),
                }
            } else if part == "default" {
                continue;
            } else if context.catalogue.stacks().contains(&part) {
                arm.recipe.stack = Some(part.to_string());
            } else if text.contains(',') {
                return Err(unknown(part, context).into());
            } else {
                return run(part, context);
            }
        }
        Ok(Side::Arm(Box::new(arm)))
    }
}

fn run(name: &str, context: &Context) -> Result<Side> {
    let looks_like_an_id = name == "last" || name.starts_with(|c: char| c.is_ascii_digit());
    if !looks_like_an_id {
        return Err(unknown(name, context).into());
    }
    Ok(Side::Run(Box::new(Runs::open(&context.home)?.find(name)?)))
}

fn unknown(name: &str, context: &Context) -> Problem {
    let stacks = context.catalogue.stacks();
    let what =
        format!("`{name}` is neither a stack, a setting (tier.knob=value), catalogue:DIR nor a stored run");
    let remedy = match document::nearest(name, stacks.iter().copied()) {
        Some(near) => format!("`{near}`"),
        None => format!("default, web.MaxRequestWorkers=64, or one of: {}", stacks.join(", ")),
    };
    Problem::recipe(what).remedy(remedy)
}

/// The study may be gone on with from elsewhere.
fn absolute(folder: &str) -> Result<String> {
    let path = Path::new(folder);
    if !path.is_dir() {
        let problem = Problem::recipe("there is no such folder").file(folder);
        return Err(problem.remedy("a folder with kits/, services/ or stacks/ in it").into());
    }
    let path = std::path::absolute(path)
        .map_err(|error| Problem::recipe(format!("the folder can't be used: {error}")).file(folder))?;
    Ok(path.display().to_string())
}

/// A stored run against something that would be measured now.
pub(super) fn mixed(a: &str, b: &str) -> Problem {
    Problem::recipe(format!("of `{a}` and `{b}` only one is a stored run"))
        .why("a run of then and trials of now differ by all that changed on the machine in between")
        .remedy("two stored runs, or two things that are measured now")
}
