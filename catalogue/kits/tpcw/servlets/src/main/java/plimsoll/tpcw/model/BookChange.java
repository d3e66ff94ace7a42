package plimsoll.tpcw.model;

import java.math.BigDecimal;

/** What the administrator changes of a book. */
public record BookChange(int item, BigDecimal cost, String image, String thumbnail) {
}
