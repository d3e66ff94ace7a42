package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.CartChange;
import plimsoll.tpcw.model.CartLine;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.rules.Totals;
import plimsoll.tpcw.web.Arguments;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Shopping Cart: adds a book, or takes over changed quantities, and shows what is in the cart then. */
@WebServlet(Paths.SHOPPING_CART)
public final class ShoppingCart extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        CartChange change = change(visit.arguments());
        Integer known = visit.links().cart();
        int cart = known == null ? database().openCart() : known;
        List<CartLine> lines = database().changeCart(cart, change);
        return page(
                visit.links().knowing(cart, visit.links().customer()), lines, database().promoted(change.added()));
    }

    static CartChange change(Arguments arguments) {
        return arguments.flag("ADD_FLAG")
                ? new CartChange(arguments.id("I_ID"), Map.of())
                : new CartChange(null, arguments.quantities());
    }

    static String page(Links links, List<CartLine> lines, List<Thumbnail> promoted) {
        Page page = new Page("Shopping Cart", links);
        Promotion.show(page, promoted);
        page.form("get", Paths.SHOPPING_CART).hidden("ADD_FLAG", "N")
                .raw("<table id=\"lines\">\n<tr><th>Quantity</th><th>Title</th><th>Backing</th><th>Retail price</th>")
                .raw("<th>Our price</th></tr>\n");
        for (int at = 0; at < lines.size(); at++) {
            line(page, at, lines.get(at));
        }
        return page.raw("</table>\n<p>Subtotal without discount: <b id=\"subtotal\">")
                .money(Totals.of(lines, BigDecimal.ZERO).subTotal())
                .raw("</b></p>\n")
                .submit(Button.REFRESH)
                .buttons(Button.CHECKOUT, Button.HOME)
                .end();
    }

    /** The well-known kit's own driver finds the quantities by NAME and VALUE, in capitals. */
    private static void line(Page page, int at, CartLine line) {
        page.raw("<tr><td>\n").hidden("I_ID_" + at, line.item())
                .raw("<input type=\"text\" NAME=\"QTY_").text(at).raw("\" VALUE=\"").text(line.quantity())
                .raw("\" size=\"4\"></td><td>").link(line.title(), Paths.PRODUCT_DETAIL, "I_ID", line.item())
                .raw("</td><td>").text(line.backing()).raw("</td><td>").money(line.srp()).raw("</td><td>")
                .money(line.cost()).raw("</td></tr>\n");
    }
}
