package plimsoll.tpcw.html;

/** Text as HTML shows it. */
public final class Html {
    private Html() {
    }

    /** What can stand between tags and in an attribute's quotes; nothing for null. */
    public static String escape(Object value) {
        if (value == null) {
            return "";
        }
        String text = value.toString();
        // Most texts have nothing to escape and need no copy.
        StringBuilder escaped = null;
        for (int at = 0; at < text.length(); at++) {
            String entity = entity(text.charAt(at));
            if (entity != null && escaped == null) {
                escaped = new StringBuilder(text.length() + 16).append(text, 0, at);
            }
            if (escaped != null) {
                if (entity == null) {
                    escaped.append(text.charAt(at));
                } else {
                    escaped.append(entity);
                }
            }
        }
        return escaped == null ? text : escaped.toString();
    }

    private static String entity(char sign) {
        return switch (sign) {
            case '&' -> "&amp;";
            case '<' -> "&lt;";
            case '>' -> "&gt;";
            case '"' -> "&quot;";
            case '\'' -> "&#39;";
            default -> null;
        };
    }
}
