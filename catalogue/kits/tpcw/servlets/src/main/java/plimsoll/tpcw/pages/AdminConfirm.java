package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.BookChange;
import plimsoll.tpcw.model.Detail;
import plimsoll.tpcw.web.Arguments;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** Admin Confirm: changes a book, and finds out anew which others go with it. */
@WebServlet({Paths.ADMIN_CONFIRM, Paths.ADMIN_CONFIRM_TOO})
public final class AdminConfirm extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        return page(visit.links(), database().changeBook(change(visit.arguments())));
    }

    static BookChange change(Arguments arguments) {
        return new BookChange(
                arguments.id("I_ID"),
                arguments.money("I_NEW_COST"),
                arguments.text("I_NEW_IMAGE", AdminRequest.IMAGE),
                arguments.text("I_NEW_THUMBNAIL", AdminRequest.IMAGE));
    }

    static String page(Links links, Detail detail) {
        int item = detail.book().id();
        return new Page("Admin Confirm", links)
                .raw("<h2 id=\"title\">").text(detail.book().title()).raw("</h2>\n<p>")
                .image(detail.image(), "Book " + item).image(detail.thumbnail(), "Thumbnail of book " + item)
                .raw("</p>\n<table>\n")
                .row("Number", "item", item)
                .row("Author", "author", detail.book().firstName() + " " + detail.book().lastName())
                .row("Subject", "subject", detail.subject())
                .amount("Suggested retail price", "srp", detail.srp())
                .amount("Our new price", "cost", detail.cost())
                .row("Published", "published", detail.published())
                .raw("</table>\n")
                .buttons(Button.SEARCH, Button.HOME)
                .end();
    }
}
