//! What a kit needs and its stack does not provide.

use std::collections::BTreeMap;

use crate::catalogue::setting::Values;
use crate::problem::Problem;
use crate::{Catalogue, KitManifest, StackManifest};

/// A problem for each need that `stack` lacks; `by_param` are those that a parameter asks for, with it.
pub(super) fn lacking(
    kit: &KitManifest,
    by_param: &BTreeMap<String, String>,
    params: &Values,
    stack: &StackManifest,
    catalogue: &Catalogue,
) -> Vec<Problem> {
    let problem = |need: &String| match by_param.get(need) {
        None => {
            let what = format!("kit {} needs {need}, which stack {} does not provide", kit.name, stack.name);
            Problem::recipe(what).key("stack")
        }
        Some(param) => {
            let value = params.get(param).map(ToString::to_string).unwrap_or_default();
            let what = format!(
                "kit {} needs {need} where {param} is {value}, and stack {} does not provide it",
                kit.name, stack.name
            );
            let default = kit.params.iter().find(|setting| setting.name == *param);
            let default = default.map(|setting| format!("{param} = {}", setting.default)).unwrap_or_default();
            let remedy = match providing(need, catalogue).as_slice() {
                [] => default,
                stacks => format!("{default}, or a stack that provides it: {}", stacks.join(", ")),
            };
            Problem::recipe(what).key(format!("param.{param}")).remedy(remedy)
        }
    };
    stack.lacking(kit).map(problem).collect()
}

/// The stacks of the catalogue that provide it.
fn providing<'a>(need: &str, catalogue: &'a Catalogue) -> Vec<&'a str> {
    let provides = |name: &&str| catalogue.stack(name).is_ok_and(|stack| stack.has(need));
    catalogue.stacks().into_iter().filter(provides).collect()
}
