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

/** Product Detail: all about one book. */
@WebServlet(Paths.PRODUCT_DETAIL)
public final class ProductDetail extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        return page(visit.links(), database().detail(visit.arguments().id("I_ID")));
    }

    static String page(Links links, Detail detail) {
        int item = detail.book().id();
        Page page = new Page("Product Detail", links);
        page.raw("<h2 id=\"title\">").text(detail.book().title()).raw("</h2>\n<p>")
                .image(detail.image(), "Book " + item).raw("</p>\n<table>\n")
                .row("Author", "author", detail.book().firstName() + " " + detail.book().lastName())
                .row("Subject", "subject", detail.subject())
                .row("Description", "description", detail.description())
                .amount("Suggested retail price", "srp", detail.srp())
                .amount("Our price", "cost", detail.cost())
                .amount("You save", "saving", detail.srp().subtract(detail.cost()))
                .row("Backing", "backing", detail.backing())
                .row("Pages", "pages", detail.pages())
                .row("Publisher", "publisher", detail.publisher())
                .row("Publication date", "published", detail.published())
                .row("Available from", "available", detail.available())
                .row("In stock", "stock", detail.stock())
                .row("Dimensions in inches", "dimensions", detail.dimensions())
                .row("ISBN", "isbn", detail.isbn())
                .raw("</table>\n<p>").link("Edit this book", Paths.ADMIN_REQUEST, "I_ID", item).raw("</p>\n<p>\n")
                .button(Button.ADD, "I_ID", item)
                .button(Button.SEARCH)
                .button(Button.HOME);
        return page.raw("</p>\n").end();
    }
}
