//! Every folder of the catalogue is whole, and names itself as its folder does.

use toml::Table;

use crate::{Complaint, House};

/// Checks kits, services, stacks, studies, links, topologies and extensions.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for name in house.folders("catalogue/kits") {
        let folder = format!("catalogue/kits/{name}");
        whole(house, &folder, &["kit.toml", "README.md", "session.lua"], &mut found);
        named(house, &format!("{folder}/kit.toml"), name, &mut found);
    }
    for name in house.folders("catalogue/services") {
        let folder = format!("catalogue/services/{name}");
        whole(house, &folder, &["service.toml"], &mut found);
        named(house, &format!("{folder}/service.toml"), name, &mut found);
    }
    for kind in ["stacks", "studies", "links", "topologies", "extensions"] {
        let folder = format!("catalogue/{kind}/");
        for (path, _) in house.matching(&folder, ".toml") {
            let name = path.trim_start_matches(&folder).trim_end_matches(".toml");
            named(house, path, name, &mut found);
        }
    }
    found
}

fn whole(house: &House, folder: &str, files: &[&str], found: &mut Vec<Complaint>) {
    for file in files.iter().filter(|file| !house.has(&format!("{folder}/{file}"))) {
        let what = format!("the folder needs a {file}");
        found.push(Complaint { rule: "catalogue", path: folder.to_string(), line: 0, what });
    }
}

fn named(house: &House, path: &str, expected: &str, found: &mut Vec<Complaint>) {
    let Some(text) = house.text(path) else { return };
    let name = text.parse::<Table>().ok().and_then(|table| Some(table.get("name")?.as_str()?.to_string()));
    if name.as_deref() != Some(expected) {
        let what = format!("it must be right TOML with name = \"{expected}\"");
        found.push(Complaint { rule: "catalogue", path: path.to_string(), line: 0, what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_must_be_whole_and_named_after_itself() {
        let whole = [
            ("catalogue/kits/shop/kit.toml", "name = \"shop\""),
            ("catalogue/kits/shop/README.md", "# Shop"),
            ("catalogue/kits/shop/session.lua", ""),
            ("catalogue/services/web/service.toml", "name = \"web\""),
            ("catalogue/stacks/lamp.toml", "name = \"lamp\""),
        ];
        assert_eq!(check(&House::of(whole)), []);
        assert_eq!(
            check(&House::of(whole.into_iter().skip(2))).len(),
            2,
            "kit.toml and README.md are missing"
        );
        let misnamed = [("catalogue/stacks/lamp.toml", "name = \"lemp\"")];
        assert!(check(&House::of(misnamed))[0].what.contains("lamp"));
        let misnamed = [("catalogue/studies/workers.toml", "name = \"worker\"")];
        assert!(check(&House::of(misnamed))[0].what.contains("workers"));
    }
}
