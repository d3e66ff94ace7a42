package plimsoll.tpcw.pages;

import jakarta.servlet.annotation.WebServlet;
import java.sql.SQLException;
import java.util.List;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.model.Book;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.rules.Choices;
import plimsoll.tpcw.web.Interaction;
import plimsoll.tpcw.web.Visit;

/** New Products: the 50 books of a subject that were published last. */
@WebServlet(Paths.NEW_PRODUCTS)
public final class NewProducts extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        String subject = visit.arguments().oneOf("subject", Choices.SUBJECTS);
        List<Book> books = database().newProducts(subject);
        return page(visit.links(), subject, books, database().promoted(null));
    }

    static String page(Links links, String subject, List<Book> books, List<Thumbnail> promoted) {
        return BookList.page("New Products", "New in " + subject, links, books, promoted);
    }
}
