//! What A and B are: a stack, settings, a folder of the catalogue, a combination of these, or a stored run.

use std::borrow::Cow;
use std::path::Path;

use model::catalogue::setting::Value;
use model::record::study::Arm;
use model::{Catalogue, Problem, Recipe, Result, document};

use crate::context::Context;
use crate::verbs::recipe_args::{Decided, StackArgs, named, with_fault, without_load};
use runner::catalogue_folder;

/// What both sides have in common. Without `kit` it is the catalogue's only one.
pub(super) fn base(kit: Option<&str>, stack: &StackArgs, context: &mut Context) -> Result<Recipe> {
    let kits = context.catalogue.kits();
    let kit = match (kit, kits.as_slice()) {
        (Some(kit), _) => kit.to_string(),
        (None, [only]) => (*only).to_string(),
        (None, _) => {
            let problem = Problem::recipe("which kit is not said").key("--kit");
            return Err(problem.remedy(format!("one of: {}", kits.join(", "))).into());
        }
    };
    let (recipe, file) = named(&kit)?;
    let mut recipe = without_load(recipe, file.as_deref(), Decided::Phases, context);
    stack.lay_over(&mut recipe)?;
    let recipe = with_fault(recipe, &context.catalogue)?;
    Ok(without_load(recipe, None, Decided::Phases, context))
}

/// Whether `text` is a stored run's name: `last`, or an id or the beginning of one.
pub(super) fn is_run(text: &str, context: &Context) -> bool {
    let word = !text.contains([',', '=', ':']) && !context.catalogue.stacks().contains(&text);
    word && (text == "last" || text.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads `text`, what is measured, as the command line has it.
pub(super) fn arm(text: &str, base: &Recipe, context: &Context) -> Result<Arm> {
    let mut arm = Arm {
        label: text.to_string(),
        recipe: base.clone(),
        levels: Default::default(),
        stored_run: None,
        catalogue: None,
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    refuse_beside_target(&parts, base)?;
    if let Some(folder) = parts.iter().rev().find_map(|part| part.strip_prefix("catalogue:")) {
        arm.catalogue = Some(absolute(folder)?);
    }
    // Names that only the folder has are names too, wherever it stands among the parts.
    let catalogue = catalogue(&arm, &context.catalogue)?;
    for part in parts {
        if part == "default" || part.starts_with("catalogue:") {
            continue;
        } else if let Some((name, value)) = part.split_once('=') {
            let (name, value) = (name.trim(), Value::Text(value.trim().to_string()));
            match name.strip_prefix("param.") {
                Some(param) => _ = arm.recipe.param.insert(param.to_string(), value),
                None => _ = arm.recipe.set.insert(name.to_string(), value),
            }
        } else if catalogue.stacks().contains(&part) {
            arm.recipe.stack = Some(part.to_string());
        } else {
            return Err(unknown(part, &catalogue).into());
        }
    }
    Ok(arm)
}

/// The catalogue with the arm's own folder laid over it.
pub(super) fn catalogue<'a>(arm: &Arm, usual: &'a Catalogue) -> Result<Cow<'a, Catalogue>> {
    let Some(folder) = &arm.catalogue else { return Ok(Cow::Borrowed(usual)) };
    let mut own = usual.clone();
    catalogue_folder::lay(Path::new(folder), &mut own)?;
    Ok(Cow::Owned(own))
}

/// Nothing is started for a target, so only the kit's parameters can be said of a side.
fn refuse_beside_target(parts: &[&str], base: &Recipe) -> Result<()> {
    let of_stack = parts.iter().find(|part| **part != "default" && !part.starts_with("param."));
    let (Some(target), Some(part)) = (&base.target, of_stack) else { return Ok(()) };
    let what = format!("`{part}` needs a stack that is started for it, and {target} is somebody else's");
    let problem = Problem::recipe(what).key("--target");
    let why = "both sides would be the same server as it is";
    Err(problem.why(why).remedy("leave --target out, or say param.NAME=VALUE").into())
}

fn unknown(name: &str, catalogue: &Catalogue) -> Problem {
    let stacks = catalogue.stacks();
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
