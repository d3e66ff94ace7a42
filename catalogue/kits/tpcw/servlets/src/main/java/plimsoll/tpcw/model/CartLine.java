package plimsoll.tpcw.model;

import java.math.BigDecimal;
import plimsoll.tpcw.rules.Totals;

/** So many of a book in a cart, at the price that it has when the cart is read. */
public record CartLine(int item, String title, String backing, BigDecimal srp, BigDecimal cost, int quantity)
        implements Totals.Priced {
}
