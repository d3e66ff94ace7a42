//! What other people's drivers rely on: each of the fourteen interactions is at its path, takes its parameters by their
//! names, all of it by GET as the original's own driver asks, and its page has the marks by which a driver goes on.

use crate::bookstore::{
    ADMIN_CONFIRM, ADMIN_REQUEST, BEST_SELLERS, BUY_CONFIRM, BUY_REQUEST, CUSTOMER_REGISTRATION, HOME,
    Interaction, NEW_PRODUCTS, ORDER_DISPLAY, ORDER_INQUIRY, PRODUCT_DETAIL, SEARCH_REQUEST, SEARCH_RESULTS,
    SHOPPING_CART, SOMEBODY, Shop, Visitor, cell, field,
};
use crate::browser::Page;

/// An interaction, what it is asked for with, and what its page has. `{links}` are the number of the session and the sign
/// behind it, as in each link with a parameter.
type Golden = (Interaction, &'static str, &'static [&'static str]);

/// Before there is a cart.
const LOOKING: [Golden; 6] = [
    (
        HOME,
        "",
        &[
            "/tpcw/TPCW_new_products_servlet{links}subject=ARTS&amp;",
            "/tpcw/TPCW_best_sellers_servlet{links}subject=TRAVEL&amp;",
            "/tpcw/TPCW_product_detail_servlet{links}I_ID=",
            "/tpcw/TPCW_shopping_cart_interaction{links}ADD_FLAG=N&amp;",
            "/tpcw/TPCW_search_request_servlet{links}",
            "/tpcw/TPCW_order_inquiry_servlet{links}",
            "<IMG SRC=\"/tpcw/Images/tpclogo.gif\"",
        ],
    ),
    (NEW_PRODUCTS, "subject=ARTS", &["<tr><td>", "/tpcw/TPCW_product_detail_servlet{links}I_ID="]),
    (BEST_SELLERS, "subject=ARTS", &["<tr><td>", "/tpcw/TPCW_product_detail_servlet{links}I_ID="]),
    (
        PRODUCT_DETAIL,
        "I_ID=17",
        &[
            "/tpcw/TPCW_shopping_cart_interaction{links}ADD_FLAG=Y&amp;I_ID=17&amp;",
            "/tpcw/TPCW_admin_request_servlet{links}I_ID=17&amp;",
            "<IMG SRC=\"/tpcw/Images/img17/image_17.gif\"",
            "<IMG SRC=\"/tpcw/Images/add.gif\"",
        ],
    ),
    (
        SEARCH_REQUEST,
        "",
        &[
            "<form action=\"/tpcw/TPCW_execute_search;jsessionid=",
            "name=\"search_type\"",
            "name=\"search_string\"",
            "<IMG SRC=\"/tpcw/Images/submit.gif\"",
        ],
    ),
    (
        SEARCH_RESULTS,
        "search_type=author&search_string=BABABABABAOGUL",
        &["<tr><td>", "/tpcw/TPCW_product_detail_servlet{links}I_ID="],
    ),
];

/// With a cart, in the order of a purchase. The customer's name and password are those of [`SOMEBODY`].
const BUYING: [Golden; 7] = [
    (
        SHOPPING_CART,
        "ADD_FLAG=N&I_ID_0=17&QTY_0=3",
        &[
            "name=\"I_ID_0\" value=\"17\"",
            " NAME=\"QTY_0\" VALUE=\"3\"",
            "/tpcw/TPCW_customer_registration_servlet{links}SHOPPING_ID=",
            "<IMG SRC=\"/tpcw/Images/refresh.gif\"",
        ],
    ),
    (
        CUSTOMER_REGISTRATION,
        "",
        &[
            "<form action=\"/tpcw/TPCW_buy_request_servlet;jsessionid=",
            "name=\"RETURNING_FLAG\" value=\"Y\"",
            "name=\"UNAME\"",
            "name=\"PASSWD\"",
            "name=\"FNAME\"",
            "name=\"LNAME\"",
            "name=\"STREET1\"",
            "name=\"STREET2\"",
            "name=\"CITY\"",
            "name=\"STATE\"",
            "name=\"ZIP\"",
            "name=\"COUNTRY\"",
            "name=\"PHONE\"",
            "name=\"EMAIL\"",
            "name=\"BIRTHDATE\"",
            "name=\"DATA\"",
        ],
    ),
    (
        BUY_REQUEST,
        "RETURNING_FLAG=Y&UNAME=UL&PASSWD=ul",
        &[
            "Firstname:</TD><TD>",
            "Lastname: </TD><TD>",
            "<form action=\"/tpcw/TPCW_buy_confirm_servlet;jsessionid=",
            "name=\"CC_TYPE\"",
            "name=\"CC_NUMBER\"",
            "name=\"CC_NAME\"",
            "name=\"CC_EXPIRY\"",
            "name=\"SHIPPING\"",
            "name=\"STREET_1\"",
            "name=\"STREET_2\"",
            "name=\"CITY\"",
            "name=\"STATE\"",
            "name=\"ZIP\"",
            "name=\"COUNTRY\"",
        ],
    ),
    (
        BUY_CONFIRM,
        "CC_TYPE=VISA&CC_NUMBER=4111111111111111&CC_NAME=A+Nyone&CC_EXPIRY=30/12/2030&SHIPPING=AIR\
         &STREET_1=",
        &[" id=\"order\">", " id=\"subtotal\">$", " id=\"tax\">$", " id=\"shipping\">$", " id=\"total\">$"],
    ),
    (
        ORDER_INQUIRY,
        "",
        &[
            "<form action=\"/tpcw/TPCW_order_display_servlet;jsessionid=",
            "name=\"UNAME\"",
            "name=\"PASSWD\"",
            "<IMG SRC=\"/tpcw/Images/display_last_order.gif\"",
        ],
    ),
    (ORDER_DISPLAY, "UNAME=UL&PASSWD=ul", &[" id=\"order\">", " id=\"status\">PENDING<", "<tr><td>17</td>"]),
    (
        ADMIN_REQUEST,
        "I_ID=18",
        &[
            "<form action=\"/tpcw/TPCW_admin_response;jsessionid=",
            " NAME=\"I_ID\" TYPE=\"hidden\" VALUE=\"18\"",
            "name=\"I_NEW_COST\"",
            "name=\"I_NEW_IMAGE\"",
            "name=\"I_NEW_THUMBNAIL\"",
        ],
    ),
];

pub(super) fn each_interaction_is_as_other_peoples_drivers_expect_it(shop: &Shop) {
    let (customer, ..) = SOMEBODY;
    let mut driver = shop.visitor();
    driver.customer = Some(customer.to_string());
    for golden in LOOKING {
        let page = is_as_ever(&mut driver, golden);
        assert_eq!(first(&page, "C_ID="), customer, "the customer's number goes along");
    }
    // What a driver takes for the cart's number is the first that is called so.
    let page = driver.see(SHOPPING_CART, "ADD_FLAG=Y&I_ID=17");
    let cart = first(&page, "SHOPPING_ID=");
    assert_eq!(field(&page, "SHOPPING_ID"), cart);
    driver.cart = Some(cart.clone());
    for golden in BUYING {
        let page = is_as_ever(&mut driver, golden);
        assert_eq!((first(&page, "SHOPPING_ID="), first(&page, "C_ID=").as_str()), (cart.clone(), customer));
    }
    let change = "I_ID=18&I_NEW_COST=12.5&I_NEW_IMAGE=img19/image_19.gif&I_NEW_THUMBNAIL=img19/thumb_19.gif";
    let page = driver.see(ADMIN_CONFIRM, change);
    assert_eq!((cell(&page, "item").as_str(), cell(&page, "cost").as_str()), ("18", "$12.50"));
    who_is_new_may_send_the_street_by_either_name(shop);
}

/// The page is there, in the session that goes on, with its marks.
#[track_caller]
fn is_as_ever(driver: &mut Visitor, (at, query, marks): Golden) -> Page {
    let before = driver.session.clone();
    let page = driver.see(at, query);
    let session = driver.session.clone().expect("a session's number");
    assert!(before.is_none_or(|before| before == session), "{at:?} begins another session");
    let links = format!(";jsessionid={session}?");
    for mark in marks {
        let mark = mark.replace("{links}", &links);
        assert!(page.has(&mark), "{mark} of {at:?}: {}", page.text());
    }
    page
}

/// The digits behind the first such mark.
#[track_caller]
fn first(page: &Page, mark: &str) -> String {
    let text = page.text();
    let rest = text.split(mark).nth(1).unwrap_or_else(|| panic!("no {mark}: {text}"));
    rest.chars().take_while(char::is_ascii_digit).collect()
}

/// The original's driver sends `STREET_1` where its servlet reads `STREET1`, and so had customers without a street.
fn who_is_new_may_send_the_street_by_either_name(shop: &Shop) {
    let person = "RETURNING_FLAG=N&FNAME=Ann&LNAME=Other&CITY=Paris&STATE=IDF&ZIP=75001&COUNTRY=France\
                  &PHONE=0123456789&EMAIL=ann@example.com&BIRTHDATE=30/4/1965&DATA=none";
    for streets in ["STREET1=1+Rue&STREET2=x", "STREET_1=1+Rue&STREET_2=x"] {
        let mut driver = shop.visitor();
        driver.take(17);
        let page = driver.see(BUY_REQUEST, &format!("{person}&{streets}"));
        let number: u32 = first(&page, "C_ID=").parse().expect("a number");
        assert!(number > 28_800, "behind those of the data set: {number}");
        assert!(page.has("1 Rue") && page.has("Paris, IDF 75001"), "{}", page.text());
    }
}
