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

/** Best Sellers: the 50 books of a subject of which most were sold in the 3,333 most recent orders. */
@WebServlet(Paths.BEST_SELLERS)
public final class BestSellers extends Interaction {
    @Override
    protected String answer(Visit visit) throws SQLException {
        String subject = visit.arguments().oneOf("subject", Choices.SUBJECTS);
        List<Book> books = database().bestSellers(subject);
        return page(visit.links(), subject, books, database().promoted(null));
    }

    static String page(Links links, String subject, List<Book> books, List<Thumbnail> promoted) {
        return BookList.page("Best Sellers", "Best sellers in " + subject, links, books, promoted);
    }
}
