package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import java.util.List;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Address;
import plimsoll.tpcw.model.CartLine;
import plimsoll.tpcw.model.Customer;
import plimsoll.tpcw.model.Person;
import plimsoll.tpcw.rules.Choices;
import plimsoll.tpcw.rules.Totals;
import plimsoll.tpcw.web.Arguments;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Buy Request: logs the customer in, or registers a new one, and asks for the card. */
@WebServlet(Paths.BUY_REQUEST)
public final class BuyRequest extends Interaction {
    static final int USER_NAME = 20;
    static final int PASSWORD = 20;
    static final int NAME = 15;
    static final int PHONE = 16;
    static final int EMAIL = 50;
    static final int BIRTHDATE = 10;
    static final int DATA = 500;

    @Override
    protected String answer(Visit visit) throws SQLException {
        Arguments arguments = visit.arguments();
        int cart = arguments.id("SHOPPING_ID");
        Customer customer = arguments.flag("RETURNING_FLAG")
                ? database().logIn(arguments.text("UNAME", USER_NAME), arguments.text("PASSWD", PASSWORD))
                : database().register(person(arguments));
        List<CartLine> lines = database().cartLines(cart);
        // When nothing can fail any more: a session that greets somebody belongs to a visitor who was told the number.
        visit.greet(customer.name());
        return page(visit.links().knowing(cart, customer.id()), customer, lines);
    }

    static Person person(Arguments arguments) {
        Address address = AddressTable.read(arguments);
        if (address == null) {
            throw Refusal.badRequest("STREET1 is missing.");
        }
        return new Person(
                arguments.text("FNAME", NAME),
                arguments.text("LNAME", NAME),
                address,
                arguments.text("PHONE", PHONE),
                arguments.text("EMAIL", EMAIL),
                arguments.date("BIRTHDATE"),
                arguments.optional("DATA", DATA));
    }

    static String page(Links links, Customer customer, List<CartLine> lines) {
        Person person = customer.person();
        Page page = new Page("Buy Request", links);
        page.raw("<h2>Billing information</h2>\n<table>\n")
                .row("Customer number", "customer", customer.id())
                .row("User name", "uname", customer.userName())
                // The letters between which the well-known kit's own driver finds both names.
                .raw("<tr><TD>Firstname:</TD><TD>").text(person.firstName()).raw("</TD></tr>\n")
                .raw("<tr><TD>Lastname: </TD><TD>").text(person.lastName()).raw("</TD></tr>\n")
                .row("Phone", "phone", person.phone())
                .row("E-mail", "email", person.email())
                .row("Birthday", "birthdate", person.birthdate())
                .raw("</table>\n");
        AddressTable.show(page, person.address());
        page.raw("<h2>Order information</h2>\n");
        CartTable.show(page, lines);
        CartTable.showTotals(page, customer.discount(), Totals.of(lines, customer.discount()));
        page.form("post", Paths.BUY_CONFIRM).raw("<h2>Credit card</h2>\n<table>\n")
                .choice("Type", "CC_TYPE", Choices.CARD_TYPES)
                .field("Number", "CC_NUMBER", "", BuyConfirm.CARD_NUMBER)
                .field("Name", "CC_NAME", person.firstName() + " " + person.lastName(), BuyConfirm.CARD_NAME)
                .field("Expires, as 2030-12-31", "CC_EXPIRY", "", BuyConfirm.EXPIRY)
                .raw("</table>\n<h2>Shipping</h2>\n<table>\n")
                .choice("By", "SHIPPING", Choices.SHIP_TYPES);
        // Only where it isn't sent to the customer's own address.
        AddressTable.ask(page, "STREET_1", "STREET_2");
        return page.raw("</table>\n").submit(Button.SUBMIT).buttons(Button.SEARCH, Button.HOME).end();
    }
}
