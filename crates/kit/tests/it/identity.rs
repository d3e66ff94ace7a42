//! A data set's name follows its contents.

use std::collections::BTreeSet;

use kit::data::dataset_id;
use kit::{Kit, Setup};
use model::Catalogue;

use crate::shop::{catalogue, changed, setup};

fn id_of(
    catalogue: &Catalogue,
    change: impl FnOnce(&mut Setup),
    params: &[(&str, &str)],
    version: &str,
) -> String {
    let kit = Kit::open(catalogue, "dvdstore").expect("the kit is right");
    let mut setup = setup(&kit, "small", params);
    change(&mut setup);
    dataset_id(&kit, &setup, "small", version).expect("the kit has an identity")
}

#[test]
fn whatever_changes_the_rows_changes_the_name() {
    let base = catalogue();
    let ids = [
        id_of(&base, |_| (), &[], "10.11.1"),
        id_of(&base, |_| (), &[], "10.11.2"),
        id_of(&base, |setup| setup.seed += 1, &[], "10.11.1"),
        id_of(&base, |setup| _ = setup.size.insert("products".into(), 9.0), &[], "10.11.1"),
        id_of(&base, |_| (), &[("restock", "none")], "10.11.1"),
        id_of(&changed("words.lua", |text| text.replace("ABBEY", "ABBOT")), |_| (), &[], "10.11.1"),
        id_of(&changed("data.lua", |text| text.replace("0, 500", "0, 600")), |_| (), &[], "10.11.1"),
        id_of(&changed("schema.sql", |text| text.replace("(50)", "(51)")), |_| (), &[], "10.11.1"),
        id_of(
            &changed("kit.toml", |text| text.replace("version = 1", "version = 2")),
            |_| (),
            &[],
            "10.11.1",
        ),
    ];
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:#?}");
    assert!(ids[0].starts_with("dvdstore-small-"), "{}", ids[0]);
}

#[test]
fn what_only_changes_the_users_keeps_the_name() {
    let base = id_of(&catalogue(), |_| (), &[], "10.11.1");
    assert_eq!(base, id_of(&catalogue(), |_| (), &[("think_time", "7"), ("history", "always")], "10.11.1"));
    assert_eq!(base, id_of(&changed("session.lua", |text| format!("-- x\n{text}")), |_| (), &[], "10.11.1"));
    assert_eq!(base, id_of(&changed("check.lua", |text| format!("-- x\n{text}")), |_| (), &[], "10.11.1"));
}

#[test]
fn a_parameter_that_the_generator_reads_belongs_to_the_name() {
    let reading = |size: &str| {
        let catalogue = changed("data.lua", |text| format!("local most = param.n_line_items\n{text}"));
        id_of(&catalogue, |_| (), &[("n_line_items", size)], "10.11.1")
    };
    assert_ne!(reading("5"), reading("6"));
}
