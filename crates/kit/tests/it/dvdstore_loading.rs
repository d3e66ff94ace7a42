//! Loading a data set: what is loaded, and that nothing half-loaded passes for whole.

use std::sync::atomic::{AtomicBool, Ordering};

use kit::Kit;
use kit::data::{LoadOptions, Phase, load};
use model::Kind;

use crate::private_server::{PrivateServer, figure};
use crate::shop::{TINY, catalogue, changed, load_into, setup};

#[test]
fn the_small_size_holds_what_the_specification_says() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let kit = Kit::open(&catalogue(), "dvdstore").expect("the kit is right");
    let loaded = load_into(&kit, &setup(&kit, "small", &[]), &server.address("ds2"))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let rows = |table: &str| loaded.rows[table];
    for (table, count) in [
        ("CUSTOMERS", 20_000),
        ("ORDERS", 12_000),
        ("PRODUCTS", 10_000),
        ("INVENTORY", 10_000),
        ("CATEGORIES", 16),
    ] {
        assert_eq!(rows(table), count, "{table}");
    }
    assert_eq!(rows("ORDERLINES"), rows("CUST_HIST"));
    // 12,000 draws of 1 to 9: mean 5, standard error 0.0236.
    assert!((rows("ORDERLINES") as f64 / 12_000.0 - 5.0).abs() < 0.1, "{} lines", rows("ORDERLINES"));

    let mut conn = server.connect("ds2");
    let mut one = |sql: &str| figure(&mut conn, sql);
    assert_eq!(
        one("SELECT COUNT(*) FROM CUSTOMERS WHERE REGION = 1 AND COUNTRY = 'US' AND CUSTOMERID <= 10000"),
        10_000.0
    );
    assert_eq!(
        one(
            "SELECT COUNT(*) FROM CUSTOMERS WHERE REGION = 2 AND ZIP = 0 AND STATE = '' AND CUSTOMERID > 10000"
        ),
        10_000.0
    );
    assert_eq!(one("SELECT COUNT(DISTINCT TITLE) FROM PRODUCTS"), 10_000.0);
    assert_eq!(
        one(
            "SELECT COUNT(*) FROM ORDERS WHERE MONTH(ORDERDATE) = (ORDERID - 1) DIV 1000 + 1 AND YEAR(ORDERDATE) = 2009"
        ),
        12_000.0
    );
    assert_eq!(
        one(
            "SELECT COUNT(*) FROM ORDERS WHERE NETAMOUNT NOT BETWEEN 0.01 AND 400 OR TAX <> ROUND(NETAMOUNT * 0.0825, 2) OR TOTALAMOUNT <> NETAMOUNT + TAX"
        ),
        0.0
    );
    let sold = "SELECT PROD_ID, SUM(QUANTITY) AS SOLD FROM ORDERLINES GROUP BY PROD_ID";
    let wrong = format!(
        "SELECT COUNT(*) FROM INVENTORY LEFT JOIN ({sold}) S USING (PROD_ID) WHERE SALES <> COALESCE(SOLD, 0)"
    );
    assert_eq!(one(&wrong), 0.0);
    assert_eq!(one("SELECT MAX(QUAN_IN_STOCK) <= 500 FROM INVENTORY WHERE PROD_ID <> 10000"), 1.0);
    assert_eq!(one("SELECT COUNT(*) FROM REORDER"), 0.0);
    assert_eq!(
        one(
            "SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'ds2'"
        ),
        3.0
    );
    assert_eq!(
        one(
            "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'ds2' AND INDEX_TYPE = 'FULLTEXT'"
        ),
        2.0
    );
    // A random pair of words finds 20 titles, but the ten first words of a small store find a thousand each.
    assert_eq!(one("SELECT COUNT(*) FROM PRODUCTS WHERE MATCH (TITLE) AGAINST ('WIZARD')"), 10.0);
    assert_eq!(one("SELECT COUNT(*) FROM PRODUCTS WHERE MATCH (TITLE) AGAINST ('ABBEY')"), 1009.0);
}

#[test]
fn progress_ends_at_the_total_and_goes_through_all_phases_in_order() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let kit = Kit::open(&catalogue(), "dvdstore").expect("the kit is right");
    let setup = setup(&kit, TINY, &[]);
    let mut seen = Vec::new();
    let mut tell = |progress: kit::data::Progress| seen.push(progress);
    let address = server.address("ds2");
    let cancelled = AtomicBool::new(false);
    let options = LoadOptions {
        kit: &kit,
        setup: &setup,
        server: &address,
        threads: 2,
        on_progress: &mut tell,
        cancelled: &cancelled,
    };
    load(options).unwrap_or_else(|problems| panic!("{problems}"));
    let mut phases: Vec<Phase> = seen.iter().map(|progress| progress.phase).collect();
    phases.dedup();
    assert_eq!(phases, [Phase::Tables, Phase::Rows, Phase::Finish, Phase::Verify]);
    assert!(
        seen.iter()
            .filter(|progress| progress.phase == Phase::Rows)
            .all(|progress| progress.total == 17_216 && progress.done <= progress.total)
    );
}

#[test]
fn a_table_may_wait_for_its_rows_longer_than_the_server_waits_for_a_client() {
    let Some(server) = PrivateServer::start(&["--net-read-timeout=1", "--wait-timeout=1"]) else { return };
    let kit = Kit::open(&catalogue(), "dvdstore").expect("the kit is right");
    // The categories' only chunk leaves last, when all else has been sent: here, after some seconds.
    let setup = setup(&kit, "100mb", &[]);
    let address = server.address("ds2");
    let cancelled = AtomicBool::new(false);
    let started = std::time::Instant::now();
    let mut rows_took_s = 0.0;
    let mut tell = |progress: kit::data::Progress| {
        if progress.phase == Phase::Rows {
            rows_took_s = started.elapsed().as_secs_f64();
        }
    };
    let options = LoadOptions {
        kit: &kit,
        setup: &setup,
        server: &address,
        threads: 1,
        on_progress: &mut tell,
        cancelled: &cancelled,
    };
    load(options).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(rows_took_s > 1.2, "the rows took {rows_took_s} s: too short for the server to lose patience");
}

#[test]
fn a_full_disk_names_the_table_and_the_server_s_words() {
    let options = ["--innodb-file-per-table=0", "--innodb-data-file-path=ibdata1:14M"];
    let Some(server) = PrivateServer::start(&options) else { return };
    let kit = Kit::open(&catalogue(), "dvdstore").expect("the kit is right");
    let problems =
        load_into(&kit, &setup(&kit, "small", &[]), &server.address("ds2")).expect_err("there is no room");
    let problem = problems.iter().next().expect("one at least");
    assert_eq!(problem.kind, Kind::Environment, "{problem}");
    assert!(problem.what.starts_with("table ") && problem.what.contains("is full"), "{problem}");
    assert!(problem.remedy.as_deref().is_some_and(|remedy| remedy.contains("free space")), "{problem}");
}

#[test]
fn a_server_that_dies_while_loading_is_a_problem_and_no_hang() {
    let Some(mut server) = PrivateServer::start(&[]) else { return };
    let kit = Kit::open(&catalogue(), "dvdstore").expect("the kit is right");
    let setup = setup(&kit, "100mb", &[]);
    let address = server.address("ds2");
    let cancelled = AtomicBool::new(false);
    let mut killed = false;
    let mut tell = |progress: kit::data::Progress| {
        if progress.phase == Phase::Rows && progress.done > 0 && !killed {
            server.kill();
            killed = true;
        }
    };
    let options = LoadOptions {
        kit: &kit,
        setup: &setup,
        server: &address,
        threads: 2,
        on_progress: &mut tell,
        cancelled: &cancelled,
    };
    let problems = load(options).expect_err("the server died");
    assert!(killed, "it was to die while rows were under way");
    assert_eq!(problems.exit_code(), 2, "{problems}");
    assert!(
        problems.to_string().contains("table ") && problems.to_string().contains("went away"),
        "{problems}"
    );
}

#[test]
fn a_cancelled_load_ends_soon_and_says_that_it_was_interrupted() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let kit = Kit::open(&catalogue(), "dvdstore").expect("the kit is right");
    let setup = setup(&kit, "300mb", &[]);
    let address = server.address("ds2");
    let cancelled = AtomicBool::new(false);
    let mut tell = |progress: kit::data::Progress| {
        if progress.phase == Phase::Rows && progress.done > 0 {
            cancelled.store(true, Ordering::Relaxed);
        }
    };
    let options = LoadOptions {
        kit: &kit,
        setup: &setup,
        server: &address,
        threads: 2,
        on_progress: &mut tell,
        cancelled: &cancelled,
    };
    let started = std::time::Instant::now();
    let problems = load(options).expect_err("it was cancelled");
    assert_eq!(problems.exit_code(), 105, "{problems}");
    assert!(
        started.elapsed().as_secs() < 8,
        "the whole load takes longer; giving up took {:?}",
        started.elapsed()
    );
}

#[test]
fn rows_that_the_table_does_not_take_are_an_error_and_not_a_warning() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let catalogue = changed("data.lua", |text| {
        text.replace("emit(\"CATEGORIES\", id,", "emit(\"CATEGORIES\", id * 1000,")
    });
    let kit = Kit::open(&catalogue, "dvdstore").expect("the kit can be read");
    let problems = load_into(&kit, &setup(&kit, TINY, &[]), &server.address("ds2"))
        .expect_err("a category is a tiny integer");
    let text = problems.to_string();
    assert!(
        text.contains("table CATEGORIES") && text.contains("Out of range value for column 'CATEGORY'"),
        "{text}"
    );
}

#[test]
fn mistakes_in_the_kit_s_files_have_a_file_and_a_line() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let cases = [
        (
            "data.lua",
            "local function orders(first",
            "local function orders((first",
            "kits/dvdstore/data.lua:",
        ),
        ("data.lua", "emit(\"ORDERS\", id,", "emit(\"ORDERS\", nothing.here,", "kits/dvdstore/data.lua:"),
        ("data.lua", "emit(\"CATEGORIES\", id,", "emit(\"CATEGORIES\", id, 1,", "kits/dvdstore/data.lua:"),
        ("schema.sql", "STATE VARCHAR(50),", "STATE VARCHARR(50),", "kits/dvdstore/schema.sql:8: "),
        ("finish.sql.j2", "kit.params.restock", "kit.params.restok", "kits/dvdstore/finish.sql.j2:"),
        (
            "finish.sql.j2",
            "ADD UNIQUE INDEX IX_CUST_USERNAME (USERNAME)",
            "ADD UNIQUE INDEX IX_CUST_USERNAME (USER)",
            "kits/dvdstore/finish.sql.j2:3: ",
        ),
    ];
    for (index, (file, right, wrong, place)) in cases.into_iter().enumerate() {
        let catalogue = changed(file, |text| text.replace(right, wrong));
        let kit = Kit::open(&catalogue, "dvdstore").expect("the kit can be read");
        let address = server.address(&format!("ds{index}"));
        let problems = load_into(&kit, &setup(&kit, TINY, &[]), &address).expect_err(wrong);
        assert!(problems.to_string().starts_with(place), "{wrong}: {problems}");
        assert_eq!(problems.exit_code(), 2, "{problems}");
        let line = problems.iter().next().and_then(|problem| problem.place.line);
        assert!(line.is_some_and(|line| line > 1), "{problems}");
    }
}
