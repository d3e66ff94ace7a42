package plimsoll.tpcw.pages;

import java.math.BigDecimal;
import java.util.List;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.CartLine;
import plimsoll.tpcw.rules.Totals;

/** What is in a cart, and what it costs. */
final class CartTable {
    private CartTable() {
    }

    /** The lines as they are bought. */
    static void show(Page page, List<CartLine> lines) {
        page.raw("<table id=\"lines\">\n<tr><th>Title</th><th>Backing</th><th>Price</th><th>Quantity</th></tr>\n");
        for (CartLine line : lines) {
            page.raw("<tr><td>").text(line.title()).raw("</td><td>").text(line.backing()).raw("</td><td>")
                    .money(line.cost()).raw("</td><td>").text(line.quantity()).raw("</td></tr>\n");
        }
        page.raw("</table>\n");
    }

    static void showTotals(Page page, BigDecimal discount, Totals totals) {
        page.raw("<table>\n")
                .row("Discount", "discount", discount.movePointRight(2).intValue() + "%")
                .amount("Subtotal with discount", "subtotal", totals.subTotal())
                .amount("Tax", "tax", totals.tax())
                .amount("Shipping and handling", "shipping", totals.shipping())
                .amount("Total", "total", totals.total())
                .raw("</table>\n");
    }
}
