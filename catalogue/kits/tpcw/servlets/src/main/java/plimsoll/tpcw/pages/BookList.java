package plimsoll.tpcw.pages;

import java.util.List;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Book;
import plimsoll.tpcw.model.Thumbnail;

/** The pages that are lists of books: new ones, best sellers, what a search found. */
final class BookList {
    private BookList() {
    }

    static String page(String title, String about, Links links, List<Book> books, List<Thumbnail> promoted) {
        Page page = new Page(title, links);
        page.raw("<h2>").text(about).raw("</h2>\n");
        Promotion.show(page, promoted);
        page.raw("<table id=\"books\">\n<tr><th>Author</th><th>Title</th></tr>\n");
        for (Book book : books) {
            page.raw("<tr><td>").text(book.firstName() + " " + book.lastName()).raw("</td><td>")
                    .link(book.title(), Paths.PRODUCT_DETAIL, "I_ID", book.id()).raw("</td></tr>\n");
        }
        page.raw("</table>\n");
        if (books.isEmpty()) {
            page.raw("<p>No books were found.</p>\n");
        }
        return page.buttons(Button.SHOPPING_CART, Button.SEARCH, Button.HOME).end();
    }
}
