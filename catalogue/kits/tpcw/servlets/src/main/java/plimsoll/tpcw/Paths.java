package plimsoll.tpcw;

/** Where each interaction lies, in the order of the specification: the paths of the well-known Java kit. */
public final class Paths {
    public static final String HOME = "/tpcw/TPCW_home_interaction";
    public static final String NEW_PRODUCTS = "/tpcw/TPCW_new_products_servlet";
    public static final String BEST_SELLERS = "/tpcw/TPCW_best_sellers_servlet";
    public static final String PRODUCT_DETAIL = "/tpcw/TPCW_product_detail_servlet";
    public static final String SEARCH_REQUEST = "/tpcw/TPCW_search_request_servlet";
    public static final String SEARCH_RESULTS = "/tpcw/TPCW_execute_search";
    public static final String SHOPPING_CART = "/tpcw/TPCW_shopping_cart_interaction";
    public static final String CUSTOMER_REGISTRATION = "/tpcw/TPCW_customer_registration_servlet";
    public static final String BUY_REQUEST = "/tpcw/TPCW_buy_request_servlet";
    public static final String BUY_CONFIRM = "/tpcw/TPCW_buy_confirm_servlet";
    public static final String ORDER_INQUIRY = "/tpcw/TPCW_order_inquiry_servlet";
    public static final String ORDER_DISPLAY = "/tpcw/TPCW_order_display_servlet";
    public static final String ADMIN_REQUEST = "/tpcw/TPCW_admin_request_servlet";
    public static final String ADMIN_CONFIRM = "/tpcw/TPCW_admin_response";
    /** By which the original's own driver asks for {@link #ADMIN_CONFIRM}. */
    public static final String ADMIN_CONFIRM_TOO = "/tpcw/TPCW_admin_response_servlet";

    private Paths() {
    }
}
