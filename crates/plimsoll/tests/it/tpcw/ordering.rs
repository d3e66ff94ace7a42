//! The ordering interactions: Shopping Cart, Customer Registration, Buy Request, Buy Confirm, Order Inquiry, Order Display,
//! Admin Request and Admin Confirm.

use super::{SCRIPT, SHOWN};
use crate::bookstore::{
    ADMIN_CONFIRM, ADMIN_CONFIRM_TOO, ADMIN_REQUEST, BEST_SELLERS, BUY_CONFIRM, BUY_REQUEST, CARD,
    CUSTOMER_REGISTRATION, HOME, NEW_PRODUCTS, ORDER_DISPLAY, ORDER_INQUIRY, PRODUCT_DETAIL, SHOPPING_CART,
    SOMEBODY, Shop, Visitor, cell, cents, field, lines, listed, number, promoted, refused, spelled,
};
use crate::browser::Page;
use crate::outage::kill_all;

/// Larger than what is sold of any book in the data set's last 3,333 orders; the most that a line may have.
const A_LOT: i64 = 9_999;
/// Somebody who is no customer yet.
const PERSON: [(&str, &str); 12] = [
    ("RETURNING_FLAG", "N"),
    ("FNAME", SCRIPT),
    ("LNAME", "O'Neil & Co"),
    ("STREET1", "1 \"Main\" St"),
    ("STREET2", ""),
    ("CITY", "Oslo' OR 1=1"),
    ("STATE", "; DROP TABLE"),
    ("ZIP", "12345"),
    ("COUNTRY", "Norway"),
    ("PHONE", "0123456789"),
    ("EMAIL", "ann@example.com"),
    ("BIRTHDATE", "1965-04-30"),
];

/// One field or another of a form in place of the one that is right.
fn but<'a>(form: &[(&'a str, &'a str)], name: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let kept = form.iter().copied().filter(|(other, _)| *other != name);
    kept.chain([(name, value)]).collect()
}

pub(super) fn a_cart_holds_what_was_put_into_it(shop: &Shop) {
    let looking = lines(&shop.visitor().see(SHOPPING_CART, "ADD_FLAG=N"));
    assert!(matches!(looking[..], [(_, 1, _)]), "an empty cart gets some book: {looking:?}");

    let mut visitor = shop.visitor();
    let quantities = |page: &Page| -> Vec<(u32, i64)> {
        let lines = lines(page);
        let worth: i64 = lines.iter().map(|(_, quantity, price)| quantity * price).sum();
        assert_eq!(cents(page, "subtotal"), worth, "{}", page.text());
        lines.into_iter().map(|(book, quantity, _)| (book, quantity)).collect()
    };
    let page = visitor.take(8);
    let cart = visitor.cart.clone().expect("a cart");
    assert_eq!(page.between("SHOPPING_ID=", "\""), Some(cart.clone()), "drivers take the first of these");
    assert_eq!(promoted(&page).len(), 5);
    assert_eq!(quantities(&page), [(8, 1)]);
    assert_eq!(quantities(&visitor.take(8)), [(8, 2)], "once more");
    assert_eq!(quantities(&visitor.take(7)), [(7, 1), (8, 2)]);
    assert_eq!(visitor.cart, Some(cart), "the same cart");
    let refresh = "ADD_FLAG=N&I_ID_0=7&QTY_0=5&I_ID_1=8&QTY_1=0";
    assert_eq!(quantities(&visitor.see(SHOPPING_CART, refresh)), [(7, 5)], "no piece, no line");
    let page = visitor.see(SHOPPING_CART, "ADD_FLAG=N");
    assert_eq!(quantities(&page), [(7, 5)], "it is as it was left");
    let emptied = quantities(&visitor.see(SHOPPING_CART, "ADD_FLAG=N&I_ID_0=7&QTY_0=0"));
    assert!(matches!(emptied[..], [(_, 1)]), "an empty cart gets some book: {emptied:?}");

    for (query, words) in [
        ("", "ADD_FLAG must be one of Y, N."),
        ("ADD_FLAG=Y", "I_ID must be a whole number from 1 to 2147483647."),
        ("ADD_FLAG=N&I_ID_0=7&QTY_0=-1", "QTY_0 must be a whole number from 0 to 9999."),
        ("ADD_FLAG=N&I_ID_0=7", "QTY_0 must be a whole number from 0 to 9999."),
    ] {
        refused(visitor.get(SHOPPING_CART, query), 400, words);
    }
    refused(visitor.get(SHOPPING_CART, "ADD_FLAG=Y&I_ID=1001"), 404, "There is no book number 1001.");
    assert_eq!(quantities(&visitor.see(SHOPPING_CART, "ADD_FLAG=N")), emptied, "nothing was changed");
    let unknown = shop.visitor().get(SHOPPING_CART, "ADD_FLAG=N&SHOPPING_ID=2147483647");
    refused(unknown, 404, "There is no shopping cart number 2147483647.");
}

pub(super) fn customers_are_known_by_name_and_password(shop: &Shop) {
    let (id, name, password) = SOMEBODY;
    let mut visitor = shop.visitor();
    visitor.take(7);
    let form = visitor.see(CUSTOMER_REGISTRATION, "");
    assert_eq!(field(&form, "UNAME") + &field(&form, "PASSWD"), "");
    assert!(form.has("name=\"RETURNING_FLAG\" value=\"N\" checked>"), "{}", form.text());
    visitor.customer = Some(id.to_string());
    let form = visitor.see(CUSTOMER_REGISTRATION, "");
    assert_eq!((field(&form, "UNAME"), field(&form, "PASSWD")), (name.to_string(), password.to_string()));
    assert!(form.has("name=\"RETURNING_FLAG\" value=\"Y\" checked>"), "{}", form.text());
    visitor.customer = None;

    let page = visitor.log_in();
    assert_eq!((cell(&page, "customer"), cell(&page, "uname")), (id.to_string(), name.to_string()));
    // The letters between which the well-known kit's own driver finds them.
    let names = ["Firstname:</TD><TD>", "Lastname: </TD><TD>"].map(|mark| page.between(mark, "</TD>"));
    let whom = names.map(|name| name.expect("a name")).join(" ");
    assert_eq!(field(&page, "CC_NAME"), whom, "the card's name is filled in");
    assert!(visitor.see(HOME, "").has(&format!("<h2>Hello {whom}</h2>")), "greeted as {whom}");
    for part in ["name=\"CC_TYPE\"", "name=\"CC_NUMBER\"", "name=\"CC_EXPIRY\"", "name=\"SHIPPING\""] {
        assert!(page.has(part), "{part}: {}", page.text());
    }

    let mut thief = shop.visitor();
    thief.take(7);
    let nobody = "We know no customer with this user name and password.";
    for (name, password) in [("UL", "UL"), ("ul", "ul"), ("UL", "' OR '1'='1"), ("ULL", "ull")] {
        let fields = [("RETURNING_FLAG", "Y"), ("UNAME", name), ("PASSWD", password)];
        refused(thief.post(BUY_REQUEST, &fields), 403, nobody);
        refused(thief.post(ORDER_DISPLAY, &fields[1..]), 403, nobody);
    }
    refused(thief.post(BUY_REQUEST, &[("RETURNING_FLAG", "Y")]), 400, "UNAME is missing.");
    thief.cart = None;
    let fields = [("RETURNING_FLAG", "Y"), ("UNAME", name), ("PASSWD", password)];
    refused(thief.post(BUY_REQUEST, &fields), 400, "SHOPPING_ID must be a whole number");
}

pub(super) fn who_is_new_becomes_a_customer(shop: &Shop) {
    let mut visitor = shop.visitor();
    visitor.take(7);
    for (name, value, words) in [
        ("STREET1", "", "STREET1 is missing."),
        ("COUNTRY", "Atlantis", "We know no country &quot;Atlantis&quot;."),
        ("BIRTHDATE", "30 April", "BIRTHDATE must be a date such as 1965-04-30."),
        ("FNAME", "a name that is too long", "FNAME is longer than 15 characters."),
    ] {
        refused(visitor.post(BUY_REQUEST, &but(&PERSON, name, value)), 400, words);
    }
    let page = visitor.send(BUY_REQUEST, &PERSON);
    let id = cell(&page, "customer");
    assert!(id.parse::<u32>().is_ok_and(|id| id > 28_800), "behind those of the data set: {id}");
    assert_eq!(cell(&page, "uname"), spelled(&id, 1));
    assert_eq!(page.between("C_ID=", "\""), Some(id.clone()), "drivers take the first of these");
    assert!((0..=50).contains(&number(&cell(&page, "discount"))), "{}", page.text());
    assert!(page.has(SHOWN) && !page.has(SCRIPT) && page.has("O&#39;Neil &amp; Co"), "{}", page.text());
    for written in ["1 &quot;Main&quot; St", "Oslo&#39; OR 1=1, ; DROP TABLE 12345"] {
        assert!(page.has(written), "{written}: {}", page.text());
    }
    // The name and the password follow from the number.
    let name = spelled(&id, 1);
    let password = name.to_lowercase();
    let account = [("UNAME", name.as_str()), ("PASSWD", password.as_str())];
    let page = visitor.send(ORDER_DISPLAY, &account);
    assert_eq!(cell(&page, "none"), "You have not ordered anything yet.");
    visitor.customer = Some(id);
    let order = cell(&visitor.send(BUY_CONFIRM, &CARD), "order");
    assert_eq!(cell(&visitor.send(ORDER_DISPLAY, &account), "order"), order);
}

/// Sub-total, tax, shipping and total, in cents.
fn totals(page: &Page) -> [i64; 4] {
    ["subtotal", "tax", "shipping", "total"].map(|id| cents(page, id))
}

/// What a number of pieces cost that are worth so much without the page's discount.
fn expected(page: &Page, worth: i64, pieces: i64) -> [i64; 4] {
    let discount = number(&cell(page, "discount"));
    let sub_total = (worth * (100 - discount) + 50) / 100;
    let (tax, shipping) = ((sub_total * 825 + 5000) / 10_000, 300 + 100 * pieces);
    [sub_total, tax, shipping, sub_total + tax + shipping]
}

fn stock(visitor: &mut Visitor, book: u32) -> i64 {
    number(&cell(&visitor.see(PRODUCT_DETAIL, &format!("I_ID={book}")), "stock"))
}

/// The number of the last order of the data set's customer, who may have none.
fn latest(visitor: &mut Visitor) -> Option<String> {
    visitor.last_order().between(" id=\"order\">", "<")
}

pub(super) fn a_purchase_is_one_and_is_displayed(shop: &Shop) {
    let mut visitor = shop.visitor();
    visitor.take(11);
    let cart = visitor.take(12);
    let worth: i64 = lines(&cart).iter().map(|(_, quantity, price)| quantity * price).sum();
    let asked = visitor.log_in();
    assert_eq!(totals(&asked), expected(&asked, worth, 2));
    let before = latest(&mut visitor);
    let stocks = [11, 12].map(|book| stock(&mut visitor, book));

    for (name, value, status, words) in [
        ("CC_NUMBER", "123", 402, "The card was declined. Nothing was bought."),
        ("CC_TYPE", "CASH", 400, "CC_TYPE must be one of VISA, MASTERCARD, DISCOVER, AMEX, DINERS."),
        ("CC_EXPIRY", "soon", 400, "CC_EXPIRY must be a date such as 1965-04-30."),
        ("SHIPPING", "PIGEON", 400, "SHIPPING must be one of AIR, UPS, FEDEX, SHIP, COURIER, MAIL."),
        ("STREET_1", "9 Elsewhere", 400, "CITY is missing."),
    ] {
        refused(visitor.post(BUY_CONFIRM, &but(&CARD, name, value)), status, words);
    }
    assert_eq!(latest(&mut visitor), before, "nothing of that was bought");
    assert_eq!([11, 12].map(|book| stock(&mut visitor, book)), stocks);

    let elsewhere = [
        ("STREET_1", "9 <Else>where"),
        ("STREET_2", "Flat 3"),
        ("CITY", "Bergen"),
        ("STATE", "V"),
        ("ZIP", "5003"),
        ("COUNTRY", "Norway"),
    ];
    let form = [&CARD[..5], &elsewhere[..]].concat();
    let bought = visitor.send(BUY_CONFIRM, &form);
    assert_eq!(totals(&bought), totals(&asked), "what was shown is what is paid");
    assert_eq!(bought.text().matches("<tr><td>").count(), 2);
    let authorised = cell(&bought, "authorisation");
    assert!(authorised.len() == 15 && authorised.chars().all(|c| c.is_ascii_alphanumeric()), "{authorised}");
    refused(visitor.post(BUY_CONFIRM, &form), 409, "The shopping cart is empty: there is nothing to buy.");

    let form = visitor.see(ORDER_INQUIRY, "");
    for part in ["/tpcw/TPCW_order_display_servlet;jsessionid=", "name=\"UNAME\"", "name=\"PASSWD\""] {
        assert!(form.has(part), "{part}: {}", form.text());
    }
    let shown = visitor.last_order();
    assert_eq!(cell(&shown, "order"), cell(&bought, "order"), "the most recent one");
    assert_eq!(totals(&shown), totals(&bought));
    let facts = ["status", "card", "ship_type"].map(|id| cell(&shown, id));
    assert_eq!(facts, ["PENDING", "AMEX", "COURIER"]);
    assert!(shown.has("9 &lt;Else&gt;where<br>") && shown.has("Bergen, V 5003"), "{}", shown.text());
    assert!(shown.has("<tr><td>11</td>") && shown.has("<tr><td>12</td>"), "{}", shown.text());
    for (book, before) in [11, 12].into_iter().zip(stocks) {
        // What runs low comes in again with the sale.
        let left = if before > 10 { before - 1 } else { before - 1 + 21 };
        assert_eq!(stock(&mut visitor, book), left, "book {book} of {before}");
    }
}

pub(super) fn a_lot_of_one_book_makes_it_the_best_seller(shop: &Shop) {
    let mut visitor = shop.visitor();
    let page = visitor.see(PRODUCT_DETAIL, "I_ID=13");
    let subject = cell(&page, "subject");
    visitor.take(13);
    visitor.see(SHOPPING_CART, &format!("ADD_FLAG=N&I_ID_0=13&QTY_0={A_LOT}"));
    let asked = visitor.log_in();
    let paid = expected(&asked, A_LOT * cents(&page, "cost"), A_LOT);
    assert_eq!(totals(&visitor.send(BUY_CONFIRM, &CARD)), paid);
    let best = listed(&visitor.see(BEST_SELLERS, &format!("subject={subject}")));
    assert_eq!(best.first(), Some(&13), "{subject}: {best:?}");
}

pub(super) fn an_administrators_change_is_seen_at_once(shop: &Shop) {
    let mut visitor = shop.visitor();
    let before = visitor.see(PRODUCT_DETAIL, "I_ID=14");
    let form = visitor.see(ADMIN_REQUEST, "I_ID=14");
    assert_eq!(cents(&form, "cost"), cents(&before, "cost"));
    assert_eq!(
        ["I_ID", "I_NEW_IMAGE", "I_NEW_THUMBNAIL"].map(|name| field(&form, name)),
        ["14", "img14/image_14.gif", "img14/thumb_14.gif"]
    );
    let change = [
        ("I_ID", "14"),
        ("I_NEW_COST", "12.34"),
        ("I_NEW_IMAGE", "img15/image_15.gif"),
        ("I_NEW_THUMBNAIL", "img15/thumb_15.gif"),
    ];
    for (name, value, status, words) in [
        ("I_ID", "1001", 404, "There is no book number 1001."),
        ("I_NEW_COST", "-1", 400, "I_NEW_COST must be an amount such as 12.34."),
        ("I_NEW_COST", "1e3", 400, "I_NEW_COST must be an amount such as 12.34."),
        ("I_NEW_IMAGE", "", 400, "I_NEW_IMAGE is missing."),
    ] {
        refused(visitor.post(ADMIN_CONFIRM, &but(&change, name, value)), status, words);
    }
    refused(visitor.get(ADMIN_REQUEST, "I_ID=1001"), 404, "There is no book number 1001.");
    let same = visitor.see(PRODUCT_DETAIL, "I_ID=14");
    assert_eq!(cents(&same, "cost"), cents(&before, "cost"), "nothing of that was changed");

    let changed = visitor.send(ADMIN_CONFIRM, &change);
    assert_eq!((cell(&changed, "item"), cents(&changed, "cost")), ("14".to_string(), 1234));
    let after = visitor.see(PRODUCT_DETAIL, "I_ID=14");
    assert_eq!((cents(&after, "cost"), cell(&after, "stock")), (1234, cell(&before, "stock")));
    assert!(after.has("/tpcw/Images/img15/image_15.gif\" alt=\"Book 14\""), "{}", after.text());
    assert!(cell(&after, "published") > cell(&before, "published"), "published today");
    let new = listed(&visitor.see(NEW_PRODUCTS, &format!("subject={}", cell(&after, "subject"))));
    assert_eq!(new.first(), Some(&14), "the newest of its subject: {new:?}");
    let cart = visitor.take(14);
    assert_eq!(lines(&cart), [(14, 1, 1234)], "at the new price");
    let mut related = promoted(&cart);
    related.sort_unstable();
    related.dedup();
    assert!(related.len() == 5 && !related.contains(&14), "five others: {related:?}");
    // The original's own driver asks by the other path, and for everything by GET.
    let query: Vec<String> =
        but(&change, "I_NEW_COST", "12.35").iter().map(|(name, value)| format!("{name}={value}")).collect();
    let again = visitor.see(ADMIN_CONFIRM_TOO, &query.join("&"));
    assert_eq!(cents(&again, "cost"), 1235);
}

pub(super) fn without_a_gateway_nothing_is_bought(shop: &Shop) {
    let mut visitor = shop.visitor();
    visitor.take(16);
    visitor.log_in();
    let before = (latest(&mut visitor), stock(&mut visitor, 16));
    // PHP's server is one process that watches and others that answer.
    kill_all("/authorise.php");
    let told = visitor.post(BUY_CONFIRM, &CARD);
    refused(told, 502, "The payment could not be authorised. Nothing was bought; please try again later.");
    assert_eq!((latest(&mut visitor), stock(&mut visitor, 16)), before);
    let kept: Vec<u32> =
        lines(&visitor.see(SHOPPING_CART, "ADD_FLAG=N")).iter().map(|(book, ..)| *book).collect();
    assert_eq!(kept, [16], "the cart is as it was");
}
