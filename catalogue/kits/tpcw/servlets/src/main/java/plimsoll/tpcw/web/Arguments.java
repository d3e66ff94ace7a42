package plimsoll.tpcw.web;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import plimsoll.tpcw.Refusal;

/** What a request asks for. Everything comes from outside: what isn't as it should be is refused, by its name. */
public final class Arguments {
    public static final int MAX_QUANTITY = 9_999;

    private static final Pattern CART_LINE = Pattern.compile("I_ID_([0-9]{1,4})");
    private static final Pattern WHOLE = Pattern.compile("[0-9]{1,10}");
    private static final Pattern AMOUNT = Pattern.compile("[0-9]{1,10}(\\.[0-9]{1,10})?");
    /** ISO's own, and the forms with slashes that other drivers send. */
    private static final List<DateTimeFormatter> DATES = List.of(
            DateTimeFormatter.ISO_LOCAL_DATE,
            DateTimeFormatter.ofPattern("M/d/uuuu"),
            DateTimeFormatter.ofPattern("d/M/uuuu"));

    private final Map<String, String[]> given;

    public Arguments(Map<String, String[]> given) {
        this.given = given;
    }

    /** Some text; it may be blank, but not empty. */
    public String text(String name, int longest) {
        String text = optional(name, longest);
        if (text.isEmpty()) {
            throw Refusal.badRequest(name + " is missing.");
        }
        return text;
    }

    /** Some text, or none. */
    public String optional(String name, int longest) {
        String text = value(name);
        if (text.length() > longest) {
            throw Refusal.badRequest(name + " is longer than " + longest + " characters.");
        }
        return text;
    }

    /** The one of the two names that was given: drivers differ. */
    public String either(String name, String other) {
        return given.containsKey(name) || !given.containsKey(other) ? name : other;
    }

    public String oneOf(String name, List<String> choices) {
        String text = value(name);
        if (!choices.contains(text)) {
            throw Refusal.badRequest(name + " must be one of " + String.join(", ", choices) + ".");
        }
        return text;
    }

    /** {@code Y} or {@code N}. */
    public boolean flag(String name) {
        return oneOf(name, List.of("Y", "N")).equals("Y");
    }

    /** A number by which something is known. */
    public int id(String name) {
        return whole(name, value(name), 1, Integer.MAX_VALUE);
    }

    /** The same, or null where it isn't given. */
    public Integer optionalId(String name) {
        return value(name).isEmpty() ? null : id(name);
    }

    /** Dollars and cents. */
    public BigDecimal money(String name) {
        String text = value(name).strip();
        if (!AMOUNT.matcher(text).matches()) {
            throw Refusal.badRequest(name + " must be an amount such as 12.34.");
        }
        return new BigDecimal(text).setScale(2, RoundingMode.HALF_UP);
    }

    public LocalDate date(String name) {
        String text = value(name).strip();
        for (DateTimeFormatter form : DATES) {
            try {
                LocalDate date = LocalDate.parse(text, form);
                // What the database can hold.
                if (date.getYear() >= 1000 && date.getYear() <= 9999) {
                    return date;
                }
            } catch (DateTimeException error) {
                // In another form, then.
            }
        }
        throw Refusal.badRequest(name + " must be a date such as 1965-04-30.");
    }

    /** The quantities of a refreshed cart by book: {@code I_ID_0} and {@code QTY_0}, and so on. */
    public Map<Integer, Integer> quantities() {
        Map<Integer, Integer> quantities = new TreeMap<>();
        for (String name : given.keySet()) {
            Matcher line = CART_LINE.matcher(name);
            if (line.matches()) {
                String quantity = "QTY_" + line.group(1);
                quantities.put(id(name), whole(quantity, value(quantity), 0, MAX_QUANTITY));
            }
        }
        return quantities;
    }

    private String value(String name) {
        String[] values = given.get(name);
        return values == null ? "" : values[0];
    }

    private static int whole(String name, String value, int low, int high) {
        String text = value.strip();
        if (WHOLE.matcher(text).matches()) {
            long number = Long.parseLong(text);
            if (number >= low && number <= high) {
                return (int) number;
            }
        }
        throw Refusal.badRequest(name + " must be a whole number from " + low + " to " + high + ".");
    }
}
