package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import java.util.Locale;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Customer Registration: who is it that buys? The name of somebody who is known stands there already. */
@WebServlet(Paths.CUSTOMER_REGISTRATION)
public final class CustomerRegistration extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        Integer customer = visit.links().customer();
        String userName = customer == null ? "" : database().userName(customer).orElse("");
        return page(visit.links(), userName);
    }

    static String page(Links links, String userName) {
        boolean returning = !userName.isEmpty();
        Page page = new Page("Customer Registration", links);
        page.form("post", Paths.BUY_REQUEST);
        page.raw("<p>").raw(radio("Y", returning)).raw(" I am a returning customer.</p>\n<table>\n")
                .field("User name", "UNAME", userName, BuyRequest.USER_NAME)
                // The benchmark's passwords are the names; the kit's page fills them in.
                .password("Password", "PASSWD", userName.toLowerCase(Locale.ROOT), BuyRequest.PASSWORD)
                .raw("</table>\n<p>").raw(radio("N", !returning)).raw(" I am a new customer.</p>\n<table>\n")
                .field("First name", "FNAME", "", BuyRequest.NAME)
                .field("Last name", "LNAME", "", BuyRequest.NAME);
        AddressTable.ask(page, "STREET1", "STREET2");
        return page.field("Phone", "PHONE", "", BuyRequest.PHONE)
                .field("E-mail", "EMAIL", "", BuyRequest.EMAIL)
                .field("Birthday, as 1965-04-30", "BIRTHDATE", "", BuyRequest.BIRTHDATE)
                .field("Special information", "DATA", "", BuyRequest.DATA)
                .raw("</table>\n")
                .submit(Button.SUBMIT)
                .buttons(Button.SEARCH, Button.HOME)
                .end();
    }

    private static String radio(String value, boolean chosen) {
        return "<input type=\"radio\" name=\"RETURNING_FLAG\" value=\"" + value + (chosen ? "\" checked>" : "\">");
    }
}
