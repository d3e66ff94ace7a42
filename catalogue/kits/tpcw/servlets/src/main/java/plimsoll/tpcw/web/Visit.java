package plimsoll.tpcw.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.model.Name;

/** One request: what is asked for, the links of the answer, and whom the session greets. */
public final class Visit {
    private static final String NAME = "name";

    private final HttpSession session;
    private final Arguments arguments;
    private final Links links;

    Visit(HttpServletRequest request, HttpServletResponse response) {
        // Before links are written: they carry its number.
        session = request.getSession();
        arguments = new Arguments(request.getParameterMap());
        links = new Links(
                response::encodeURL, arguments.optionalId("SHOPPING_ID"), arguments.optionalId("C_ID"));
    }

    public Arguments arguments() {
        return arguments;
    }

    public Links links() {
        return links;
    }

    /** The name that the session keeps, or null. */
    public Name name() {
        return session.getAttribute(NAME) instanceof Name name ? name : null;
    }

    /** Keeps a name; null forgets it. */
    public void greet(Name name) {
        session.setAttribute(NAME, name);
    }
}
