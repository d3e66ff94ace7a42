package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Order;
import plimsoll.tpcw.model.OrderLine;
import plimsoll.tpcw.web.Arguments;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Order Display: the last order of the customer with this name and password. */
@WebServlet(Paths.ORDER_DISPLAY)
public final class OrderDisplay extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        Arguments arguments = visit.arguments();
        int customer = database()
                .account(arguments.text("UNAME", BuyRequest.USER_NAME), arguments.text("PASSWD", BuyRequest.PASSWORD));
        return page(visit.links(), database().latestOrder(customer).orElse(null));
    }

    /** Of an order, or of none (null). */
    static String page(Links links, Order order) {
        Page page = new Page("Order Display", links);
        if (order == null) {
            page.raw("<p id=\"none\">You have not ordered anything yet.</p>\n");
        } else {
            show(page, order);
        }
        return page.buttons(Button.SEARCH, Button.HOME).end();
    }

    private static void show(Page page, Order order) {
        page.raw("<table>\n")
                .row("Order number", "order", order.id())
                .row("Ordered", "ordered", order.date())
                .row("First name", "fname", order.firstName())
                .row("Last name", "lname", order.lastName())
                .row("Phone", "phone", order.phone())
                .row("E-mail", "email", order.email())
                .row("Credit card", "card", order.cardType())
                .row("Shipped by", "ship_type", order.shipType())
                .row("Shipped", "shipped", order.shipDate())
                .row("Status", "status", order.status())
                .raw("</table>\n<h2>Billing address</h2>\n");
        AddressTable.show(page, order.billTo());
        page.raw("<h2>Shipping address</h2>\n");
        AddressTable.show(page, order.shipTo());
        lines(page, order);
        page.raw("<table>\n")
                .amount("Subtotal with discount", "subtotal", order.totals().subTotal())
                .amount("Tax", "tax", order.totals().tax())
                .amount("Shipping and handling", "shipping", order.totals().shipping())
                .amount("Total", "total", order.totals().total())
                .raw("</table>\n");
    }

    private static void lines(Page page, Order order) {
        page.raw("<table id=\"lines\">\n<tr><th>Number</th><th>Title</th><th>Publisher</th><th>Price</th>")
                .raw("<th>Quantity</th><th>Discount</th><th>Comments</th></tr>\n");
        for (OrderLine line : order.lines()) {
            page.raw("<tr><td>").text(line.item()).raw("</td><td>").text(line.title()).raw("</td><td>")
                    .text(line.publisher()).raw("</td><td>").money(line.cost()).raw("</td><td>")
                    .text(line.quantity()).raw("</td><td>").text(line.discount().movePointRight(2).intValue())
                    .raw("%</td><td>").text(line.comments()).raw("</td></tr>\n");
        }
        page.raw("</table>\n");
    }
}
