//! One user followed through all fourteen interactions of the bookstore, on each of its stacks.

use crate::tool::{Home, have};
use crate::tried::{in_turn, legible, statuses};

/// In an order in which each finds what it needs: a list with a product, the product for the cart, the cart to refresh and
/// to buy, an order to ask for.
const SESSIONS: [&str; 15] = [
    "Home",
    "NewProducts",
    "BestSellers",
    "SearchRequest",
    "SearchResults",
    "ProductDetail",
    "ShoppingCart",
    "ShoppingCart",
    "CustomerRegistration",
    "BuyRequest",
    "BuyConfirm",
    "OrderInquiry",
    "OrderDisplay",
    "AdminRequest",
    "AdminConfirm",
];

/// What is asked for on the way: the beginning of each request. All but the first carry the session's number.
const REQUESTS: [&str; 14] = [
    "GET /tpcw/TPCW_home_interaction",
    "GET /tpcw/TPCW_new_products_servlet;jsessionid=",
    "GET /tpcw/TPCW_best_sellers_servlet;jsessionid=",
    "GET /tpcw/TPCW_search_request_servlet;jsessionid=",
    "GET /tpcw/TPCW_execute_search;jsessionid=",
    "GET /tpcw/TPCW_product_detail_servlet;jsessionid=",
    "GET /tpcw/TPCW_shopping_cart_interaction;jsessionid=",
    "GET /tpcw/TPCW_customer_registration_servlet;jsessionid=",
    "POST /tpcw/TPCW_buy_request_servlet;jsessionid=",
    "POST /tpcw/TPCW_buy_confirm_servlet;jsessionid=",
    "GET /tpcw/TPCW_order_inquiry_servlet;jsessionid=",
    "POST /tpcw/TPCW_order_display_servlet;jsessionid=",
    "GET /tpcw/TPCW_admin_request_servlet;jsessionid=",
    "POST /tpcw/TPCW_admin_response;jsessionid=",
];

const TITLES: [&str; 14] = [
    "Home",
    "New Products",
    "Best Sellers",
    "Search Request",
    "Search Results",
    "Product Detail",
    "Shopping Cart",
    "Customer Registration",
    "Buy Request",
    "Buy Confirm",
    "Order Inquiry",
    "Order Display",
    "Admin Request",
    "Admin Confirm",
];

fn follow(words: &str) {
    let kit = in_turn("tpcw", &SESSIONS, |text| text);
    let count = SESSIONS.len();
    let words = format!(
        "try tpcw --size quick --mix turn --param think_time=0.1 --sessions {count} --bodies {words} --catalogue"
    );
    let shown = legible(Home::shared().plimsoll(&words).arg(kit.path()).run(), &SESSIONS, &SESSIONS);
    for request in REQUESTS {
        assert_eq!(statuses(&shown, request).first(), Some(&"200"), "{request}\n{shown}");
    }
    for title in TITLES {
        assert!(shown.contains(&format!("<title>TPC-W: {title}</title>")), "{title}\n{shown}");
    }
    // A browser without any loads all eleven of Home; later pages load what is new on them.
    assert!(shown.contains(" 11 requests together: 11 with 200; "), "{shown}");
    for counted in ["visits + 1", "carts + 1", "orders + 1", "changed + 1", "pictures loaded + 11"] {
        assert!(shown.contains(&format!("counts {counted}")), "{counted}\n{shown}");
    }
    assert!(!shown.contains('\u{FFFD}'), "no picture is shown as text:\n{shown}");
    Home::shared().expect_nothing_left();
}

#[test]
fn the_bookstore_can_be_followed_on_tomcat() {
    if have("tomcat-mariadb") {
        follow("--stack tomcat-mariadb");
    }
}

#[test]
fn the_bookstore_can_be_followed_on_apache_that_asks_tomcat() {
    if have("apache-tomcat-mariadb") {
        follow("--stack apache-tomcat-mariadb --set web.proxy=ajp");
    }
}
