package plimsoll.tpcw.pages;

import java.util.List;
import plimsoll.tpcw.Paths;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Thumbnail;

/** The promotional part of a page: pictures of books, each a link to its book. */
final class Promotion {
    private Promotion() {
    }

    static void show(Page page, List<Thumbnail> promoted) {
        page.raw("<p class=\"promotion\">\n");
        for (Thumbnail thumbnail : promoted) {
            page.anchor(Paths.PRODUCT_DETAIL, "I_ID", thumbnail.item())
                    .image(thumbnail.image(), "Book " + thumbnail.item())
                    .raw("</a>\n");
        }
        page.raw("</p>\n");
    }
}
