package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import java.util.List;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Name;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.rules.Choices;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Home: greets the visitor, and leads to new products and best sellers by subject. */
@WebServlet(Paths.HOME)
public final class Home extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        Name name = visit.name();
        Integer customer = visit.links().customer();
        // Read once a session.
        if (customer != null && (name == null || name.customer() != customer)) {
            name = database().name(customer).orElse(null);
            visit.greet(name);
        }
        return page(visit.links(), name, database().promoted(null));
    }

    static String page(Links links, Name name, List<Thumbnail> promoted) {
        Page page = new Page("Home", links);
        String whom = name == null ? "unknown user" : name.first() + " " + name.last();
        page.raw("<h2>Hello ").text(whom).raw("</h2>\n");
        Promotion.show(page, promoted);
        page.raw("<table id=\"subjects\">\n<tr><th>").image("whats_new.gif", "New Products").raw("</th><th>")
                .image("best_sellers.gif", "Best Sellers").raw("</th></tr>\n");
        for (String subject : Choices.SUBJECTS) {
            page.raw("<tr><td>").link(subject, Paths.NEW_PRODUCTS, "subject", subject).raw("</td><td>")
                    .link(subject, Paths.BEST_SELLERS, "subject", subject).raw("</td></tr>\n");
        }
        return page.raw("</table>\n").buttons(Button.SHOPPING_CART, Button.SEARCH, Button.ORDER_STATUS).end();
    }
}
