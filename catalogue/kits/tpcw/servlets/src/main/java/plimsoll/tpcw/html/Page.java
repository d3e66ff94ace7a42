package plimsoll.tpcw.html;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/** A page while it is written: logo and title, what the interaction adds, and the end. */
public final class Page {
    private static final String IMAGES = "/tpcw/Images/";

    private final StringBuilder out = new StringBuilder(16 * 1024);
    private final Links links;

    public Page(String title, Links links) {
        this.links = links;
        raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>TPC-W: ").text(title)
                .raw("</title></head>\n<body>\n<p>").image("tpclogo.gif", "TPC-W Bookstore")
                .raw("</p>\n<h1>").text(title).raw("</h1>\n");
    }

    public Links links() {
        return links;
    }

    /** Markup, as it stands. */
    public Page raw(String markup) {
        out.append(markup);
        return this;
    }

    /** Text, escaped. */
    public Page text(Object value) {
        return raw(Html.escape(value));
    }

    public Page money(BigDecimal amount) {
        return raw("$").raw(plain(amount));
    }

    /** In capitals, as the well-known kit's own driver looks for it: any other browser reads them as small letters. */
    public Page image(String name, String alternative) {
        return raw("<IMG SRC=\"" + IMAGES).text(name).raw("\" alt=\"").text(alternative).raw("\">");
    }

    /** The beginning of a link; what follows is shown, up to {@code </a>}. */
    public Page anchor(String path, Object... parameters) {
        return raw("<a href=\"").raw(links.to(path, parameters)).raw("\">");
    }

    public Page link(Object text, String path, Object... parameters) {
        return anchor(path, parameters).text(text).raw("</a>");
    }

    /** A row of a table of two columns. The mark is an id by which others find the value. */
    public Page row(String label, String mark, Object value) {
        return raw("<tr><th>").text(label).raw("</th><td id=\"").raw(mark).raw("\">").text(value).raw("</td></tr>\n");
    }

    public Page amount(String label, String mark, BigDecimal amount) {
        return row(label, mark, "$" + plain(amount));
    }

    public Page button(Button button, Object... parameters) {
        return anchor(button.path, button.parameters(parameters)).image(button.image, button.name).raw("</a>\n");
    }

    /** The buttons at a page's end. */
    public Page buttons(Button... buttons) {
        raw("<p>\n");
        for (Button button : buttons) {
            button(button);
        }
        return raw("</p>\n");
    }

    /** The beginning of a form that sends its fields there, those that every link carries included. */
    public Page form(String method, String path) {
        raw("<form action=\"").raw(links.action(path)).raw("\" method=\"").raw(method).raw("\">\n");
        if (links.cart() != null) {
            hidden("SHOPPING_ID", links.cart());
        }
        if (links.customer() != null) {
            hidden("C_ID", links.customer());
        }
        return this;
    }

    public Page hidden(String name, Object value) {
        return raw("<input type=\"hidden\" name=\"").text(name).raw("\" value=\"").text(value).raw("\">\n");
    }

    /** A row of a form's table. */
    public Page field(String label, String name, Object value, int longest) {
        return input("text", label, name, value, longest);
    }

    public Page password(String label, String name, Object value, int longest) {
        return input("password", label, name, value, longest);
    }

    public Page choice(String label, String name, List<String> values) {
        raw("<tr><th>").text(label).raw("</th><td><select name=\"").text(name).raw("\">");
        for (String value : values) {
            raw("<option>").text(value).raw("</option>");
        }
        return raw("</select></td></tr>\n");
    }

    /** The button that sends the form, and the form's end. */
    public Page submit(Button button) {
        return raw("<p><button type=\"submit\">").image(button.image, button.name).raw("</button></p>\n</form>\n");
    }

    public String end() {
        return out.append("</body>\n</html>\n").toString();
    }

    /** Dollars and cents, for a field. */
    public static String plain(BigDecimal amount) {
        return amount.setScale(2, RoundingMode.HALF_UP).toPlainString();
    }

    private Page input(String type, String label, String name, Object value, int longest) {
        return raw("<tr><th>").text(label).raw("</th><td><input type=\"").raw(type).raw("\" name=\"").text(name)
                .raw("\" value=\"").text(value).raw("\" maxlength=\"").text(longest).raw("\"></td></tr>\n");
    }
}
