package plimsoll.tpcw.html;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The links of one page: each carries the session's number and, once they are known, the cart's and the customer's. */
public final class Links {
    private final UnaryOperator<String> withSession;
    private final Integer cart;
    private final Integer customer;
    private final Map<String, String> paths = new HashMap<>();

    /** With how a path gets the session's number; cart and customer are null until they are known. */
    public Links(UnaryOperator<String> withSession, Integer cart, Integer customer) {
        this.withSession = withSession;
        this.cart = cart;
        this.customer = customer;
    }

    public Links knowing(Integer cart, Integer customer) {
        return new Links(withSession, cart, customer);
    }

    public Integer cart() {
        return cart;
    }

    public Integer customer() {
        return customer;
    }

    /** An interaction's URL with these parameters (name, value, name, value …), escaped for an attribute. */
    public String to(String path, Object... parameters) {
        StringBuilder url = new StringBuilder(128).append(path(path));
        char separator = '?';
        for (int at = 0; at < parameters.length; at += 2) {
            separator = append(url, separator, (String) parameters[at], parameters[at + 1]);
        }
        if (cart != null) {
            separator = append(url, separator, "SHOPPING_ID", cart);
        }
        if (customer != null) {
            append(url, separator, "C_ID", customer);
        }
        return Html.escape(url);
    }

    /** A form's address: what else its links would carry are fields of the form. */
    public String action(String path) {
        return Html.escape(path(path));
    }

    private String path(String path) {
        return paths.computeIfAbsent(path, withSession);
    }

    private static char append(StringBuilder url, char separator, String name, Object value) {
        url.append(separator).append(name).append('=')
                .append(URLEncoder.encode(value.toString(), StandardCharsets.UTF_8));
        return '&';
    }
}
