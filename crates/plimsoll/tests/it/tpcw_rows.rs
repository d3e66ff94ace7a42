//! What the bookstore's own statements find when its rows are on several servers, beside what they find on one that has
//! all of them.

use std::collections::BTreeMap;

use model::catalogue::tier_setting::OwnHost;

use crate::connections::Administrator;
use crate::standing::Standing;
use crate::tool::{Home, catalogue, have, host_can_be_made};

const STATEMENTS: &str = "kits/tpcw/servlets/src/main/java/plimsoll/tpcw/data/Statements.java";

/// Values for each statement that reads and locks nothing: in turn those of its `?`.
const VALUES: [(&str, &[&str]); 24] = [
    ("NEW_PRODUCTS", &["'HISTORY'"]),
    ("BEST_SELLERS", &["0", "'HISTORY'"]),
    ("BOOKS_BY_AUTHOR", &["'%A%'"]),
    ("BOOKS_BY_TITLE", &["'%A%'"]),
    ("BOOKS_BY_SUBJECT", &["'COOKING'"]),
    ("BOOK", &["17"]),
    ("BOOK_EXISTS", &["1000"]),
    ("LAST_BOOK", &[]),
    ("RELATED_BOOKS", &["18"]),
    ("FIRST_RELATED_BOOK", &["19"]),
    ("BOUGHT_WITH", &["17", "0", "17"]),
    ("CART_LINES", &["1"]),
    ("NAME", &["7"]),
    ("USER_NAME", &["8"]),
    ("ACCOUNT", &["'UL'"]),
    ("CUSTOMER", &["'UL'"]),
    ("COUNTRY", &["'Japan'"]),
    ("SAME_ADDRESS", &["''", "''", "''", "''", "''", "1"]),
    ("LAST_ORDER", &[]),
    ("LATEST_ORDER", &["7"]),
    ("ORDER", &["12"]),
    ("ORDER_LINES", &["12"]),
    ("BUYER", &["9"]),
    ("ORDERS_OF_ALL", &[]),
];

/// What no page of the shop asks: every row of the two tables whose rows have to be found together.
const ORDERS_OF_ALL: &str = "SELECT o_id, COUNT(*), SUM(ol_qty), MIN(c_uname) FROM ORDERS JOIN ORDER_LINE ON ol_o_id = o_id \
                             JOIN CUSTOMER ON c_id = o_c_id GROUP BY o_id";

#[test]
fn statements_find_the_same_rows_on_several_servers_as_on_one() {
    let (one, several) = ("tomcat-mariadb", "tomcat-spider");
    if !have(one) || !have(several) || !host_can_be_made(&OwnHost::default()) {
        return;
    }
    let statements = statements();
    let wanted = {
        let (_stack, mut servers) = stand(&format!("--stack {one}"), &["db"]);
        rows_by_statement(&mut servers[0], &statements)
    };
    let empty: Vec<_> = wanted.iter().filter(|(_, rows)| rows.is_empty()).map(|(name, _)| name).collect();
    assert_eq!(empty, ["CART_LINES", "SAME_ADDRESS"], "these find nothing in a shop that nobody has visited");
    let (_stack, servers) = stand(&format!("--stack {several} --topology dolphin-2x2"), &["db-1", "db-2"]);
    for (number, mut server) in servers.into_iter().enumerate() {
        for (name, rows) in rows_by_statement(&mut server, &statements) {
            assert_eq!(rows, wanted[&name], "{name} at db-{}: {}", number + 1, statements[&name]);
        }
    }
}

/// A shop with its data as it was made, and its database servers by their names.
fn stand(words: &str, servers: &[&str]) -> (Standing, Vec<Administrator>) {
    let mut stack = Home::shared().plimsoll(&format!("up tpcw --size quick {words}")).start();
    stack.address();
    let pids: Vec<u32> = servers.iter().map(|name| stack.pid_of(name)).collect();
    (stack.until_dropped(), pids.into_iter().map(Administrator::of_server).collect())
}

/// What the statements find at a server, by their names.
fn rows_by_statement(
    server: &mut Administrator,
    statements: &BTreeMap<String, String>,
) -> BTreeMap<String, Vec<Vec<String>>> {
    server.enter("tpcw");
    statements.iter().map(|(name, statement)| (name.clone(), server.rows(statement))).collect()
}

/// The statements with their values, by name. Without their limits: which of several books that sold as often are the last
/// ones is nobody's mistake.
fn statements() -> BTreeMap<String, String> {
    let source = catalogue(STATEMENTS);
    let values = BTreeMap::from(VALUES);
    let mut all = BTreeMap::from([("ORDERS_OF_ALL".to_string(), ORDERS_OF_ALL.to_string())]);
    for declared in source.split("static final String ").skip(1) {
        let (name, rest) = declared.split_once(" =").expect("it has a value");
        let text = rest.trim_start().trim_start_matches('"');
        let statement = text.split('"').next().expect("it ends").trim();
        if !statement.starts_with("SELECT") || statement.ends_with("FOR UPDATE") {
            continue;
        }
        let statement = statement.split(" LIMIT ").next().expect("a beginning");
        let values = values.get(name).unwrap_or_else(|| panic!("{name} is new: it needs values"));
        let whole = values.iter().fold(statement.to_string(), |text, value| text.replacen('?', value, 1));
        assert!(!whole.contains('?'), "{name} needs more values: {whole}");
        all.insert(name.to_string(), whole);
    }
    assert_eq!(all.len(), VALUES.len(), "some have gone: {:?}", all.keys());
    all
}
