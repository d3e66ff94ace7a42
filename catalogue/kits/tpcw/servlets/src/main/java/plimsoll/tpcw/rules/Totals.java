package plimsoll.tpcw.rules;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/** What a cart costs. Each of the parts is of whole cents, so that their sum is exact. */
public record Totals(BigDecimal subTotal, BigDecimal tax, BigDecimal shipping, BigDecimal total) {
    private static final BigDecimal TAX_RATE = new BigDecimal("0.0825");
    private static final BigDecimal SHIPPING = new BigDecimal("3.00");
    private static final BigDecimal SHIPPING_EACH = new BigDecimal("1.00");

    /** So many of a book at that price. */
    public interface Priced {
        BigDecimal cost();

        int quantity();
    }

    /** With a discount that is a share: 0.15 is 15 %. */
    public static Totals of(List<? extends Priced> lines, BigDecimal discount) {
        BigDecimal full = BigDecimal.ZERO;
        BigDecimal pieces = BigDecimal.ZERO;
        for (Priced line : lines) {
            BigDecimal quantity = BigDecimal.valueOf(line.quantity());
            full = full.add(line.cost().multiply(quantity));
            pieces = pieces.add(quantity);
        }
        BigDecimal subTotal = cents(full.multiply(BigDecimal.ONE.subtract(discount)));
        BigDecimal tax = cents(subTotal.multiply(TAX_RATE));
        BigDecimal shipping = cents(SHIPPING.add(SHIPPING_EACH.multiply(pieces)));
        return new Totals(subTotal, tax, shipping, subTotal.add(tax).add(shipping));
    }

    private static BigDecimal cents(BigDecimal amount) {
        return amount.setScale(2, RoundingMode.HALF_UP);
    }
}
