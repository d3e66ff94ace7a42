package plimsoll.tpcw;

import plimsoll.tpcw.data.Database;
import plimsoll.tpcw.payment.HttpGateway;
import plimsoll.tpcw.payment.PaymentGateway;

/** The bookstore behind its pages. It remembers nothing itself: all that changes is in the database. */
public record Store(Database database, PaymentGateway gateway) implements AutoCloseable {

    /** The name under which the servlets find it. */
    public static final String ATTRIBUTE = Store.class.getName();

    static Store open(Settings settings) {
        return new Store(new Database(settings), new HttpGateway(settings.gatewayUrl(), settings.gatewayTimeout()));
    }

    @Override
    public void close() {
        database.close();
    }
}
