//! Users, pages and database agree: the catalogue's session is followed for real, and its check finds no fault; and
//! where a fault is planted, the check finds it.

use std::time::{Duration, Instant};

use engine::{Audience, Control, RunOptions, Second};
use kit::CheckInputs;
use model::record::ConsistencyResult;
use model::record::plan::Load;
use mysql::prelude::Queryable;

use crate::private_server::PhpServer;
use crate::shop::{Shop, check_data};

/// Lets a few users go through six cycles each, and gives what they were told.
fn let_users_shop(shop: &Shop) -> Option<CheckInputs> {
    let web = PhpServer::start(shop.root.path())?;
    let manifest = &shop.kit.manifest;
    let mut modules = shop.kit.modules.clone();
    modules.remove("session");
    let text = shop.kit.text(&manifest.session).expect("it is there");
    let source = engine::Source {
        modules,
        params: shop.setup.params.clone(),
        size: shop.setup.size.clone(),
        ..engine::Source::of(&shop.kit.path_of(&manifest.session), text, "order_cycle")
    };
    let scenario = engine::Scenario::of(engine::Program::Script(source));
    let load = Load { users: 8, ramp_up_s: 0.1, ramp_down_s: 0.1, seed: 3, ..Load::default() };
    let options = RunOptions { max_sessions: Some(6), ..RunOptions::of(scenario, load, web.address) };
    let totals = engine::run(&options, &Control::default(), &mut Nobody)
        .unwrap_or_else(|problems| panic!("{problems}"));
    assert!(totals.evidence.is_empty(), "{:#?}\n{}", totals.evidence, shop.server.log());
    Some(CheckInputs::of(&totals))
}

struct Nobody;

impl Audience for Nobody {
    fn second(&mut self, _: &Second<'_>) -> model::Result<()> {
        Ok(())
    }
}

fn check(shop: &Shop, inputs: &CheckInputs) -> Vec<ConsistencyResult> {
    check_data(&shop.kit, &shop.setup, inputs, &shop.server.address("ds2"))
        .unwrap_or_else(|problems| panic!("{problems}"))
}

#[track_caller]
fn holds(results: &[ConsistencyResult]) {
    let broken: Vec<&ConsistencyResult> = results.iter().filter(|result| !result.ok).collect();
    assert!(broken.is_empty() && results.len() >= 12, "{broken:#?}");
}

#[test]
fn users_pages_and_database_agree_and_a_lost_order_line_is_named() {
    let Some(shop) = Shop::open(&[("pct_newcustomers", "50")]) else { return };
    let Some(inputs) = let_users_shop(&shop) else { return };
    assert_eq!(inputs.completed["order_cycle"], 48, "{inputs:?}");
    assert_eq!(inputs.completed["Purchase"], 48, "{inputs:?}");
    assert_eq!(inputs.completed["Login"] + inputs.completed["NewCustomer"], 48, "{inputs:?}");
    assert!(inputs.completed["Browse"] > 48, "{inputs:?}");
    assert_eq!(
        inputs.completed.get("Connect"),
        Some(&0),
        "a new user's first page is no part of a cycle: {inputs:?}"
    );
    holds(&check(&shop, &inputs));

    shop.sql()
        .query_drop(
            "DELETE FROM ORDERLINES WHERE ORDERID = (SELECT MAX(ORDERID) FROM ORDERS) AND ORDERLINEID = 1",
        )
        .expect("a line is deleted");
    let results = check(&shop, &inputs);
    let broken: Vec<&str> =
        results.iter().filter(|result| !result.ok).map(|result| result.name.as_str()).collect();
    for name in [
        "new order lines = lines of completed purchases",
        "new orders without lines",
        "new history rows = new order lines",
    ] {
        assert!(broken.contains(&name), "{name} must be broken, but only these are: {broken:?}");
    }
    let lines =
        results.iter().find(|result| result.name.starts_with("new order lines")).expect("it is checked");
    let ordered = inputs.counters["ordered_lines"];
    assert!(
        lines.sentence.ends_with(&format!("found {}, expected {ordered}", ordered - 1)),
        "{}",
        lines.sentence
    );
}

#[test]
fn users_pages_and_database_agree_as_in_2_1() {
    let params = [
        ("pct_newcustomers", "50"),
        ("new_customer_names", "as_in_2.1"),
        ("restock", "none"),
        ("inventory_update", "absolute"),
        ("cart_order", "as_given"),
        ("history", "always"),
        ("statements", "text"),
    ];
    let Some(shop) = Shop::open(&params) else { return };
    shop.sql().query_drop("UPDATE INVENTORY SET QUAN_IN_STOCK = 1 WHERE PROD_ID % 4 = 0").expect("an update");
    shop.sql()
        .query_drop("UPDATE BASELINE SET STOCK = (SELECT SUM(QUAN_IN_STOCK) FROM INVENTORY)")
        .expect("an update");
    let Some(inputs) = let_users_shop(&shop) else { return };
    assert!(inputs.counters["rollbacks"] > 0, "some carts hold what is short: {inputs:?}");
    holds(&check(&shop, &inputs));
}

#[test]
fn what_was_left_unanswered_widens_what_is_expected() {
    let Some(shop) = Shop::open(&[]) else { return };
    shop.get("dspurchase.php?confirmpurchase=yes&customerid=1&item[]=1&quan[]=1");
    let mut inputs = CheckInputs::default();
    let unaware = check(&shop, &inputs);
    let orders =
        unaware.iter().find(|result| result.name == "orders = purchases - rollbacks").expect("it is checked");
    assert!(!orders.ok && orders.sentence.ends_with("found 1, expected 0"), "{}", orders.sentence);
    inputs.unanswered.insert("Purchase".into(), 1);
    let aware = check(&shop, &inputs);
    let orders =
        aware.iter().find(|result| result.name == "orders = purchases - rollbacks").expect("it is checked");
    assert!(orders.ok, "{}", orders.sentence);
}

#[test]
fn a_transaction_is_open_until_it_is_committed() {
    let Some(shop) = Shop::open(&[]) else { return };
    let address = shop.server.address("ds2");
    let wait_for = |wanted: u64| {
        let start = Instant::now();
        loop {
            let found = kit::open_transactions(&address).unwrap_or_else(|problems| panic!("{problems}"));
            if found == wanted {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{found} open transactions, not {wanted}");
            std::thread::sleep(Duration::from_millis(150));
        }
    };
    wait_for(0);
    let mut writer = shop.sql();
    writer.query_drop("START TRANSACTION").expect("a transaction");
    writer.query_drop("UPDATE INVENTORY SET QUAN_IN_STOCK = 1 WHERE PROD_ID = 1").expect("an update");
    wait_for(1);
    writer.query_drop("COMMIT").expect("its end");
    wait_for(0);
}

#[test]
fn a_check_can_look_but_not_touch_and_its_mistakes_have_a_line() {
    let Some(mut shop) = Shop::open(&[]) else { return };
    let catalogue = crate::shop::changed("check.lua", |text| format!("query 'DELETE FROM REORDER'\n{text}"));
    let kit = kit::Kit::open(&catalogue, "dvdstore").expect("the kit is right");
    let result = check_data(&kit, &shop.setup, &CheckInputs::default(), &shop.server.address("ds2"));
    let text = result.expect_err("the check may not write").to_string();
    assert!(
        text.starts_with("kits/dvdstore/check.lua:1: Cannot execute statement in a READ ONLY transaction"),
        "{text}"
    );
    let address = shop.server.address("ds2");
    shop.server.kill();
    let gone = check_data(&shop.kit, &shop.setup, &CheckInputs::default(), &address)
        .expect_err("the server is gone");
    assert_eq!(gone.exit_code(), 2, "{gone}");
}
