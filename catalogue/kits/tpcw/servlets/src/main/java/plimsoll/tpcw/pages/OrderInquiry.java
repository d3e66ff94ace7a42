package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Order Inquiry: the form by which customers ask for their last order. */
@WebServlet(Paths.ORDER_INQUIRY)
public final class OrderInquiry extends Interaction {
    @Override
    protected String answer(Visit visit) {
        return page(visit.links());
    }

    static String page(Links links) {
        return new Page("Order Inquiry", links)
                .form("post", Paths.ORDER_DISPLAY)
                .raw("<table>\n")
                .field("User name", "UNAME", "", BuyRequest.USER_NAME)
                .password("Password", "PASSWD", "", BuyRequest.PASSWORD)
                .raw("</table>\n")
                .submit(Button.DISPLAY_LAST_ORDER)
                .buttons(Button.SEARCH, Button.HOME)
                .end();
    }
}
