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

/** Search Results: the first 50 books by title that a search finds. */
@WebServlet(Paths.SEARCH_RESULTS)
public final class SearchResults extends Interaction {
    static final int LONGEST = 60;

    @Override
    protected String answer(Visit visit) throws SQLException {
        String type = visit.arguments().oneOf("search_type", Choices.SEARCH_TYPES);
        String text = visit.arguments().text("search_string", LONGEST);
        List<Book> books = database().search(type, text);
        return page(visit.links(), type, text, books, database().promoted(null));
    }

    static String page(Links links, String type, String text, List<Book> books, List<Thumbnail> promoted) {
        return BookList.page("Search Results", "Books by " + type + ": " + text, links, books, promoted);
    }
}
