//! The pages' contract: URLs, parameters and markers that DVD Store 2.1's drivers rely on. Specification sections 5
//! and 6.3.

use crate::shop::{Shop, rows_of};

const NEW_CUSTOMER: &str = "dsnewcustomer.php?firstname=ANNA&lastname=O%27NEIL%3Cb%3E&address1=1+Dell+Way&address2=&city=ROMA\
    &state=&zip=&country=France&email=x%40dell.com&phone=1234567890&creditcardtype=2&creditcard=1234567812345678\
    &ccexpmon=3&ccexpyr=2011&username=newuser1&password=password&age=40&income=60000&gender=F";

/// Product 5 is short, and there is enough of all others. A changed row would be put back by the trigger.
const STOCK: &str = "REPLACE INTO INVENTORY SELECT PROD_ID, IF(PROD_ID = 5, 1, 100), 0 FROM PRODUCTS";

#[test]
fn every_page_has_the_store_s_heading_and_answers_200() {
    let Some(shop) = Shop::open(&[]) else { return };
    for target in
        ["dslogin.php", "dsnewcustomer.php", "dsbrowse.php", "dsbrowse.php?customerid=1", "dspurchase.php"]
    {
        let answer = shop.get(target);
        answer.shows(&["<H1", ">DVD Store</H1>", "Thank you for visiting", "</HTML>"]);
        assert_eq!(answer.status, 200, "{target}");
        assert!(
            !answer.body.contains("Warning") && !answer.body.contains("Deprecated"),
            "{target}:\n{}",
            answer.body
        );
    }
    let index =
        std::fs::read_to_string(shop.root.path().join("ds2/index.html")).expect("the front page is static");
    assert!(index.contains(">DVD Store</H1>"));
}

#[test]
fn a_login_shows_the_customer_s_id_and_the_last_ten_purchases() {
    let Some(shop) = Shop::open(&[]) else { return };
    let blank = shop.get("dslogin.php");
    blank.shows(&["<FORM ACTION=\"dslogin.php\" METHOD=GET>", "NAME=username", "NAME=password"]);
    let buyer =
        shop.number("SELECT CUSTOMERID FROM CUST_HIST GROUP BY CUSTOMERID HAVING COUNT(*) > 10 LIMIT 1");
    let answer = shop.get(&format!("dslogin.php?username=user{buyer}&password=password"));
    assert_eq!(answer.between("NAME=customerid VALUE=", ">"), buyer.to_string());
    answer.shows(&["People who liked this DVD also liked", "<FORM ACTION=\"dsbrowse.php\" METHOD=GET>"]);
    let previous = shop.texts(&format!(
        "SELECT P.TITLE, P.ACTOR, (SELECT TITLE FROM PRODUCTS C WHERE C.PROD_ID = P.COMMON_PROD_ID) FROM CUST_HIST \
         JOIN PRODUCTS P USING (PROD_ID) WHERE CUSTOMERID = {buyer} ORDER BY ORDERID DESC, P.TITLE LIMIT 10"
    ));
    assert_eq!(previous.len(), 10);
    assert_eq!(rows_of(&answer.body), previous);
    for wrong in [
        "username=user1&password=wrong",
        "username=nobody&password=password",
        "username=%27+or+1%3D1+--+&password=x",
    ] {
        let answer = shop.get(&format!("dslogin.php?{wrong}"));
        answer.shows(&["Username or password incorrect", "NAME=username"]);
        assert!(!answer.body.contains("NAME=customerid"), "{wrong} must not log in");
    }
}

#[test]
fn a_registration_takes_nineteen_arguments_and_refuses_a_name_in_use() {
    let Some(shop) = Shop::open(&[]) else { return };
    let id = shop.get(NEW_CUSTOMER).between("NAME=customerid VALUE=", ">").to_string();
    let row: (String, i64, String, i64, String) = {
        use mysql::prelude::Queryable;
        let sql = format!(
            "SELECT LASTNAME, REGION, CREDITCARDEXPIRATION, ZIP, USERNAME FROM CUSTOMERS WHERE CUSTOMERID = {id}"
        );
        shop.sql().query_first(sql).expect("a query").expect("the customer is there")
    };
    assert_eq!(row, ("O'NEIL<b>".into(), 2, "2011/03".into(), 0, "newuser1".into()));
    let again = shop.get(NEW_CUSTOMER);
    again.shows(&["Username already in use", "O&#039;NEIL&lt;b&gt;"]);
    assert!(!again.body.contains("NAME=customerid"));
    shop.get(&NEW_CUSTOMER.replace("country=France", "country=US").replace("newuser1", "newuser2"))
        .shows(&["NAME=customerid VALUE="]);
    assert_eq!(shop.number("SELECT REGION FROM CUSTOMERS WHERE USERNAME = 'newuser2'"), 1);
    let wrong = shop.get(&NEW_CUSTOMER.replace("age=40", "age=4000").replace("newuser1", "newuser3"));
    wrong.shows(&["Please correct: Age"]);
    assert_eq!(shop.number("SELECT COUNT(*) FROM CUSTOMERS WHERE USERNAME = 'newuser3'"), 0);
}

#[test]
fn a_search_finds_by_any_word_and_by_category_and_keeps_to_its_limit() {
    let Some(shop) = Shop::open(&[]) else { return };
    let search = |query: &str| shop.get(&format!("dsbrowse.php?{query}&customerid=1"));
    let form = search("");
    form.shows(&[
        "TYPE=RADIO NAME=browsetype VALUE=title",
        "VALUE=actor",
        "VALUE=category",
        "<OPTION VALUE=16>Travel",
    ]);
    form.shows(&["NAME=limit_num", "NAME=browse_title", "NAME=browse_actor", "NAME=browse_category"]);
    assert_eq!(form.between("NAME=customerid VALUE=", ">"), "1");
    let words = shop.number("SELECT COUNT(*) FROM PRODUCTS WHERE TITLE LIKE '% ADMIRAL'");
    assert_eq!(words, 1, "the tiny store has each second word once");
    let found =
        search("browsetype=title&browse_title=ADMIRAL+WIZARD&browse_actor=&browse_category=&limit_num=9");
    found.shows(&["<TD><INPUT NAME=selected_item[] TYPE=CHECKBOX VALUE=", " ADMIRAL</TD>", " WIZARD</TD>"]);
    expect_products(&shop, &found.body, 2);
    let actor = search("browsetype=actor&browse_actor=ADA+ABBOTT&limit_num=3");
    assert!(
        (1..=3).contains(&actor.body.matches("NAME=selected_item[] TYPE=CHECKBOX").count()),
        "{}",
        actor.body
    );
    expect_products(&shop, &actor.body, 1);
    let category = shop.number("SELECT CATEGORY FROM PRODUCTS WHERE SPECIAL = 1 LIMIT 1");
    let special = search(&format!("browsetype=category&browse_category={category}&limit_num=1"));
    expect_products(&shop, &special.body, 1);
    search("browsetype=title&browse_title=NOSUCHWORD&limit_num=5").shows(&["No DVDs Found"]);
    search("browsetype=title&browse_title=%2B%22%28%40%2A-%3C&limit_num=5").shows(&["No DVDs Found"]);
    assert_eq!(search("browsetype=colour").status, 400);
}

/// Every cell of a page's results, `least` at least, is what the database says, the price without a sign as in 2.1.
fn expect_products(shop: &Shop, body: &str, least: usize) {
    let rows = rows_of(body);
    assert!(rows.len() >= least, "{body}");
    for row in rows {
        let sql = format!(
            "SELECT CONCAT(PROD_ID), TITLE, ACTOR, CONCAT(PRICE) FROM PRODUCTS WHERE PROD_ID = {}",
            row[0]
        );
        assert_eq!(vec![row.clone()], shop.texts(&sql), "{body}");
        assert!(row[3].parse::<f64>().is_ok_and(|price| price > 0.0), "2.1's driver reads a number: {row:?}");
    }
}

/// The lines of a cart with the quantities asked for, then the sums, as the database works them out.
fn expect_bill(shop: &Shop, body: &str, cart: &[(u32, u32)]) {
    let lines = cart.iter().zip(1..).map(|((product, quantity), line)| {
        let sql = format!("SELECT '{line}', '{quantity}', TITLE, ACTOR, CONCAT('$', PRICE) FROM PRODUCTS WHERE PROD_ID = {product}");
        shop.texts(&sql).remove(0)
    });
    let worth = cart.iter().map(|(product, quantity)| {
        format!("{quantity} * (SELECT PRICE FROM PRODUCTS WHERE PROD_ID = {product})")
    });
    let sums = format!(
        "WITH SUMS AS (SELECT NET, ROUND(NET * 0.0825, 2) AS TAX FROM (SELECT {} AS NET) WORTH) \
         SELECT 'Subtotal', CONCAT('$', NET) FROM SUMS UNION ALL SELECT 'Tax (8.25%)', CONCAT('$', TAX) FROM SUMS \
         UNION ALL SELECT 'Total', CONCAT('$', NET + TAX) FROM SUMS",
        worth.collect::<Vec<_>>().join(" + ")
    );
    let expected: Vec<Vec<String>> = lines.chain(shop.texts(&sums)).collect();
    assert_eq!(rows_of(body), expected, "{body}");
}

/// As 2.1's driver finds it: from 15 characters after the beginning of the words to the next tag.
fn order_number(body: &str) -> u32 {
    let rest = &body[body.find("ORDER NUMBER").expect("an order") + 15..];
    let text = rest.split('<').next().unwrap_or_default();
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

#[test]
fn a_person_fills_a_cart_and_sees_its_total_before_buying() {
    let Some(shop) = Shop::open(&[]) else { return };
    let cart = shop.get("dsbrowse.php?customerid=1&selected_item[]=2&selected_item[]=3&item[]=1");
    cart.shows(&["Shopping Cart", "<FORM ACTION=\"dspurchase.php\" METHOD=GET>"]);
    let titles =
        "SELECT CONCAT(FIELD(PROD_ID, 1, 2, 3)), TITLE FROM PRODUCTS WHERE PROD_ID <= 3 ORDER BY PROD_ID";
    assert_eq!(rows_of(&cart.body), shop.texts(titles));
    for item in 1..=3 {
        cart.shows(&[&format!("NAME=item[] VALUE={item}>")]);
    }
    let form = shop.get("dspurchase.php?customerid=1&item[]=1&item[]=2");
    form.shows(&["NAME=confirmpurchase VALUE=yes", "NAME=quan[] VALUE=1"]);
    expect_bill(&shop, &form.body, &[(1, 1), (2, 1)]);
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM ORDERS WHERE ORDERID > (SELECT LAST_ORDER FROM BASELINE)"),
        0
    );
    shop.get("dspurchase.php?customerid=1").shows(&["Your shopping cart is empty"]);
}

#[test]
fn a_purchase_gives_an_order_number_and_one_without_stock_leaves_nothing() {
    let Some(shop) = Shop::open(&[]) else { return };
    use mysql::prelude::Queryable;
    shop.sql().query_drop(STOCK).expect("an update");
    let bought = shop.get("dspurchase.php?confirmpurchase=yes&customerid=1&item[]=9&item[]=4&item[]=9&quan[]=3&quan[]=2&quan[]=1");
    bought.shows(&["Order Completed Successfully --- ORDER NUMBER: ", "charged to credit card "]);
    let number = order_number(&bought.body);
    assert_eq!(i64::from(number), shop.number("SELECT MAX(ORDERID) FROM ORDERS"));
    expect_bill(&shop, &bought.body, &[(9, 3), (4, 2), (9, 1)]);
    let charged = shop.texts(&format!(
        "SELECT CONCAT('$', TOTALAMOUNT, ' charged to credit card ', CREDITCARD, ' (', ELT(CREDITCARDTYPE, 'MasterCard', \
         'Visa', 'Discover', 'Amex', 'Dell Preferred'), '), expiration ', CREDITCARDEXPIRATION, '<') FROM ORDERS JOIN \
         CUSTOMERS USING (CUSTOMERID) WHERE ORDERID = {number}"
    ));
    bought.shows(&[&charged[0][0]]);
    let worth = "SUM(QUANTITY * PRICE)";
    let order = format!(
        "SELECT COUNT(*) FROM ORDERS O WHERE ORDERID = {number} AND ORDERDATE = CURRENT_DATE() AND CUSTOMERID = 1 AND \
         NETAMOUNT = (SELECT {worth} FROM ORDERLINES JOIN PRODUCTS USING (PROD_ID) WHERE ORDERID = O.ORDERID) AND \
         TAX = ROUND(NETAMOUNT * 0.0825, 2) AND TOTALAMOUNT = NETAMOUNT + TAX"
    );
    assert_eq!(shop.number(&order), 1);
    assert_eq!(shop.number("SELECT QUAN_IN_STOCK FROM INVENTORY WHERE PROD_ID = 9"), 96);
    assert_eq!(
        shop.number(&format!("SELECT COUNT(*) FROM CUST_HIST WHERE ORDERID = {number} AND CUSTOMERID = 1")),
        3
    );
    let failed =
        shop.get("dspurchase.php?confirmpurchase=yes&customerid=1&item[]=4&item[]=5&quan[]=1&quan[]=2");
    expect_bill(&shop, &failed.body, &[(4, 1), (5, 2)]);
    failed.shows(&["Insufficient quantity for product 5<", "Insufficient stock - order not processed"]);
    assert!(!failed.body.contains("ORDER NUMBER"));
    assert_eq!(shop.number("SELECT QUAN_IN_STOCK FROM INVENTORY WHERE PROD_ID = 4"), 98);
    assert_eq!(shop.number(&format!("SELECT COUNT(*) FROM ORDERS WHERE ORDERID > {number}")), 0);
    assert_eq!(shop.number(&format!("SELECT COUNT(*) FROM CUST_HIST WHERE ORDERID > {number}")), 0);
}

#[test]
fn what_is_no_purchase_is_refused_and_leaves_nothing() {
    let Some(shop) = Shop::open(&[]) else { return };
    for query in [
        "customerid=1&item[]=99999999&quan[]=1",
        "customerid=1&item[]=1&quan[]=-1",
        "customerid=1&item[]=x&quan[]=1",
        "customerid=99999999&item[]=1&quan[]=1",
    ] {
        let answer = shop.get(&format!("dspurchase.php?confirmpurchase=yes&{query}"));
        assert_eq!(answer.status, 400, "{query}:\n{}", answer.body);
    }
    assert_eq!(
        shop.number("SELECT COUNT(*) FROM ORDERS WHERE ORDERID > (SELECT LAST_ORDER FROM BASELINE)"),
        0
    );
}

#[test]
fn stock_below_three_is_reordered_and_put_back_only_under_the_constant_rule() {
    for (restock, left, reordered) in [("constant", 4, 2), ("none", 2, 0)] {
        let Some(shop) = Shop::open(&[("restock", restock)]) else { return };
        use mysql::prelude::Queryable;
        shop.sql().query_drop("UPDATE INVENTORY SET QUAN_IN_STOCK = 4 WHERE PROD_ID = 8").expect("an update");
        shop.get("dspurchase.php?confirmpurchase=yes&customerid=1&item[]=8&quan[]=2")
            .shows(&["ORDER NUMBER: "]);
        assert_eq!(shop.number("SELECT QUAN_IN_STOCK FROM INVENTORY WHERE PROD_ID = 8"), left, "{restock}");
        assert_eq!(
            shop.number("SELECT COALESCE(SUM(QUAN_REORDERED), 0) FROM REORDER"),
            reordered,
            "{restock}"
        );
    }
}

#[test]
fn as_in_2_1_the_history_tells_of_an_order_that_was_rolled_back() {
    let params = [
        ("history", "always"),
        ("inventory_update", "absolute"),
        ("cart_order", "as_given"),
        ("statements", "text"),
    ];
    let Some(shop) = Shop::open(&params) else { return };
    use mysql::prelude::Queryable;
    shop.sql().query_drop(STOCK).expect("an update");
    shop.get("dspurchase.php?confirmpurchase=yes&customerid=1&item[]=5&quan[]=3")
        .shows(&["Insufficient stock"]);
    let ghosts =
        "SELECT COUNT(*) FROM CUST_HIST LEFT JOIN ORDERS USING (ORDERID) WHERE ORDERS.ORDERID IS NULL";
    assert_eq!(shop.number(ghosts), 1);
    shop.get("dspurchase.php?confirmpurchase=yes&customerid=1&item[]=7&item[]=6&quan[]=3&quan[]=1")
        .shows(&["ORDER NUMBER: "]);
    assert_eq!(shop.number("SELECT QUAN_IN_STOCK FROM INVENTORY WHERE PROD_ID = 7"), 97);
    shop.get("dsbrowse.php?browsetype=title&browse_title=ADMIRAL&limit_num=2&customerid=1")
        .shows(&["TYPE=CHECKBOX VALUE="]);
}
