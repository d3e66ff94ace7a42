package plimsoll.tpcw.model;

import java.math.BigDecimal;
import java.util.List;
import plimsoll.tpcw.rules.Totals;

/** An order that was placed just now. */
public record Placed(int order, List<CartLine> lines, BigDecimal discount, Totals totals, String authorisation) {
}
