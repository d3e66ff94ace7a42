//! What the application needs of its servers: extensions that there are, a front controller that it has, a preparation that can be
//! carried out.

use model::catalogue::kit::Writable;
use model::{Catalogue, Problem};

use super::names::complaint;
use crate::folder::Kit;

pub(super) fn check(kit: &Kit, catalogue: &Catalogue, problems: &mut Vec<Problem>) {
    let manifest = format!("kits/{}/kit.toml", kit.manifest.name);
    match catalogue.unknown_extensions(&kit.manifest) {
        Ok(unknown) => problems.extend(unknown.into_iter().map(|problem| problem.file(&manifest))),
        Err(found) => problems.extend(found.into_vec()),
    }
    front_controller(kit, catalogue, problems);
    prepare(kit, problems);
}

fn front_controller(kit: &Kit, catalogue: &Catalogue, problems: &mut Vec<Problem>) {
    const KEY: &str = "front_controller";
    let Some(path) = &kit.manifest.front_controller else { return };
    let inside = path.strip_prefix('/').filter(|rest| {
        rest.ends_with(".php") && rest.chars().all(|one| one.is_ascii_alphanumeric() || "/._-".contains(one))
    });
    let Some(inside) = inside else {
        let what = format!("`{path}` is no script of the document root");
        return problems.push(complaint(kit, what, KEY).remedy("a path such as `/index.php`"));
    };
    if !kit.manifest.needs.iter().any(|need| need == "web+php") {
        let what = "a front controller is a script in PHP, and the kit does not need `web+php`".to_string();
        problems.push(complaint(kit, what, KEY));
    }
    // What is built nobody knows yet.
    if let (Some(app), None) = (&kit.manifest.app, &kit.manifest.build) {
        let file = format!("kits/{}/{}/{inside}", kit.manifest.name, app.trim_end_matches('/'));
        if catalogue.bytes(&file).is_err() && catalogue.bytes(&format!("{file}.j2")).is_err() {
            problems.push(complaint(kit, format!("there is no {file}"), KEY));
        }
    }
}

fn prepare(kit: &Kit, problems: &mut Vec<Problem>) {
    let Some(prepare) = &kit.manifest.prepare else { return };
    for (key, what) in prepare.faults() {
        problems.push(complaint(kit, what, &format!("prepare.{key}")));
    }
    let writes = kit.manifest.file_set.as_ref().is_some_and(|set| set.writable != Writable::No);
    let has_database = kit.manifest.needs.iter().any(|need| need == "sql");
    if prepare.keep && !writes && !has_database {
        let what = "there is nothing to keep: no database, and no file set that is written into".to_string();
        let remedy = "keep = false, or [file_set] writable = \"copy\"";
        problems.push(complaint(kit, what, "prepare.keep").remedy(remedy));
    }
}
