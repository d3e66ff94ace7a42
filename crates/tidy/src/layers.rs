//! Who may import whom: a room of layer 1 knows the nouns of `model` and no other room.

use toml::Table;

use crate::{Complaint, House};

/// The rooms that each room may import; `None` where everything is allowed.
const ROOMS: &[(&str, Option<&[&str]>)] = &[
    ("times", Some(&[])),
    ("model", Some(&["times"])),
    ("engine", Some(&["model"])),
    ("testbed", Some(&["model"])),
    ("observe", Some(&["model"])),
    ("analysis", Some(&["model"])),
    ("store", Some(&["model"])),
    ("kit", Some(&["engine", "model"])),
    ("experiment", Some(&["analysis", "model"])),
    ("wording", Some(&["analysis", "model"])),
    ("report", Some(&["analysis", "store", "wording", "model"])),
    ("fleet", Some(&["engine", "observe", "model"])),
    (
        "runner",
        Some(&[
            "analysis",
            "engine",
            "experiment",
            "fleet",
            "kit",
            "model",
            "observe",
            "store",
            "testbed",
            "wording",
        ]),
    ),
    ("serve", Some(&["model", "report", "store"])),
    ("plimsoll", None),
    ("testkit", None),
    ("tidy", None),
];

const ONLY_PAGE: &str =
    "only the page is served by an asynchronous runtime, whose threads come and go as they please";
const ONLY_FAR: &str =
    "only the page and a fleet's bus have an asynchronous runtime, each on a thread of its own";

/// Crates that only one room may use, because they open what only that room knows.
const ONLY: [(&str, &str, &str); 6] = [
    ("rusqlite", "store", "only `store` knows the formats on disk"),
    ("mlua", "engine kit", "sessions and data scripts are Lua, nothing else is"),
    ("axum", "serve", ONLY_PAGE),
    ("hyper", "serve", ONLY_PAGE),
    ("tokio", "fleet serve", ONLY_FAR),
    ("async-nats", "fleet", "only `fleet` speaks with other machines' agents"),
];

/// Checks `[dependencies]` of every crate; tests may import what they like.
pub fn check(house: &House) -> Vec<Complaint> {
    let mut found = Vec::new();
    for room in house.folders("crates") {
        let path = format!("crates/{room}/Cargo.toml");
        let mut complain = |what: String| {
            found.push(Complaint { rule: "layers", path: path.clone(), line: 0, what });
        };
        let Some(manifest) = house.text(&path).and_then(|text| text.parse::<Table>().ok()) else {
            complain("a folder of crates/ needs a right Cargo.toml".to_string());
            continue;
        };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            complain(format!("room `{room}` is not in the map of rooms: add it here and to ARCHITECTURE.md"));
            continue;
        };
        let dependencies: Vec<&String> = manifest
            .get("dependencies")
            .and_then(|table| table.as_table())
            .into_iter()
            .flat_map(Table::keys)
            .collect();
        for name in dependencies {
            let is_room = ROOMS.iter().any(|(known, _)| *known == name);
            if is_room && allowed.is_some_and(|allowed| !allowed.contains(&name.as_str())) {
                complain(format!("`{room}` must not import `{name}`: see the layers in ARCHITECTURE.md"));
            }
            for (only, rooms, why) in ONLY.iter().filter(|(only, ..)| only == name) {
                if !rooms.split(' ').any(|allowed| allowed == room) {
                    complain(format!("`{room}` must not use `{only}`: {why}"));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(room: &str, manifest: &str) -> Vec<String> {
        let path = format!("crates/{room}/Cargo.toml");
        check(&House::of([(path.as_str(), manifest)])).into_iter().map(|complaint| complaint.what).collect()
    }

    #[test]
    fn a_room_of_layer_one_may_import_the_nouns_only() {
        assert!(complaints("engine", "[dependencies]\nmodel.workspace = true\nlibc = \"1\"\n").is_empty());
        let found = complaints("engine", "[dependencies]\nstore = { path = \"../store\" }\n");
        assert!(found.len() == 1 && found[0].contains("must not import `store`"), "{found:?}");
        assert!(complaints("engine", "[dev-dependencies]\nstore.workspace = true\n").is_empty(), "tests may");
        assert!(complaints("plimsoll", "[dependencies]\nstore.workspace = true\n").is_empty());
    }

    #[test]
    fn rooms_that_give_facts_import_no_sentences() {
        for room in ["analysis", "experiment", "model"] {
            let found = complaints(room, "[dependencies]\nwording.workspace = true\n");
            assert!(found.len() == 1 && found[0].contains("must not import `wording`"), "{room}: {found:?}");
        }
    }

    #[test]
    fn a_crate_with_an_owner_stays_with_it() {
        let found = complaints("report", "[dependencies]\nrusqlite = \"1\"\n");
        assert!(found.len() == 1 && found[0].contains("formats on disk"), "{found:?}");
        assert!(complaints("store", "[dependencies]\nrusqlite = \"1\"\n").is_empty());
        assert!(complaints("engine", "[dependencies]\ntokio = \"1\"\n")[0].contains("must not use `tokio`"));
        assert!(complaints("serve", "[dependencies]\ntokio = \"1\"\n").is_empty());
    }

    #[test]
    fn a_room_that_is_not_on_the_map_is_refused() {
        assert!(complaints("attic", "[dependencies]\n")[0].contains("map of rooms"));
        assert!(complaints("model", "not toml =")[0].contains("Cargo.toml"));
    }
}
