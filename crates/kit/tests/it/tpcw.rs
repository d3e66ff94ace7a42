//! The catalogue's bookstore: its matrices, its rows, its pictures and its consistency check are as the specification
//! says.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use kit::{CheckInputs, Kit, files};
use model::catalogue::qos::QosPreset;
use model::record::ConsistencyResult;
use mysql::prelude::Queryable;

use crate::private_server::{PrivateServer, figure};
use crate::shop::{catalogue, check_data, load_into, setup};

const TINY: &str = "items=100,browsers=1";

/// The share of each interaction in percent: browsing, shopping, ordering.
const SHARES: [(&str, [f64; 3]); 14] = [
    ("Home", [29.00, 16.00, 9.12]),
    ("NewProducts", [11.00, 5.00, 0.46]),
    ("BestSellers", [11.00, 5.00, 0.46]),
    ("ProductDetail", [21.00, 17.00, 12.35]),
    ("SearchRequest", [12.00, 20.00, 14.53]),
    ("SearchResults", [11.00, 17.00, 13.08]),
    ("ShoppingCart", [2.00, 11.60, 13.53]),
    ("CustomerRegistration", [0.82, 3.00, 12.86]),
    ("BuyRequest", [0.75, 2.60, 12.73]),
    ("BuyConfirm", [0.69, 1.20, 10.18]),
    ("OrderInquiry", [0.30, 0.75, 0.25]),
    ("OrderDisplay", [0.25, 0.66, 0.22]),
    ("AdminRequest", [0.10, 0.10, 0.12]),
    ("AdminConfirm", [0.09, 0.09, 0.11]),
];

fn kit() -> Kit {
    Kit::open(&catalogue(), "tpcw").expect("the kit is right")
}

#[test]
fn the_bookstore_has_no_fault() {
    kit::lint(&catalogue(), "tpcw").unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn the_three_matrices_give_the_mixes_of_the_specification() {
    let kit = kit();
    let all = kit.manifest.all_sessions();
    for (column, prefix) in ["mixes.browsing.", "", "mixes.ordering."].iter().enumerate() {
        let (_, sessions, _) = all.iter().find(|(key, _, _)| key == prefix).expect("the mix is there");
        let matrix = sessions.matrix.as_ref().expect("each mix is a matrix");
        assert_eq!(
            (matrix.first.as_str(), matrix.total, matrix.rows.len()),
            ("Home", 9999.0, 14),
            "{prefix}"
        );
        for (from, row) in &matrix.rows {
            assert_eq!(row.values().sum::<f64>(), 9999.0, "{prefix} {from}");
        }
        let mix = sessions.resolve().expect("a right matrix");
        let found: BTreeMap<&str, f64> = mix.names.iter().map(String::as_str).zip(mix.shares()).collect();
        for (name, shares) in SHARES {
            let percent = 100.0 * found[name];
            let wanted = shares[column];
            assert!((percent - wanted).abs() < 0.01, "{prefix} {name}: {percent:.4} % instead of {wanted} %");
        }
    }
    // Where the source has one threshold wrong, and its shopping mix with it.
    let shopping = kit.manifest.matrix.as_ref().expect("a matrix");
    assert_eq!(shopping.rows["ShoppingCart"]["Home"], 6967.0);
    assert_eq!(shopping.rows["ShoppingCart"]["ShoppingCart"], 447.0);
}

#[test]
fn users_think_for_seven_seconds_and_the_limits_are_those_of_version_1_8() {
    let kit = kit();
    let (users, params) = (&kit.manifest.users, setup(&kit, "quick", &[]).params);
    assert_eq!(users.think_unit.as_deref(), Some("think_time"));
    assert_eq!(params["think_time"].to_string(), "7");
    let think = users.think.expect("users think").scaled(7.0);
    assert!((think.mean() - 7.0).abs() < 0.001 && think.sample(0.999_999) == 70.0, "{think:?}");
    // The kit's own targets are those of the preset, without the interactions that are rare in the mix.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/qos/tpcw.toml");
    let text = fs::read_to_string(path).expect("the preset is there");
    let preset: QosPreset = model::document::read("qos/tpcw.toml", &text).expect("a right preset");
    let limits_s = [3, 5, 5, 3, 3, 10, 3, 3, 3, 5, 3, 3, 3, 20];
    for ((name, _), limit_s) in SHARES.iter().zip(limits_s) {
        assert!(preset.targets.contains(&format!("{name} p90 < {limit_s}s")), "{name}: {:?}", preset.targets);
    }
    assert_eq!(preset.targets.len(), 15);
    // The steady state holds 15,000 interactions of the kit's users: 50 of what is one in 300.
    for (column, mix) in [Some("browsing"), None, Some("ordering")].into_iter().enumerate() {
        let asked = kit.manifest.under(mix).expect("the kit has it").qos;
        for ((name, shares), limit_s) in SHARES.iter().zip(limits_s) {
            let own = asked.get(*name).map(|targets| targets.join(", "));
            let often = shares[column] > 100.0 / 300.0;
            assert_eq!(own, often.then(|| format!("p90 < {limit_s}s")), "{mix:?} {name}");
        }
        assert_eq!(asked["all"], ["errors < 0.1%"], "{mix:?}");
    }
}

#[test]
fn a_run_shows_the_rate_that_its_mix_is_known_by_and_no_other() {
    let kit = kit();
    for (mix, own) in [(None, "wips"), (Some("browsing"), "wipsb"), (Some("ordering"), "wipso")] {
        let under = kit.manifest.under(mix).expect("the kit has it");
        let rates = under.metrics.iter().map(|metric| metric.name.as_str());
        assert_eq!(rates.filter(|name| name.starts_with("wips")).collect::<Vec<_>>(), [own]);
        let rate = under.metrics.iter().find(|metric| metric.name == own).expect("it is there");
        // Users who think for less make other figures, which nobody must take for the benchmark's.
        assert!(rate.title.ends_with("if users think for 7 s"), "{}", rate.title);
        assert_eq!(
            under.metrics.len(),
            kit.manifest.metrics.len() - 2,
            "{mix:?}: all others are of each mix"
        );
    }
}

#[test]
fn a_size_of_any_numbers_has_the_specification_s_cardinalities() {
    let kit = kit();
    for (items, browsers) in [(1000.0, 10.0), (10_000.0, 250.0), (1234.0, 7.0)] {
        let size = kit.manifest.size(&format!("items={items},browsers={browsers}")).expect("a size");
        let number = |name: &str| size[name];
        assert_eq!((number("items"), number("browsers")), (items, browsers));
        assert_eq!(number("customers"), 2880.0 * browsers);
        assert_eq!(number("addresses"), 2.0 * 2880.0 * browsers);
        assert_eq!(number("orders"), 0.9 * 2880.0 * browsers);
        assert_eq!(number("authors"), (0.25 * items).round());
    }
}

#[test]
fn a_shop_without_enough_items_is_refused_in_words() {
    let kit = kit();
    let setup = setup(&kit, "items=99,browsers=1", &[]);
    let problems = kit::data::declared_tables(&kit, &setup).expect_err("99 items");
    let text = problems.to_string();
    assert!(text.starts_with("kits/tpcw/population.lua:") && text.contains("at least 100 items"), "{text}");
}

#[test]
fn one_browser_s_rows_are_what_the_specification_says() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let kit = kit();
    let setup = setup(&kit, TINY, &[]);
    let loaded =
        load_into(&kit, &setup, &server.address("tpcw")).unwrap_or_else(|problems| panic!("{problems}"));
    for (table, count) in [
        ("CUSTOMER", 2880),
        ("ADDRESS", 5760),
        ("ORDERS", 2592),
        ("CC_XACTS", 2592),
        ("ITEM", 100),
        ("AUTHOR", 25),
        ("COUNTRY", 92),
    ] {
        assert_eq!(loaded.rows[table], count, "{table}");
    }
    // 2,592 draws of 1 to 5: mean 3, standard error 0.028.
    let lines = loaded.rows["ORDER_LINE"] as f64 / 2592.0;
    assert!((lines - 3.0).abs() < 4.0 * 0.028, "{lines} lines an order");

    let mut conn = server.connect("tpcw");
    let mut one = |sql: &str| figure(&mut conn, sql);
    for sql in NONE {
        assert_eq!(one(sql), 0.0, "{sql}");
    }
    assert_eq!(one("SELECT COUNT(*) FROM SHOPPING_CART"), 0.0);
    // Number 2880 is spelled AL IN IN BA.
    assert_eq!(one("SELECT COUNT(*) FROM CUSTOMER WHERE c_id = 2880 AND c_uname = 'ALININBA'"), 1.0);
    // Each word of a list is drawn.
    for (sql, count) in [
        ("SELECT COUNT(DISTINCT addr_co_id) FROM ADDRESS", 92.0),
        ("SELECT COUNT(DISTINCT i_backing) FROM ITEM", 5.0),
        ("SELECT COUNT(DISTINCT o_ship_type) FROM ORDERS", 6.0),
        ("SELECT COUNT(DISTINCT o_status) FROM ORDERS", 4.0),
        ("SELECT COUNT(DISTINCT cx_type) FROM CC_XACTS", 5.0),
    ] {
        assert_eq!(one(sql), count, "{sql}");
    }
    let discount = one("SELECT AVG(c_discount) FROM CUSTOMER");
    // Uniform over 0 to 50 %: standard deviation 14.7 points.
    assert!((discount - 0.25).abs() < 4.0 * 0.147 / 2880_f64.sqrt(), "{discount}");
    // What searches look for: each key that a search can draw is held by an author and by a title.
    assert_eq!(one("SELECT COUNT(DISTINCT LEFT(a_lname, 14)) FROM AUTHOR"), 11.0);
    assert_eq!(one("SELECT COUNT(DISTINCT LEFT(i_title, 14)) FROM ITEM"), 21.0);
    assert_eq!(one("SELECT COUNT(*) FROM AUTHOR WHERE a_lname LIKE 'BABABABABAOGBA%'"), 2.0);
    let of_schema = "FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'tpcw'";
    assert_eq!(one(&format!("SELECT COUNT(*) {of_schema}")), 7.0);
    let indexes = "SELECT COUNT(DISTINCT TABLE_NAME, COLUMN_NAME) FROM information_schema.STATISTICS WHERE \
                   TABLE_SCHEMA = 'tpcw' AND SEQ_IN_INDEX = 1 AND COLUMN_NAME IN ('c_uname', 'c_addr_id', 'addr_zip', \
                   'addr_co_id', 'co_name', 'a_lname', 'i_title', 'i_subject', 'i_a_id', 'o_c_id', 'ol_i_id', \
                   'ol_o_id', 'scl_i_id')";
    assert_eq!(one(indexes), 13.0, "the specification's indexes");
}

/// What no row may be.
const NONE: [&str; 20] = [
    "SELECT COUNT(*) FROM CUSTOMER WHERE BINARY c_passwd <> BINARY LOWER(c_uname) OR c_email NOT LIKE CONCAT(c_uname, '@%.com')",
    "SELECT COUNT(*) FROM CUSTOMER WHERE CHAR_LENGTH(c_fname) NOT BETWEEN 8 AND 15
       OR CHAR_LENGTH(c_data) NOT BETWEEN 100 AND 500 OR c_phone NOT RLIKE '^[0-9]{9,16}$'",
    "SELECT COUNT(*) FROM CUSTOMER WHERE c_data RLIKE '[0-9]'",
    "SELECT COUNT(*) FROM CUSTOMER WHERE DATEDIFF('2008-02-01', c_since) NOT BETWEEN 1 AND 730
       OR c_last_login NOT BETWEEN c_since AND LEAST(c_since + INTERVAL 60 DAY, DATE '2008-02-01')
       OR c_expiration <> c_login + INTERVAL 2 HOUR OR YEAR(c_birthdate) NOT BETWEEN 1880 AND 2000",
    "SELECT COUNT(*) FROM CUSTOMER WHERE c_discount NOT BETWEEN 0 AND 0.5 OR c_balance <> 0 OR c_ytd_pmt NOT BETWEEN 0 AND 999.99",
    "SELECT COUNT(*) FROM CUSTOMER LEFT JOIN ADDRESS ON addr_id = c_addr_id WHERE addr_id IS NULL",
    "SELECT COUNT(*) FROM ADDRESS LEFT JOIN COUNTRY ON co_id = addr_co_id WHERE co_id IS NULL",
    "SELECT COUNT(*) FROM ITEM LEFT JOIN AUTHOR ON a_id = i_a_id WHERE a_id IS NULL",
    "SELECT COUNT(*) FROM AUTHOR LEFT JOIN ITEM ON i_a_id = a_id WHERE i_id IS NULL",
    "SELECT COUNT(*) FROM ITEM WHERE CHAR_LENGTH(i_title) NOT BETWEEN 14 AND 60 OR i_stock NOT BETWEEN 10 AND 30
       OR i_page NOT BETWEEN 20 AND 9999 OR DATEDIFF(i_avail, i_pub_date) NOT BETWEEN 1 AND 30
       OR YEAR(i_pub_date) NOT BETWEEN 1930 AND 2000",
    "SELECT COUNT(*) FROM ITEM WHERE i_srp NOT BETWEEN 1 AND 999.99 OR i_cost NOT BETWEEN i_srp * 0.5 - 0.005 AND i_srp",
    "SELECT COUNT(*) FROM ITEM WHERE i_thumbnail <> CONCAT('img', MOD(i_id, 100), '/thumb_', i_id, '.gif')
       OR i_image <> CONCAT('img', MOD(i_id, 100), '/image_', i_id, '.gif')",
    "SELECT COUNT(*) FROM ITEM I WHERE (SELECT COUNT(*) FROM ITEM R
       WHERE R.i_id IN (I.i_related1, I.i_related2, I.i_related3, I.i_related4, I.i_related5)) <> 5",
    "SELECT COUNT(*) FROM ORDERS LEFT JOIN CUSTOMER ON c_id = o_c_id LEFT JOIN ADDRESS B ON B.addr_id = o_bill_addr_id
       LEFT JOIN ADDRESS S ON S.addr_id = o_ship_addr_id LEFT JOIN CC_XACTS ON cx_o_id = o_id
       WHERE c_id IS NULL OR B.addr_id IS NULL OR S.addr_id IS NULL OR cx_xact_amt <> o_total OR cx_o_id IS NULL
         OR cx_xact_date <> o_ship_date",
    "SELECT COUNT(*) FROM ORDERS JOIN (SELECT ol_o_id, COUNT(*) AS line_count FROM ORDER_LINE GROUP BY ol_o_id) L ON ol_o_id = o_id
       WHERE o_tax <> ROUND(o_sub_total * 0.0825, 2) OR o_total <> o_sub_total + o_tax + 3 + line_count OR line_count > 5
         OR DATEDIFF('2008-02-01', o_date) NOT BETWEEN 1 AND 60 OR DATEDIFF(o_ship_date, o_date) NOT BETWEEN 0 AND 7",
    "SELECT COUNT(*) FROM ORDER_LINE LEFT JOIN ORDERS ON o_id = ol_o_id LEFT JOIN ITEM ON i_id = ol_i_id
       WHERE o_id IS NULL OR i_id IS NULL OR ol_qty NOT BETWEEN 1 AND 300 OR ol_discount NOT BETWEEN 0 AND 0.3",
    "SELECT COUNT(*) FROM CC_XACTS WHERE cx_num NOT RLIKE '^[0-9]{16}$'
       OR DATEDIFF(cx_expire, '2008-02-01') NOT BETWEEN 10 AND 730",
    "SELECT COUNT(*) FROM CC_XACTS WHERE cx_type NOT IN ('VISA', 'MASTERCARD', 'DISCOVER', 'AMEX', 'DINERS')",
    "SELECT COUNT(*) FROM ORDERS WHERE o_status NOT IN ('PROCESSING', 'SHIPPED', 'PENDING', 'DENIED')
       OR o_ship_type NOT IN ('AIR', 'UPS', 'FEDEX', 'SHIP', 'COURIER', 'MAIL')",
    "SELECT COUNT(*) FROM ITEM WHERE i_backing NOT IN ('HARDBACK', 'PAPERBACK', 'USED', 'AUDIO', 'LIMITED-EDITION')
       OR i_subject NOT IN ('ARTS', 'BIOGRAPHIES', 'BUSINESS', 'CHILDREN', 'COMPUTERS', 'COOKING', 'HEALTH', 'HISTORY', 'HOME',
         'HUMOR', 'LITERATURE', 'MYSTERY', 'NON-FICTION', 'PARENTING', 'POLITICS', 'REFERENCE', 'RELIGION', 'ROMANCE',
         'SELF-HELP', 'SCIENCE-NATURE', 'SCIENCE-FICTION', 'SPORTS', 'YOUTH', 'TRAVEL')
       OR i_dimensions NOT RLIKE '^[0-9]{1,2}[.][0-9]{2}(x[0-9]{1,2}[.][0-9]{2}){2}$'",
];

#[test]
fn a_sale_that_was_lost_or_not_paid_is_named_and_a_whole_one_is_not() {
    let Some(server) = PrivateServer::start(&[]) else { return };
    let kit = kit();
    let setup = setup(&kit, TINY, &[]);
    let address = server.address("tpcw");
    load_into(&kit, &setup, &address).unwrap_or_else(|problems| panic!("{problems}"));
    let check = |inputs: &CheckInputs| {
        check_data(&kit, &setup, inputs, &address).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let none = CheckInputs::default();
    let untouched = check(&none);
    assert!(broken(&untouched).is_empty() && untouched.len() >= 17, "{untouched:#?}");

    let mut conn = server.connect("tpcw");
    SALE.iter().for_each(|sql| conn.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}")));
    let counters = [("orders", 1), ("ordered lines", 1), ("carts", 1)];
    let told = CheckInputs {
        counters: counters.map(|(name, count)| (name.to_string(), count)).into(),
        ..CheckInputs::default()
    };
    let sold = check(&told);
    assert!(broken(&sold).is_empty(), "{sold:#?}");
    // Nobody was told of it: a sale is too many, unless one went unanswered.
    assert!(broken(&check(&none)).contains("new orders = purchases"));
    let unanswered = [("BuyConfirm", 1), ("ShoppingCart", 1)].map(|(name, count)| (name.to_string(), count));
    let cut_off = CheckInputs { unanswered: unanswered.into(), ..CheckInputs::default() };
    assert!(broken(&check(&cut_off)).is_empty(), "{:#?}", check(&cut_off));

    let faults = [
        ("UPDATE ITEM SET i_stock = i_stock + 3 WHERE i_id = 7", "items whose stock"),
        (
            "UPDATE CC_XACTS SET cx_xact_amt = cx_xact_amt + 1 ORDER BY cx_o_id DESC LIMIT 1",
            "without an authorised payment",
        ),
        ("UPDATE CC_XACTS SET cx_co_id = 93 ORDER BY cx_o_id DESC LIMIT 1", "new payments from no country"),
        ("UPDATE ORDERS SET o_tax = o_tax + 0.01 ORDER BY o_id DESC LIMIT 1", "whose tax is not"),
        (
            "UPDATE ORDERS SET o_sub_total = o_sub_total + 1 ORDER BY o_id DESC LIMIT 1",
            "whose sub-total is not",
        ),
        ("DELETE FROM ORDER_LINE ORDER BY ol_o_id DESC LIMIT 1", "new orders without lines"),
        ("DELETE FROM CC_XACTS ORDER BY cx_o_id DESC LIMIT 1", "new payments = new orders"),
        (HALF_AN_ORDER, "new addresses of nobody"),
        ("INSERT INTO SHOPPING_CART_LINE VALUES (1, 101, 1)", "lines of no cart, of no item"),
        ("INSERT INTO SHOPPING_CART (sc_time) VALUES (NOW())", "new carts = carts"),
        ("UPDATE ITEM SET i_pub_date = CURRENT_DATE WHERE i_id = 9", "changed items"),
        ("UPDATE ITEM SET i_related2 = i_related1 WHERE i_id = 9", "items related to"),
    ];
    for (sql, name) in faults {
        let before = check(&told);
        assert!(!broken(&before).iter().any(|broken| broken.contains(name)), "{name}: {before:#?}");
        conn.query_drop(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let results = check(&told);
        assert!(broken(&results).iter().any(|broken| broken.contains(name)), "{sql}: {results:#?}");
    }
}

/// An address to ship to, and no order that goes there.
const HALF_AN_ORDER: &str = "INSERT INTO ADDRESS
    (addr_street1, addr_street2, addr_city, addr_state, addr_zip, addr_co_id)
    SELECT addr_street1, addr_street2, addr_city, addr_state, addr_zip, addr_co_id FROM ADDRESS WHERE addr_id = 1";

/// Two pieces of item 7, as the application sells them.
const SALE: [&str; 5] = [
    "INSERT INTO SHOPPING_CART (sc_time) VALUES (NOW())",
    "INSERT INTO ORDERS (o_c_id, o_date, o_sub_total, o_tax, o_total, o_ship_type, o_ship_date, o_bill_addr_id,
       o_ship_addr_id, o_status)
     SELECT 1, NOW(), ROUND(2 * i_cost * 0.9, 2), ROUND(ROUND(2 * i_cost * 0.9, 2) * 0.0825, 2),
       ROUND(2 * i_cost * 0.9, 2) + ROUND(ROUND(2 * i_cost * 0.9, 2) * 0.0825, 2) + 5, 'AIR', CURRENT_DATE, 1, 2, 'PENDING'
     FROM ITEM WHERE i_id = 7",
    "INSERT INTO ORDER_LINE VALUES (1, LAST_INSERT_ID(), 7, 2, 0.1, 'none')",
    "INSERT INTO CC_XACTS SELECT o_id, 'VISA', '4111111111111111', 'A B', CURRENT_DATE, 'ABCDEFGHIJKLMNO', o_total, CURRENT_DATE, 1
     FROM ORDERS ORDER BY o_id DESC LIMIT 1",
    "UPDATE ITEM SET i_stock = IF(i_stock - 2 >= 10, i_stock - 2, i_stock - 2 + 21) WHERE i_id = 7",
];

fn broken(results: &[ConsistencyResult]) -> HashSet<&str> {
    results.iter().filter(|result| !result.ok).map(|result| result.name.as_str()).collect()
}

#[test]
fn every_item_has_a_thumbnail_and_a_picture_of_one_of_five_sizes() {
    let kit = kit();
    let setup = setup(&kit, "medium", &[]);
    let list = files::list(&kit, &setup, &catalogue()).expect("the script is right").expect("it has files");
    let length: BTreeMap<&str, u64> = list.files().collect();
    assert_eq!(length.len(), 13 + 2 * 10_000);
    assert_eq!((length["tpcw/Images/tpclogo.gif"], length["tpcw/Images/add.gif"]), (8721, 1697));
    let mut found = BTreeMap::new();
    for item in 1..=10_000 {
        let folder = format!("tpcw/Images/img{}", item % 100);
        assert_eq!(length[format!("{folder}/thumb_{item}.gif").as_str()], 5120, "{item}");
        *found.entry(length[format!("{folder}/image_{item}.gif").as_str()]).or_insert(0.0) += 1.0;
    }
    for (kb, share) in [(5, 0.45), (10, 0.35), (50, 0.15), (100, 0.04), (250, 0.01)] {
        let found = found[&(kb * 1024)] / 10_000.0;
        let error = (share * (1.0 - share) / 10_000.0_f64).sqrt();
        assert!((found - share).abs() < 4.0 * error, "{kb} kB: {found} instead of {share}");
    }
    assert_eq!(found.len(), 5);
}
