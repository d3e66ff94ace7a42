package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import java.util.List;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.rules.Choices;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Search Request: the form of a search. */
@WebServlet(Paths.SEARCH_REQUEST)
public final class SearchRequest extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        return page(visit.links(), database().promoted(null));
    }

    static String page(Links links, List<Thumbnail> promoted) {
        Page page = new Page("Search Request", links);
        Promotion.show(page, promoted);
        return page.form("get", Paths.SEARCH_RESULTS)
                .raw("<table>\n")
                .choice("Search by", "search_type", Choices.SEARCH_TYPES)
                .field("for", "search_string", "", SearchResults.LONGEST)
                .raw("</table>\n")
                .submit(Button.SUBMIT)
                .buttons(Button.SHOPPING_CART, Button.HOME)
                .end();
    }
}
