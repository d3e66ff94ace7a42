package plimsoll.tpcw.payment;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import plimsoll.tpcw.Refusal;

/** The gateway over HTTP: a form goes there, {@code APPROVED} and 15 characters come back, or status 402. */
public final class HttpGateway implements PaymentGateway {
    private static final System.Logger LOG = System.getLogger("tpcw");
    private static final Pattern APPROVED = Pattern.compile("APPROVED ([0-9A-Za-z]{15})");
    private static final int DECLINED = 402;

    private final URI url;
    private final Duration timeout;
    private final HttpClient client;

    public HttpGateway(URI url, Duration timeout) {
        this.url = url;
        this.timeout = timeout;
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout).build();
    }

    @Override
    public String authorise(Card card, BigDecimal amount) {
        HttpResponse<String> answer = ask(form(card, amount));
        if (answer.statusCode() == DECLINED) {
            throw Refusal.declined("The card was declined. Nothing was bought.");
        }
        Matcher approved = APPROVED.matcher(answer.body().strip());
        if (answer.statusCode() != 200 || !approved.matches()) {
            throw failed("it answered with status " + answer.statusCode());
        }
        return approved.group(1);
    }

    static String form(Card card, BigDecimal amount) {
        return "CC_TYPE=" + encoded(card.type())
                + "&CC_NUMBER=" + encoded(card.number())
                + "&CC_NAME=" + encoded(card.name())
                + "&CC_EXPIRY=" + encoded(card.expiry().toString())
                + "&AMOUNT=" + encoded(amount.toPlainString());
    }

    private HttpResponse<String> ask(String form) {
        HttpRequest request = HttpRequest.newBuilder(url)
                .timeout(timeout)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        try {
            return ask(request);
        } catch (IOException error) {
            throw failed(error.toString());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw failed("the shop is closing");
        }
    }

    /** Tries again where no connection came about; a question that was sent may have charged the card. */
    private HttpResponse<String> ask(HttpRequest request) throws IOException, InterruptedException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (ConnectException | HttpConnectTimeoutException error) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }

    private static Refusal failed(String reason) {
        LOG.log(System.Logger.Level.WARNING, "the payment gateway gave no authorisation: {0}", reason);
        return Refusal.badGateway("The payment could not be authorised. Nothing was bought; please try again later.");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
