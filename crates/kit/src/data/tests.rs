//! Rows without a database: the same for any number of threads, in the distributions of the catalogue's kit.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread;

use model::{Catalogue, catalogue::setting};

use super::generator::Generator;
use super::line::Line;
use crate::folder::{Kit, Setup};

fn dvdstore() -> Kit {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/kits/dvdstore");
    let mut files: BTreeMap<String, Cow<'static, [u8]>> = BTreeMap::new();
    for name in [
        "kit.toml",
        "data.lua",
        "words.lua",
        "session.lua",
        "check.lua",
        "schema.sql",
        "finish.sql.j2",
        "app/ds2/index.html",
    ] {
        files.insert(
            format!("kits/dvdstore/{name}"),
            std::fs::read(folder.join(name)).expect("it is there").into(),
        );
    }
    Kit::open(&Catalogue::new(files), "dvdstore").expect("the kit is right")
}

fn setup(kit: &Kit, size: &str, seed: u64) -> Setup {
    let params = setting::resolve(&kit.manifest.params, &setting::Values::new(), "", &mut Vec::new());
    Setup { size: kit.manifest.size(size).expect("a size"), params, seed }
}

/// What reaches each table, in order.
fn rows(kit: &Kit, setup: &Setup, threads: usize) -> BTreeMap<String, Vec<u8>> {
    let declaration = Generator::new(kit, "data.lua", setup).expect("a generator").declaration().clone();
    let line = Line::new(&declaration);
    let sink = Mutex::new(vec![Vec::new(); declaration.tables.len()]);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let generator = Generator::new(kit, "data.lua", setup).expect("a generator");
                let leave = |rows: Vec<super::generator::Rows>| {
                    let mut sink = sink.lock().expect("no thread panicked");
                    rows.iter()
                        .zip(sink.iter_mut())
                        .for_each(|(rows, table)| table.extend_from_slice(&rows.bytes));
                    Ok(())
                };
                line.work(&generator, &AtomicBool::new(false), leave).expect("rows are made");
            });
        }
    });
    let names = declaration.tables.into_iter().map(|table| table.name);
    names.zip(sink.into_inner().expect("no thread panicked")).collect()
}

fn column(rows: &BTreeMap<String, Vec<u8>>, table: &str, index: usize) -> Vec<String> {
    let text = std::str::from_utf8(&rows[table]).expect("rows are text");
    text.lines().map(|line| line.split('\t').nth(index).expect("a column").to_string()).collect()
}

/// Asserts that the values are uniform over `low..=high`, by chi-square at the quantile given.
#[track_caller]
fn uniform(values: &[String], low: i64, high: i64, quantile_999: f64) {
    let mut counts = vec![0.0; (high - low + 1) as usize];
    for value in values {
        let number: i64 = value.parse().unwrap_or_else(|_| panic!("{value} is not a whole number"));
        assert!((low..=high).contains(&number), "{number} is not within {low} and {high}");
        counts[(number - low) as usize] += 1.0;
    }
    let expected = values.len() as f64 / counts.len() as f64;
    let chi2: f64 = counts.iter().map(|count| (count - expected) * (count - expected) / expected).sum();
    assert!(chi2 < quantile_999, "chi-square {chi2} over {quantile_999}: {counts:?}");
}

#[test]
fn the_rows_are_the_same_for_one_thread_and_for_three() {
    let kit = dvdstore();
    let setup = setup(&kit, "small", 5);
    let (one, three) = (rows(&kit, &setup, 1), rows(&kit, &setup, 3));
    for (table, bytes) in &one {
        assert!(!bytes.is_empty(), "{table} has no rows");
        assert!(bytes == &three[table], "{table} differs");
    }
}

#[test]
fn another_seed_gives_other_rows() {
    let kit = dvdstore();
    let (five, six) = (rows(&kit, &setup(&kit, "1mb", 5), 1), rows(&kit, &setup(&kit, "1mb", 6), 1));
    assert_ne!(five["CUSTOMERS"], six["CUSTOMERS"]);
    assert_eq!(five["CATEGORIES"], six["CATEGORIES"]);
}

#[test]
fn values_are_uniform_over_the_ranges_of_the_specification() {
    let kit = dvdstore();
    let rows = rows(&kit, &setup(&kit, "small", 5), 2);
    // 0.999 quantiles of chi-square with (number of values - 1) degrees of freedom.
    uniform(&column(&rows, "ORDERLINES", 3), 1, 3, 13.8);
    uniform(&column(&rows, "CUSTOMERS", 12), 1, 5, 18.5);
    uniform(&column(&rows, "CUSTOMERS", 17), 18, 90, 116.1);
    uniform(&column(&rows, "PRODUCTS", 1), 1, 16, 37.7);
    let months: Vec<String> = column(&rows, "ORDERS", 1).iter().map(|date| date[5..7].to_string()).collect();
    uniform(&months, 1, 12, 0.001);
    let mut lines = BTreeMap::new();
    column(&rows, "ORDERLINES", 1).iter().for_each(|order| *lines.entry(order.clone()).or_insert(0) += 1);
    uniform(&lines.values().map(ToString::to_string).collect::<Vec<_>>(), 1, 9, 26.1);
    let stock: Vec<String> = column(&rows, "INVENTORY", 1)[..9999].to_vec();
    uniform(&stock, 0, 500, 603.0);
    let special = column(&rows, "PRODUCTS", 5).iter().filter(|special| *special == "1").count();
    assert!(
        (60..=140).contains(&special),
        "{special} of 10,000 products are on special; 100 are expected, 4 sigma either way"
    );
}

#[test]
fn texts_have_the_forms_of_the_specification() {
    let kit = dvdstore();
    let rows = rows(&kit, &setup(&kit, "1mb", 5), 2);
    let text = std::str::from_utf8(&rows["CUSTOMERS"]).expect("rows are text");
    for (index, row) in text.lines().enumerate() {
        let fields: Vec<&str> = row.split('\t').collect();
        let capitals =
            |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_uppercase());
        let digits =
            |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        assert!(capitals(fields[1], 6) && capitals(fields[2], 10) && capitals(fields[5], 7), "{row}");
        assert_eq!(fields[3], format!("{} Dell Way", fields[11]), "{row}");
        assert_eq!(fields[10], format!("{}@dell.com", fields[2]), "{row}");
        assert!(digits(fields[11], 10) && digits(fields[13], 16), "{row}");
        assert_eq!((fields[15], fields[16]), (format!("user{}", index + 1).as_str(), "password"), "{row}");
        assert!(matches!(fields[19], "M" | "F"), "{row}");
    }
    let prices = column(&rows, "PRODUCTS", 4);
    assert!(prices.iter().all(|price| price.ends_with(".99")), "{prices:?}");
}

#[test]
fn what_stands_in_a_row_comes_back_as_it_was() {
    let mut kit = dvdstore();
    let script = "return { tables = { T = { 'A', 'B', 'C', 'D' } }, parts = { { name = 'p', count = 1, chunk = 1, \
                  rows = { T = 1 }, make = function() emit('T', 'a\\tb\\\\c\\n', nil, 1.25, true) end } } }";
    kit.replace_text("data.lua", script);
    let rows = rows(&kit, &setup(&kit, "1mb", 1), 1);
    assert_eq!(String::from_utf8_lossy(&rows["T"]), "a\\tb\\\\c\\n\t\\N\t1.25\t1\n");
}

#[test]
fn what_a_row_can_t_hold_is_an_error_at_its_line() {
    for (body, what) in [
        ("emit('U', 1)", "`U` is not among the tables"),
        ("emit('T', 1, 2)", "T has 1 columns, not 2"),
        ("emit('T', {})", "a row can't hold a table"),
        ("emit('T', 0/0)", "a row can't hold a number"),
        ("date(2009, 2, 29)", "2009-2-29 is not a date"),
        ("local x = param.nothing", "there is no param.nothing"),
    ] {
        let mut kit = dvdstore();
        let script = format!(
            "return {{ tables = {{ T = {{ 'A' }} }}, parts = {{ {{ name = 'p', count = 1, chunk = 1, rows = {{}},\n\
             make = function()\n {body} end }} }} }}"
        );
        kit.replace_text("data.lua", &script);
        let setup = setup(&kit, "1mb", 1);
        let generator = Generator::new(&kit, "data.lua", &setup).expect("a generator");
        let chunk = super::schedule::Chunk { part: 0, number: 0, first: 1, last: 1 };
        let text = generator.make(&chunk).expect_err(body).to_string();
        assert!(text.starts_with("kits/dvdstore/data.lua:3: ") && text.contains(what), "{body}: {text}");
    }
}
