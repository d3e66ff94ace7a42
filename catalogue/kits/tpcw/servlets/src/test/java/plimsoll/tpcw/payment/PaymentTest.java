package plimsoll.tpcw.payment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import plimsoll.tpcw.Refusal;

/** The gateway's answers, from a server of this test's own, and what becomes of them. */
class PaymentTest {
    private static final Card CARD = new Card("VISA", "4111111111111111", "Ann B&C", LocalDate.of(2030, 12, 31));
    private static final BigDecimal AMOUNT = new BigDecimal("33.60");

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private volatile int status = 200;
    private volatile String answer = "APPROVED 0123456789ABCDE\n";

    @BeforeEach
    void open() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/authorise", exchange -> {
            asked.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void close() {
        server.stop(0);
    }

    private static HttpGateway gateway(int port) {
        String host = InetAddress.getLoopbackAddress().getHostAddress();
        return new HttpGateway(URI.create("http://" + host + ":" + port + "/authorise"), Duration.ofSeconds(5));
    }

    private HttpGateway gateway() {
        return gateway(server.getAddress().getPort());
    }

    private static int refused(HttpGateway gateway) {
        return assertThrows(Refusal.class, () -> gateway.authorise(CARD, AMOUNT)).status();
    }

    @Test
    void an_approval_is_its_15_characters() {
        assertEquals("0123456789ABCDE", gateway().authorise(CARD, AMOUNT));
        assertEquals(
                List.of("CC_TYPE=VISA&CC_NUMBER=4111111111111111&CC_NAME=Ann+B%26C&CC_EXPIRY=2030-12-31&AMOUNT=33.60"),
                asked);
    }

    @Test
    void a_declined_card_buys_nothing() {
        status = 402;
        answer = "DECLINED\n";
        assertEquals(402, refused(gateway()));
    }

    @Test
    void an_answer_that_is_none_is_asked_for_once() {
        status = 500;
        assertEquals(502, refused(gateway()));
        assertEquals(1, asked.size());
        status = 200;
        answer = "APPROVED too short\n";
        assertEquals(502, refused(gateway()));
    }

    @Test
    void a_gateway_that_is_away_is_told() throws IOException {
        int nobodys;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobodys = socket.getLocalPort();
        }
        assertEquals(502, refused(gateway(nobodys)));
    }

    @Test
    void the_same_amount_is_authorised_once_however_often_it_is_tried() {
        List<BigDecimal> amounts = new ArrayList<>();
        Authorisation authorisation = new Authorisation((card, amount) -> {
            amounts.add(amount);
            return "number " + amounts.size();
        }, CARD);
        assertEquals("number 1", authorisation.of(AMOUNT));
        assertEquals("number 1", authorisation.of(new BigDecimal("33.60")));
        assertEquals("number 2", authorisation.of(new BigDecimal("33.61")));
        assertEquals(List.of(AMOUNT, new BigDecimal("33.61")), amounts);
    }
}
