package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Detail;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Admin Request: the form by which the administrator changes a book. */
@WebServlet(Paths.ADMIN_REQUEST)
public final class AdminRequest extends Interaction {
    static final int COST = 13;
    static final int IMAGE = 40;

    @Override
    protected String answer(Visit visit) throws SQLException {
        return page(visit.links(), database().detail(visit.arguments().id("I_ID")));
    }

    static String page(Links links, Detail detail) {
        int item = detail.book().id();
        return new Page("Admin Request", links)
                .raw("<h2 id=\"title\">").text(detail.book().title()).raw("</h2>\n<p>")
                .image(detail.image(), "Book " + item).image(detail.thumbnail(), "Thumbnail of book " + item)
                .raw("</p>\n<table>\n")
                .row("Author", "author", detail.book().firstName() + " " + detail.book().lastName())
                .amount("Suggested retail price", "srp", detail.srp())
                .amount("Our current price", "cost", detail.cost())
                .raw("</table>\n")
                .form("post", Paths.ADMIN_CONFIRM)
                // As hidden(), but in the letters by which the well-known kit's own driver finds the book's number.
                .raw("<input NAME=\"I_ID\" TYPE=\"hidden\" VALUE=\"").text(item).raw("\">\n<table>\n")
                .field("New price", "I_NEW_COST", Page.plain(detail.cost()), COST)
                .field("New picture", "I_NEW_IMAGE", detail.image(), IMAGE)
                .field("New thumbnail", "I_NEW_THUMBNAIL", detail.thumbnail(), IMAGE)
                .raw("</table>\n")
                .submit(Button.UPDATE)
                .buttons(Button.SEARCH, Button.HOME)
                .end();
    }
}
