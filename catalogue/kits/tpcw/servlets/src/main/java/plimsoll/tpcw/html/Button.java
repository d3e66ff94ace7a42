package plimsoll.tpcw.html;

import plimsoll.tpcw.Paths;

/** The buttons: a picture each. Those with a path lead there, the others send the form that they are in. */
public enum Button {
    HOME("home.gif", "Home", Paths.HOME),
    SEARCH("search.gif", "Search", Paths.SEARCH_REQUEST),
    SHOPPING_CART("shopping_cart.gif", "Shopping Cart", Paths.SHOPPING_CART, "ADD_FLAG", "N"),
    ORDER_STATUS("order_status.gif", "Order Status", Paths.ORDER_INQUIRY),
    CHECKOUT("checkout.gif", "Checkout", Paths.CUSTOMER_REGISTRATION),
    ADD("add.gif", "Add to Cart", Paths.SHOPPING_CART, "ADD_FLAG", "Y"),
    UPDATE("update.gif", "Update", null),
    REFRESH("refresh.gif", "Refresh", null),
    SUBMIT("submit.gif", "Submit", null),
    DISPLAY_LAST_ORDER("display_last_order.gif", "Display Last Order", null);

    final String image;
    final String name;
    final String path;
    private final Object[] parameters;

    Button(String image, String name, String path, Object... parameters) {
        this.image = image;
        this.name = name;
        this.path = path;
        this.parameters = parameters;
    }

    /** Its own parameters and then the page's. */
    Object[] parameters(Object... more) {
        Object[] all = new Object[parameters.length + more.length];
        System.arraycopy(parameters, 0, all, 0, parameters.length);
        System.arraycopy(more, 0, all, parameters.length, more.length);
        return all;
    }
}
