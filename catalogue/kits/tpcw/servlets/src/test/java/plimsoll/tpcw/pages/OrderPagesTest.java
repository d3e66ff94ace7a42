package plimsoll.tpcw.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The ordering interactions' pages, from made-up rows: what drivers find in them. */
class OrderPagesTest {
    private static final String SEARCH = "/tpcw/TPCW_search_request_servlet;jsessionid=5E55?SHOPPING_ID=3&C_ID=9";
    private static final String HOME = "/tpcw/TPCW_home_interaction;jsessionid=5E55?SHOPPING_ID=3&C_ID=9";
    private static final String LOGO = "/tpcw/Images/tpclogo.gif";
    private static final List<String> ADDRESS = List.of("CITY", "STATE", "ZIP", "COUNTRY");

    private static void assertTotals(Markup page) {
        assertEquals("$36.00 $2.97 $6.00 $44.97", String.join(
                " ", page.cell("subtotal"), page.cell("tax"), page.cell("shipping"), page.cell("total")));
    }

    private static List<String> with(List<String> first, List<String> more) {
        return Stream.concat(first.stream(), more.stream()).toList();
    }

    @Test
    void a_cart_can_be_refreshed_line_by_line() {
        Markup page = new Markup(ShoppingCart.page(Rows.KNOWN, Rows.LINES, Rows.PROMOTED));
        assertEquals("TPC-W: Shopping Cart", page.title());
        assertEquals("get /tpcw/TPCW_shopping_cart_interaction;jsessionid=5E55", page.form());
        assertEquals(List.of("SHOPPING_ID", "C_ID", "ADD_FLAG", "I_ID_0", "QTY_0", "I_ID_1", "QTY_1"), page.fields());
        assertEquals("3 9 N 7 2 8 1", String.join(" ", page.fields().stream().map(page::field).toList()));
        assertTrue(page.has(" NAME=\"QTY_0\" VALUE=\"2\""), page.page());
        assertTrue(page.has(" NAME=\"QTY_1\" VALUE=\"1\""), page.page());
        assertEquals("$40.00", page.cell("subtotal"));
        assertTrue(page.links().contains(
                "/tpcw/TPCW_customer_registration_servlet;jsessionid=5E55?SHOPPING_ID=3&C_ID=9"), page.page());
        assertTrue(page.links().contains(HOME), page.page());
        assertEquals(List.of("/tpcw/Images/refresh.gif", "/tpcw/Images/checkout.gif", "/tpcw/Images/home.gif"),
                page.images().subList(6, 9));
    }

    @Test
    void a_carts_and_a_sessions_number_are_the_first_of_their_kind() {
        String page = ShoppingCart.page(Rows.KNOWN, Rows.LINES, Rows.PROMOTED);
        assertTrue(page.startsWith(";jsessionid=5E55?", page.indexOf(";jsessionid=")), page);
        int first = page.indexOf("SHOPPING_ID=");
        assertTrue(page.startsWith("SHOPPING_ID=3&amp;C_ID=9\"", first), page);
    }

    @Test
    void a_registration_knows_a_returning_customers_name() {
        Markup page = new Markup(CustomerRegistration.page(Rows.KNOWN, "NG"));
        assertEquals("TPC-W: Customer Registration", page.title());
        assertEquals("post /tpcw/TPCW_buy_request_servlet;jsessionid=5E55", page.form());
        List<String> person = List.of(
                "SHOPPING_ID", "C_ID", "RETURNING_FLAG", "UNAME", "PASSWD", "FNAME", "LNAME", "STREET1", "STREET2");
        assertEquals(with(with(person, ADDRESS), List.of("PHONE", "EMAIL", "BIRTHDATE", "DATA")), page.fields());
        assertEquals("NG ng", page.field("UNAME") + " " + page.field("PASSWD"));
        assertTrue(page.has("name=\"RETURNING_FLAG\" value=\"Y\" checked>"), page.page());
        assertTrue(page.has("name=\"RETURNING_FLAG\" value=\"N\">"), page.page());
        assertEquals(List.of(SEARCH, HOME), page.links());
        assertEquals(
                List.of(LOGO, "/tpcw/Images/submit.gif", "/tpcw/Images/search.gif", "/tpcw/Images/home.gif"),
                page.images());
    }

    @Test
    void a_registration_of_somebody_unknown_is_empty() {
        Markup page = new Markup(CustomerRegistration.page(Rows.UNKNOWN, ""));
        assertEquals("", page.field("UNAME") + page.field("PASSWD"));
        assertTrue(page.has("name=\"RETURNING_FLAG\" value=\"N\" checked>"), page.page());
        assertTrue(page.has("name=\"RETURNING_FLAG\" value=\"Y\">"), page.page());
    }

    @Test
    void a_buy_request_tells_the_customer_and_asks_for_the_card() {
        Markup page = new Markup(BuyRequest.page(Rows.KNOWN, Rows.CUSTOMER, Rows.LINES));
        assertEquals("TPC-W: Buy Request", page.title());
        assertEquals("9|NG", page.cell("customer") + "|" + page.cell("uname"));
        assertTrue(page.has("Firstname:</TD><TD>Ann&lt;e&gt;<"), page.page());
        assertTrue(page.has("Lastname: </TD><TD>B&amp;C<"), page.page());
        assertTrue(page.page().startsWith("C_ID=9\"", page.page().indexOf("C_ID=")), page.page());
        assertTotals(page);
        assertEquals("10%", page.cell("discount"));
        assertEquals("post /tpcw/TPCW_buy_confirm_servlet;jsessionid=5E55", page.form());
        List<String> card = List.of("SHOPPING_ID", "C_ID", "CC_TYPE", "CC_NUMBER", "CC_NAME", "CC_EXPIRY", "SHIPPING",
                "STREET_1", "STREET_2");
        assertEquals(with(card, ADDRESS), page.fields());
        assertEquals("Ann<e> B&C", page.field("CC_NAME"));
        assertEquals(
                List.of("VISA", "MASTERCARD", "DISCOVER", "AMEX", "DINERS", "AIR", "UPS", "FEDEX", "SHIP", "COURIER",
                        "MAIL"),
                page.options());
        assertEquals(List.of(SEARCH, HOME), page.links());
        assertTrue(page.has("1 &lt;Main&gt; St"), page.page());
    }

    @Test
    void a_buy_confirm_tells_the_orders_number_and_what_was_paid() {
        Markup page = new Markup(BuyConfirm.page(Rows.KNOWN, Rows.PLACED));
        assertEquals("TPC-W: Buy Confirm", page.title());
        assertEquals("2592001", page.cell("order"));
        assertEquals("0123456789ABCDE", page.cell("authorisation"));
        assertTotals(page);
        assertTrue(
                page.has("<tr><td>BAOG &lt;b&gt; title</td><td>USED</td><td>$15.50</td><td>2</td></tr>"), page.page());
        assertEquals(List.of(SEARCH, HOME), page.links());
        assertEquals(List.of(LOGO, "/tpcw/Images/search.gif", "/tpcw/Images/home.gif"), page.images());
    }

    @Test
    void an_order_inquiry_asks_for_name_and_password() {
        assertEquals("""
                <!DOCTYPE html>
                <html lang="en">
                <head><meta charset="utf-8"><title>TPC-W: Order Inquiry</title></head>
                <body>
                <p><IMG SRC="/tpcw/Images/tpclogo.gif" alt="TPC-W Bookstore"></p>
                <h1>Order Inquiry</h1>
                <form action="/tpcw/TPCW_order_display_servlet;jsessionid=5E55" method="post">
                <input type="hidden" name="SHOPPING_ID" value="3">
                <input type="hidden" name="C_ID" value="9">
                <table>
                <tr><th>User name</th><td><input type="text" name="UNAME" value="" maxlength="20"></td></tr>
                <tr><th>Password</th><td><input type="password" name="PASSWD" value="" maxlength="20"></td></tr>
                </table>
                <p><button type="submit">\
                <IMG SRC="/tpcw/Images/display_last_order.gif" alt="Display Last Order"></button></p>
                </form>
                <p>
                <a href="/tpcw/TPCW_search_request_servlet;jsessionid=5E55?SHOPPING_ID=3&amp;C_ID=9">\
                <IMG SRC="/tpcw/Images/search.gif" alt="Search"></a>
                <a href="/tpcw/TPCW_home_interaction;jsessionid=5E55?SHOPPING_ID=3&amp;C_ID=9">\
                <IMG SRC="/tpcw/Images/home.gif" alt="Home"></a>
                </p>
                </body>
                </html>
                """, OrderInquiry.page(Rows.KNOWN));
    }

    @Test
    void an_order_is_displayed_with_its_lines_and_status() {
        Markup page = new Markup(OrderDisplay.page(Rows.KNOWN, Rows.ORDER));
        assertEquals("TPC-W: Order Display", page.title());
        assertEquals("2592001|2026-01-02|PENDING|UPS|2026-01-05|VISA|Ann<e>|B&C", String.join(
                "|", page.cell("order"), page.cell("ordered"), page.cell("status"), page.cell("ship_type"),
                page.cell("shipped"), page.cell("card"), page.cell("fname"), page.cell("lname")));
        assertTotals(page);
        assertTrue(page.has("<td>7</td><td>BAOG &lt;b&gt; title</td><td>Pub&lt;lish&gt;er</td><td>$15.50</td>"
                + "<td>2</td><td>10%</td><td>com&lt;ments&gt;</td>"), page.page());
        assertTrue(page.has("1 &lt;Main&gt; St") && page.has("2 Side St"), page.page());
        assertEquals(List.of(SEARCH, HOME), page.links());
        assertEquals(List.of(LOGO, "/tpcw/Images/search.gif", "/tpcw/Images/home.gif"), page.images());
    }

    @Test
    void somebody_without_an_order_is_told_so() {
        Markup page = new Markup(OrderDisplay.page(Rows.KNOWN, null));
        assertEquals("TPC-W: Order Display", page.title());
        assertEquals("You have not ordered anything yet.", page.cell("none"));
        assertEquals("", page.cell("order"));
    }

    @Test
    void an_admin_request_asks_for_price_and_pictures() {
        Markup page = new Markup(AdminRequest.page(Rows.KNOWN, Rows.DETAIL));
        assertEquals("TPC-W: Admin Request", page.title());
        assertEquals("post /tpcw/TPCW_admin_response;jsessionid=5E55", page.form());
        assertEquals(
                List.of("SHOPPING_ID", "C_ID", "I_ID", "I_NEW_COST", "I_NEW_IMAGE", "I_NEW_THUMBNAIL"), page.fields());
        assertEquals("7 15.50 img7/image_7.gif img7/thumb_7.gif", String.join(
                " ", page.field("I_ID"), page.field("I_NEW_COST"), page.field("I_NEW_IMAGE"),
                page.field("I_NEW_THUMBNAIL")));
        assertTrue(page.has("I_ID\" TYPE=\"hidden\" VALUE=\"7\""), page.page());
        assertEquals("$15.50", page.cell("cost"));
        assertEquals(
                List.of(LOGO, "/tpcw/Images/img7/image_7.gif", "/tpcw/Images/img7/thumb_7.gif",
                        "/tpcw/Images/update.gif", "/tpcw/Images/search.gif", "/tpcw/Images/home.gif"),
                page.images());
    }

    @Test
    void an_admin_confirm_shows_the_changed_book() {
        Markup page = new Markup(AdminConfirm.page(Rows.KNOWN, Rows.DETAIL));
        assertEquals("TPC-W: Admin Confirm", page.title());
        assertEquals("7 $15.50", page.cell("item") + " " + page.cell("cost"));
        assertEquals("BAOG <b>&\"' title", page.cell("title"));
        assertEquals(List.of(SEARCH, HOME), page.links());
        assertEquals(
                List.of(LOGO, "/tpcw/Images/img7/image_7.gif", "/tpcw/Images/img7/thumb_7.gif",
                        "/tpcw/Images/search.gif", "/tpcw/Images/home.gif"),
                page.images());
        assertFalse(page.has("<form"), page.page());
    }
}
