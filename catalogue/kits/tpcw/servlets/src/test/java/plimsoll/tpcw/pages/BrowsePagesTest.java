package plimsoll.tpcw.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import plimsoll.tpcw.model.Book;
import plimsoll.tpcw.model.Name;
import plimsoll.tpcw.rules.Choices;

/** The browsing interactions' pages, from made-up rows: what drivers find in them. */
class BrowsePagesTest {
    private static final String THEM = "&SHOPPING_ID=3&C_ID=9";
    private static final String SHOW_CART =
            "/tpcw/TPCW_shopping_cart_interaction;jsessionid=5E55?ADD_FLAG=N&SHOPPING_ID=3&C_ID=9";
    private static final String SEARCH = "/tpcw/TPCW_search_request_servlet;jsessionid=5E55?SHOPPING_ID=3&C_ID=9";
    private static final String HOME = "/tpcw/TPCW_home_interaction;jsessionid=5E55?SHOPPING_ID=3&C_ID=9";
    private static final String INQUIRY = "/tpcw/TPCW_order_inquiry_servlet;jsessionid=5E55?SHOPPING_ID=3&C_ID=9";
    private static final List<String> THUMBNAILS = List.of(
            "/tpcw/Images/img11/thumb_11.gif", "/tpcw/Images/img12/thumb_12.gif", "/tpcw/Images/img13/thumb_13.gif",
            "/tpcw/Images/img14/thumb_14.gif", "/tpcw/Images/img15/thumb_115.gif");

    private static String product(int item) {
        return "/tpcw/TPCW_product_detail_servlet;jsessionid=5E55?I_ID=" + item + THEM;
    }

    private static List<String> promoted() {
        return List.of(product(11), product(12), product(13), product(14), product(115));
    }

    /** The logo, the promotion's thumbnails, and what else a page shows. */
    private static List<String> images(String... others) {
        List<String> images = new ArrayList<>(List.of("/tpcw/Images/tpclogo.gif"));
        images.addAll(THUMBNAILS);
        for (String other : others) {
            images.add("/tpcw/Images/" + other);
        }
        return images;
    }

    private static void assertListOfBooks(Markup page, String title) {
        assertEquals("TPC-W: " + title, page.title());
        List<String> links = new ArrayList<>(promoted());
        links.addAll(List.of(product(7), product(8), SHOW_CART, SEARCH, HOME));
        assertEquals(links, page.links());
        assertEquals(images("shopping_cart.gif", "search.gif", "home.gif"), page.images());
        assertTrue(page.has("<td>A&lt;n&gt; BAAL &amp; Co</td>"), page.page());
        assertTrue(page.has(">BAOG &lt;b&gt;&amp;&quot;&#39; title</a>"), page.page());
    }

    private static List<Book> books() {
        return List.of(Rows.BOOK, new Book(8, "BAAL", "First", "Last"));
    }

    @Test
    void home_leads_to_new_products_and_best_sellers_of_each_subject() {
        Markup page = new Markup(Home.page(Rows.KNOWN, new Name(9, "Ann<e>", "B&C"), Rows.PROMOTED));
        assertEquals("TPC-W: Home", page.title());
        assertTrue(page.has("Hello Ann&lt;e&gt; B&amp;C"), page.page());
        List<String> links = new ArrayList<>(promoted());
        for (String subject : Choices.SUBJECTS) {
            links.add("/tpcw/TPCW_new_products_servlet;jsessionid=5E55?subject=" + subject + THEM);
            links.add("/tpcw/TPCW_best_sellers_servlet;jsessionid=5E55?subject=" + subject + THEM);
        }
        links.addAll(List.of(SHOW_CART, SEARCH, INQUIRY));
        assertEquals(links, page.links());
        List<String> images = images(
                "whats_new.gif", "best_sellers.gif", "shopping_cart.gif", "search.gif", "order_status.gif");
        assertEquals(11, images.size());
        assertEquals(images, page.images());
    }

    @Test
    void home_greets_whom_it_does_not_know() {
        Markup page = new Markup(Home.page(Rows.UNKNOWN, null, Rows.PROMOTED));
        assertTrue(page.has("Hello unknown user"), page.page());
        assertFalse(page.has("C_ID="), page.page());
        assertFalse(page.has("SHOPPING_ID="), page.page());
        assertTrue(page.page().startsWith(";jsessionid=5E55?", page.page().indexOf(";jsessionid=")), page.page());
        assertEquals(5 + 2 * 24 + 3, page.links().size());
        assertTrue(page.links().stream().allMatch(link -> link.contains(";jsessionid=5E55")), page.page());
    }

    @Test
    void new_products_are_books() {
        Markup page = new Markup(NewProducts.page(Rows.KNOWN, "NON-FICTION", books(), Rows.PROMOTED));
        assertListOfBooks(page, "New Products");
        assertTrue(page.has("<h2>New in NON-FICTION</h2>"), page.page());
    }

    @Test
    void best_sellers_are_books() {
        Markup page = new Markup(BestSellers.page(Rows.KNOWN, "ARTS", books(), Rows.PROMOTED));
        assertListOfBooks(page, "Best Sellers");
        assertTrue(page.has("<h2>Best sellers in ARTS</h2>"), page.page());
    }

    @Test
    void a_search_finds_books() {
        Markup page = new Markup(SearchResults.page(Rows.KNOWN, "title", "BA<O>G", books(), Rows.PROMOTED));
        assertListOfBooks(page, "Search Results");
        assertTrue(page.has("<h2>Books by title: BA&lt;O&gt;G</h2>"), page.page());
    }

    @Test
    void a_search_that_finds_nothing_says_so() {
        Markup page = new Markup(SearchResults.page(Rows.KNOWN, "title", "BAOG", List.of(), Rows.PROMOTED));
        assertTrue(page.has("No books were found."), page.page());
        assertEquals(8, page.links().size());
    }

    @Test
    void a_product_is_shown_in_full() {
        Markup page = new Markup(ProductDetail.page(Rows.KNOWN, Rows.DETAIL));
        assertEquals("TPC-W: Product Detail", page.title());
        assertEquals("BAOG <b>&\"' title", page.cell("title"));
        assertEquals("A<n> BAAL & Co", page.cell("author"));
        assertEquals("$20.00 $15.50 $4.50", page.cell("srp") + " " + page.cell("cost") + " " + page.cell("saving"));
        assertEquals("NON-FICTION|Des<c>|USED|321|Pub<lish>er|1999-12-31|2000-01-15|21|1.20x3.40x5.60|is<bn>",
                String.join("|", page.cell("subject"), page.cell("description"), page.cell("backing"),
                        page.cell("pages"), page.cell("publisher"), page.cell("published"), page.cell("available"),
                        page.cell("stock"), page.cell("dimensions"), page.cell("isbn")));
        assertEquals(
                List.of("/tpcw/TPCW_admin_request_servlet;jsessionid=5E55?I_ID=7" + THEM,
                        "/tpcw/TPCW_shopping_cart_interaction;jsessionid=5E55?ADD_FLAG=Y&I_ID=7" + THEM,
                        SEARCH, HOME),
                page.links());
        assertEquals(
                List.of("/tpcw/Images/tpclogo.gif", "/tpcw/Images/img7/image_7.gif", "/tpcw/Images/add.gif",
                        "/tpcw/Images/search.gif", "/tpcw/Images/home.gif"),
                page.images());
    }

    @Test
    void a_search_is_asked_for_by_type_and_string() {
        Markup page = new Markup(SearchRequest.page(Rows.KNOWN, Rows.PROMOTED));
        assertEquals("TPC-W: Search Request", page.title());
        assertEquals("get /tpcw/TPCW_execute_search;jsessionid=5E55", page.form());
        assertEquals(List.of("SHOPPING_ID", "C_ID", "search_type", "search_string"), page.fields());
        assertEquals(List.of("author", "title", "subject"), page.options());
        List<String> links = new ArrayList<>(promoted());
        links.addAll(List.of(SHOW_CART, HOME));
        assertEquals(links, page.links());
        assertEquals(images("submit.gif", "shopping_cart.gif", "home.gif"), page.images());
    }
}
