package plimsoll.tpcw.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.Store;
import plimsoll.tpcw.data.Database;
import plimsoll.tpcw.html.Button;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.payment.PaymentGateway;

/**
 * What the fourteen web interactions share. A page is sent when it is complete: what fails before that is an error with
 * a status of its own, and never half a page. GET and POST are the same, because drivers differ.
 */
public abstract class Interaction extends HttpServlet {
    private static final System.Logger LOG = System.getLogger("tpcw");
    private static final int UNAVAILABLE = HttpServletResponse.SC_SERVICE_UNAVAILABLE;
    private static final String RETRY_AFTER_S = "1";

    private transient Store store;

    @Override
    public final void init() {
        store = (Store) getServletContext().getAttribute(Store.ATTRIBUTE);
    }

    /** The interaction's page. */
    protected abstract String answer(Visit visit) throws SQLException;

    protected final Database database() {
        return store.database();
    }

    protected final PaymentGateway gateway() {
        return store.gateway();
    }

    @Override
    protected final void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        request.setCharacterEncoding("UTF-8");
        try {
            send(response, HttpServletResponse.SC_OK, answer(new Visit(request, response)));
        } catch (Refusal refusal) {
            sendProblem(response, refusal.status(), refusal.getMessage());
        } catch (SQLException error) {
            sendProblem(response, error);
        } catch (RuntimeException error) {
            LOG.log(System.Logger.Level.ERROR, "an interaction failed", error);
            sendProblem(response, HttpServletResponse.SC_INTERNAL_SERVER_ERROR, "The shop could not do that.");
        }
    }

    @Override
    protected final void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        doGet(request, response);
    }

    /** The page that says what went wrong. */
    static String problem(Links links, String message) {
        return new Page("Error", links)
                .raw("<p class=\"error\">").text(message).raw("</p>\n")
                .buttons(Button.SEARCH, Button.HOME)
                .end();
    }

    static int status(SQLException error) {
        return Database.isUnavailable(error) ? UNAVAILABLE : HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
    }

    private static void sendProblem(HttpServletResponse response, SQLException error) throws IOException {
        if (status(error) == UNAVAILABLE) {
            // One line: while the database is away there is one for each visitor.
            LOG.log(System.Logger.Level.WARNING, "the database is out of reach: {0}", error.getMessage());
            response.setHeader("Retry-After", RETRY_AFTER_S);
            sendProblem(response, UNAVAILABLE, "The shop is closed for a moment. Please try again.");
        } else {
            LOG.log(System.Logger.Level.ERROR, "a statement failed", error);
            sendProblem(response, status(error), "The shop could not do that. Nothing was changed.");
        }
    }

    private static void sendProblem(HttpServletResponse response, int status, String message) throws IOException {
        send(response, status, problem(new Links(response::encodeURL, null, null), message));
    }

    private static void send(HttpServletResponse response, int status, String page) throws IOException {
        byte[] bytes = page.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("text/html;charset=UTF-8");
        response.setHeader("Cache-Control", "no-store");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }
}
