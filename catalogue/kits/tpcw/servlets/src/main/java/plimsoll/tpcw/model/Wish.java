package plimsoll.tpcw.model;

import plimsoll.tpcw.payment.Card;

/** What a customer confirms. Without an address (null) it is sent to the customer's own. */
public record Wish(int customer, int cart, Card card, String shipType, Address shipTo) {
}
