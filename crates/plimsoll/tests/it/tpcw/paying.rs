//! The payment gateway is one that takes its time: a purchase waits for its answer, whatever that is, and no other page does.

use std::time::Duration;

use super::GATEWAY_MS;
use crate::bookstore::{BUY_CONFIRM, CARD, SHOPPING_CART, Shop, cell, refused};

pub(super) fn a_purchase_takes_as_long_as_the_gateway(shop: &Shop) {
    let delay = Duration::from_millis(GATEWAY_MS);
    let mut visitor = shop.visitor();
    visitor.take(19);
    visitor.log_in();
    let declined = CARD.map(|(name, value)| (name, if name == "CC_NUMBER" { "123" } else { value }));
    let told = visitor.post(BUY_CONFIRM, &declined);
    assert!(told.took >= delay, "declined after {:?}", told.took);
    refused(told, 402, "The card was declined.");
    let bought = visitor.send(BUY_CONFIRM, &CARD);
    assert!(bought.took >= delay && !cell(&bought, "order").is_empty(), "bought after {:?}", bought.took);
    // The quickest of some: a machine may be busy for a moment.
    let others = (0..5).map(|_| visitor.see(SHOPPING_CART, "ADD_FLAG=N").took).min();
    assert!(others < Some(delay), "no card is asked about for {others:?}");
}
