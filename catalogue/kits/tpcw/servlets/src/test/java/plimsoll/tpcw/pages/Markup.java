package plimsoll.tpcw.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is found in a page, by a driver's eyes: texts between marks, not a parser of HTML. */
record Markup(String page) {
    private List<String> all(String pattern) {
        List<String> found = new ArrayList<>();
        Matcher matcher = Pattern.compile(pattern).matcher(page);
        while (matcher.find()) {
            found.add(plain(matcher.group(1)));
        }
        return found;
    }

    String title() {
        return String.join("|", all("<title>([^<]*)</title>"));
    }

    /** Where the links lead. */
    List<String> links() {
        return all("<a href=\"([^\"]*)\">");
    }

    List<String> images() {
        return all("<IMG SRC=\"([^\"]*)\"");
    }

    /** The method and the address of the one form. */
    String form() {
        return String.join("|", all("<form action=\"[^\"]*\" method=\"([^\"]*)\">")) + " "
                + String.join("|", all("<form action=\"([^\"]*)\""));
    }

    /** The names of the form's fields, in their order, each once. */
    List<String> fields() {
        return all("(?i) name=\"([^\"]*)\"").stream().distinct().toList();
    }

    /** What stands in a field. */
    String field(String name) {
        return String.join("|", all("(?i) name=\"" + name + "\"(?: type=\"hidden\")? value=\"([^\"]*)\""));
    }

    /** What stands in the element of this id. */
    String cell(String id) {
        return String.join("|", all(" id=\"" + id + "\">([^<]*)<"));
    }

    List<String> options() {
        return all("<option>([^<]*)</option>");
    }

    boolean has(String text) {
        return page.contains(text);
    }

    private static String plain(String text) {
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'")
                .replace("&amp;", "&");
    }
}
