//! The bookstore in its real stack: each of the fourteen interactions by its path and parameters, what its page really
//! says, and what it refuses.

mod browsing;
mod golden;
mod ordering;
mod paying;

use crate::bookstore::Shop;
use crate::tool::{Home, have};

const STACK: &str = "tomcat-mariadb";
/// How long the payment gateway takes.
const GATEWAY_MS: u64 = 150;
const SCRIPT: &str = "<script>";
const SHOWN: &str = "&lt;script&gt;";

#[test]
fn each_interaction_does_what_its_page_promises_and_refuses_the_rest() {
    if !have(STACK) {
        return;
    }
    let shop = Shop::open(&format!("--stack {STACK} --set gateway.delay_ms={GATEWAY_MS}"));
    browsing::home_greets_and_leads_to_every_subject(&shop);
    browsing::pictures_are_there_with_their_sizes_and_dates(&shop);
    browsing::lists_are_of_their_subject_and_in_their_order(&shop);
    browsing::searches_find_what_begins_so_and_nothing_else(&shop);
    browsing::a_product_is_shown_in_full(&shop);
    ordering::a_cart_holds_what_was_put_into_it(&shop);
    ordering::customers_are_known_by_name_and_password(&shop);
    ordering::who_is_new_becomes_a_customer(&shop);
    ordering::a_purchase_is_one_and_is_displayed(&shop);
    ordering::a_lot_of_one_book_makes_it_the_best_seller(&shop);
    ordering::an_administrators_change_is_seen_at_once(&shop);
    paying::a_purchase_takes_as_long_as_the_gateway(&shop);
    golden::each_interaction_is_as_other_peoples_drivers_expect_it(&shop);
    ordering::without_a_gateway_nothing_is_bought(&shop);
    shop.end().expect(0).says("gateway: the server ended");
    Home::shared().expect_nothing_left();
}
