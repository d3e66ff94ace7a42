package plimsoll.tpcw;

import plimsoll.tpcw.data.Carts;
import plimsoll.tpcw.data.Customers;
import plimsoll.tpcw.data.Database;
import plimsoll.tpcw.data.Items;
import plimsoll.tpcw.data.Orders;
import plimsoll.tpcw.payment.HttpGateway;

/** The bookstore behind its pages. It remembers nothing itself: all that changes is in the database. */
public record Store(Database database, Items items, Carts carts, Customers customers, Orders orders)
        implements AutoCloseable {

    /** The name under which the servlets find it. */
    public static final String ATTRIBUTE = Store.class.getName();

    static Store open(Settings settings) {
        Database database = new Database(settings);
        Items items = new Items(database);
        return new Store(
                database,
                items,
                new Carts(database, items),
                new Customers(database),
                new Orders(database, new HttpGateway(settings.gatewayUrl(), settings.gatewayTimeout())));
    }

    @Override
    public void close() {
        database.close();
    }
}
