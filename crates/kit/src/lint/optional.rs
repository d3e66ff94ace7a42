//! What there is only with a parameter that is not its default: of parameters and operations that there are.

use model::Problem;

use super::names::{Names, complaint, near};
use crate::folder::Kit;

pub(super) fn check(kit: &Kit, names: &Names, problems: &mut Vec<Problem>) {
    let params = || kit.manifest.params.iter().map(|param| param.name.as_str());
    for (param, only) in &kit.manifest.optional {
        let key = format!("optional.{param}");
        if !params().any(|known| known == param) {
            let problem = complaint(kit, format!("`{param}` is not a parameter"), &key);
            problems.push(near(problem, param, params()));
        }
        for need in only.needs.iter().filter(|need| kit.manifest.needs.contains(need)) {
            let what = format!("the kit needs {need} whatever {param} is");
            problems.push(complaint(kit, what, &format!("{key}.needs")));
        }
        for name in only.operations.iter().filter(|name| !names.operations.contains(*name)) {
            let problem =
                complaint(kit, format!("there is no operation `{name}`"), &format!("{key}.operations"));
            problems.push(near(problem, name, names.operations.iter().map(String::as_str)));
        }
    }
}
