package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Placed;
import plimsoll.tpcw.model.Wish;
import plimsoll.tpcw.payment.Authorisation;
import plimsoll.tpcw.payment.Card;
import plimsoll.tpcw.rules.Choices;
import plimsoll.tpcw.web.Arguments;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Buy Confirm: the purchase. */
@WebServlet(Paths.BUY_CONFIRM)
public final class BuyConfirm extends Interaction {
    static final int CARD_NUMBER = 20;
    static final int CARD_NAME = 31;
    /** The well-known kit's own driver sends a name as HTML spells it: an ampersand is five letters. */
    private static final int CARD_NAME_SPELLED = 5 * CARD_NAME;
    static final int EXPIRY = 10;

    @Override
    protected String answer(Visit visit) throws SQLException {
        Wish wish = wish(visit.arguments());
        return page(visit.links(), database().place(wish, new Authorisation(gateway(), wish.card())));
    }

    static Wish wish(Arguments arguments) {
        Card card = new Card(
                arguments.oneOf("CC_TYPE", Choices.CARD_TYPES),
                arguments.text("CC_NUMBER", CARD_NUMBER),
                cardName(arguments.text("CC_NAME", CARD_NAME_SPELLED)),
                arguments.date("CC_EXPIRY"));
        return new Wish(
                arguments.id("C_ID"),
                arguments.id("SHOPPING_ID"),
                card,
                arguments.oneOf("SHIPPING", Choices.SHIP_TYPES),
                AddressTable.read(arguments));
    }

    /** As much as its column holds. */
    private static String cardName(String given) {
        return given.substring(0, Math.min(given.length(), CARD_NAME));
    }

    static String page(Links links, Placed placed) {
        Page page = new Page("Buy Confirm", links);
        page.raw("<h2>Thank you for your order</h2>\n<table>\n")
                .row("Order number", "order", placed.order())
                .row("Authorisation", "authorisation", placed.authorisation())
                .raw("</table>\n");
        CartTable.show(page, placed.lines());
        CartTable.showTotals(page, placed.discount(), placed.totals());
        return page.buttons(Button.SEARCH, Button.HOME).end();
    }
}
