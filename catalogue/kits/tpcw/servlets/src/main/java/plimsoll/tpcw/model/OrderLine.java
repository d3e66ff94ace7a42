package plimsoll.tpcw.model;

import java.math.BigDecimal;

/** So many of a book in an order, at today's price. */
public record OrderLine(int item, String title, String publisher, BigDecimal cost, int quantity, BigDecimal discount,
        String comments) {
}
