package plimsoll.tpcw.pages;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.servlet.annotation.WebServlet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import plimsoll.tpcw.web.Interaction;

/** The paths by which everybody's drivers ask for the fourteen interactions. */
class PathsTest {
    @ParameterizedTest
    @CsvSource({
        "Home,                 /tpcw/TPCW_home_interaction",
        "NewProducts,          /tpcw/TPCW_new_products_servlet",
        "BestSellers,          /tpcw/TPCW_best_sellers_servlet",
        "ProductDetail,        /tpcw/TPCW_product_detail_servlet",
        "SearchRequest,        /tpcw/TPCW_search_request_servlet",
        "SearchResults,        /tpcw/TPCW_execute_search",
        "ShoppingCart,         /tpcw/TPCW_shopping_cart_interaction",
        "CustomerRegistration, /tpcw/TPCW_customer_registration_servlet",
        "BuyRequest,           /tpcw/TPCW_buy_request_servlet",
        "BuyConfirm,           /tpcw/TPCW_buy_confirm_servlet",
        "OrderInquiry,         /tpcw/TPCW_order_inquiry_servlet",
        "OrderDisplay,         /tpcw/TPCW_order_display_servlet",
        "AdminRequest,         /tpcw/TPCW_admin_request_servlet",
        "AdminConfirm,         /tpcw/TPCW_admin_response /tpcw/TPCW_admin_response_servlet",
    })
    void an_interaction_lies_where_it_always_has(String name, String paths) throws ReflectiveOperationException {
        Class<?> interaction = Class.forName("plimsoll.tpcw.pages." + name);
        assertEquals(Interaction.class, interaction.getSuperclass());
        assertArrayEquals(paths.split(" "), interaction.getAnnotation(WebServlet.class).value());
    }
}
