package plimsoll.tpcw.html;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;
import plimsoll.tpcw.Paths;

/** Escaping and links. */
class HtmlTest {
    private static Links links(Integer cart, Integer customer) {
        return new Links(path -> path + ";jsessionid=5E55", cart, customer);
    }

    @Test
    void what_means_something_to_html_is_escaped() {
        assertEquals("&lt;b&gt; &amp; &quot;it&#39;s&quot;", Html.escape("<b> & \"it's\""));
        assertEquals("x&amp;", Html.escape("x&"));
        assertEquals("&amp;amp;", Html.escape("&amp;"));
        assertEquals("é~{}[]|:;,.?/", Html.escape("é~{}[]|:;,.?/"));
    }

    @Test
    void nothing_is_no_text_and_plain_text_is_not_copied() {
        assertEquals("", Html.escape(null));
        String plain = "plain";
        assertSame(plain, Html.escape(plain));
    }

    @Test
    void a_link_has_the_session_before_its_parameters() {
        assertEquals("/tpcw/TPCW_home_interaction;jsessionid=5E55", links(null, null).to(Paths.HOME));
        assertEquals("/tpcw/TPCW_product_detail_servlet;jsessionid=5E55?I_ID=7&amp;SHOPPING_ID=3&amp;C_ID=9",
                links(3, 9).to(Paths.PRODUCT_DETAIL, "I_ID", 7));
        assertEquals("/tpcw/TPCW_home_interaction;jsessionid=5E55?C_ID=9", links(null, 9).to(Paths.HOME));
    }

    @Test
    void values_are_encoded() {
        assertEquals("/tpcw/TPCW_execute_search;jsessionid=5E55?search_string=a+%26%3D%3F%22",
                links(null, null).to(Paths.SEARCH_RESULTS, "search_string", "a &=?\""));
    }

    @Test
    void a_form_has_its_cart_and_customer_as_fields() {
        String form = new Page("T", links(3, 9)).form("get", Paths.SEARCH_RESULTS).end();
        assertEquals("""
                <!DOCTYPE html>
                <html lang="en">
                <head><meta charset="utf-8"><title>TPC-W: T</title></head>
                <body>
                <p><IMG SRC="/tpcw/Images/tpclogo.gif" alt="TPC-W Bookstore"></p>
                <h1>T</h1>
                <form action="/tpcw/TPCW_execute_search;jsessionid=5E55" method="get">
                <input type="hidden" name="SHOPPING_ID" value="3">
                <input type="hidden" name="C_ID" value="9">
                </body>
                </html>
                """, form);
    }
}
