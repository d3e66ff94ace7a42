package plimsoll.tpcw.data;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.data.Addresses.Address;
import plimsoll.tpcw.payment.Authorisation;
import plimsoll.tpcw.payment.Card;
import plimsoll.tpcw.payment.PaymentGateway;
import plimsoll.tpcw.rules.Stock;
import plimsoll.tpcw.rules.Totals;

/** Purchases: ORDERS, ORDER_LINE and CC_XACTS. */
public final class Orders {
    private static final String BUYER = """
            SELECT c_discount, c_addr_id, addr_co_id FROM CUSTOMER JOIN ADDRESS ON addr_id = c_addr_id
            WHERE c_id = ?""";
    private static final String INSERT_ORDER = """
            INSERT INTO ORDERS (o_c_id, o_date, o_sub_total, o_tax, o_total, o_ship_type, o_ship_date, o_bill_addr_id,
                o_ship_addr_id, o_status)
            VALUES (?, NOW(), ?, ?, ?, ?, CURRENT_DATE + INTERVAL ? DAY, ?, ?, 'PENDING')""";
    private static final String INSERT_LINE = """
            INSERT INTO ORDER_LINE (ol_id, ol_o_id, ol_i_id, ol_qty, ol_discount, ol_comments)
            VALUES (?, ?, ?, ?, ?, ?)""";
    private static final String STOCK = "SELECT i_stock FROM ITEM WHERE i_id = ? FOR UPDATE";
    private static final String SET_STOCK = "UPDATE ITEM SET i_stock = ? WHERE i_id = ?";
    private static final String INSERT_PAYMENT = """
            INSERT INTO CC_XACTS (cx_o_id, cx_type, cx_num, cx_name, cx_expire, cx_auth_id, cx_xact_amt, cx_xact_date,
                cx_co_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, CURRENT_DATE, ?)""";
    private static final String LATEST =
            "SELECT o_id FROM ORDERS WHERE o_c_id = ? ORDER BY o_date DESC, o_id DESC LIMIT 1";
    private static final String ORDER = """
            SELECT o_id, o_date, o_sub_total, o_tax, o_total, o_ship_type, o_ship_date, o_status,
                c_fname, c_lname, c_phone, c_email, cx_type,
                bill.addr_street1 AS bill_addr_street1, bill.addr_street2 AS bill_addr_street2,
                bill.addr_city AS bill_addr_city, bill.addr_state AS bill_addr_state, bill.addr_zip AS bill_addr_zip,
                bill_country.co_name AS bill_co_name,
                ship.addr_street1 AS ship_addr_street1, ship.addr_street2 AS ship_addr_street2,
                ship.addr_city AS ship_addr_city, ship.addr_state AS ship_addr_state, ship.addr_zip AS ship_addr_zip,
                ship_country.co_name AS ship_co_name
            FROM ORDERS JOIN CUSTOMER ON c_id = o_c_id JOIN CC_XACTS ON cx_o_id = o_id
            JOIN ADDRESS bill ON bill.addr_id = o_bill_addr_id
            JOIN COUNTRY bill_country ON bill_country.co_id = bill.addr_co_id
            JOIN ADDRESS ship ON ship.addr_id = o_ship_addr_id
            JOIN COUNTRY ship_country ON ship_country.co_id = ship.addr_co_id
            WHERE o_id = ?""";
    private static final String LINES = """
            SELECT i_id, i_title, i_publisher, i_cost, ol_qty, ol_discount, ol_comments
            FROM ORDER_LINE JOIN ITEM ON i_id = ol_i_id WHERE ol_o_id = ? ORDER BY ol_id""";

    private static final int MOST_DAYS_TO_SHIP = 7;
    private static final int LEAST_COMMENT = 20;
    private static final int MOST_COMMENT = 100;

    private final Database database;
    private final PaymentGateway gateway;

    /** What a customer confirms. Without an address (null) it is sent to the customer's own. */
    public record Wish(int customer, int cart, Card card, String shipType, Address shipTo) {
    }

    /** An order that was placed just now. */
    public record Placed(int order, List<Carts.Line> lines, BigDecimal discount, Totals totals, String authorisation) {
    }

    /** An order as it was placed some time ago. */
    public record Order(int id, LocalDate date, Totals totals, String shipType, LocalDate shipDate, String status,
            String firstName, String lastName, String phone, String email, String cardType, Address billTo,
            Address shipTo, List<Line> lines) {
    }

    /** So many of a book, at today's price. */
    public record Line(int item, String title, String publisher, BigDecimal cost, int quantity, BigDecimal discount,
            String comments) {
    }

    private record Buyer(BigDecimal discount, int address, int country) {
    }

    public Orders(Database database, PaymentGateway gateway) {
        this.database = database;
        this.gateway = gateway;
    }

    /** Buys what is in the cart, all or nothing, and empties it. */
    public Placed place(Wish wish) throws SQLException {
        // Outside of the transaction: where it must be tried again the card isn't charged again.
        Authorisation authorisation = new Authorisation(gateway, wish.card());
        return database.transaction(connection -> place(connection, wish, authorisation));
    }

    /** The customer's most recent order, where there is one. */
    public Optional<Order> latest(int customer) throws SQLException {
        return database.read(connection -> latest(connection, customer));
    }

    private static Optional<Order> latest(Connection connection, int customer) throws SQLException {
        Optional<Integer> number = Query.number(connection, LATEST, customer);
        if (number.isEmpty()) {
            return Optional.empty();
        }
        List<Line> lines = Query.all(connection, Orders::line, LINES, number.get());
        return Query.first(connection, row -> order(row, lines), ORDER, number.get());
    }

    /**
     * The gateway is asked while only the customer's own cart is held: what others want too, the books' rows, is locked
     * after its answer, in the order of the books' numbers.
     */
    private static Placed place(Connection connection, Wish wish, Authorisation authorisation) throws SQLException {
        Carts.lock(connection, wish.cart());
        Buyer buyer = Query.first(connection, Orders::buyer, BUYER, wish.customer())
                .orElseThrow(() -> Refusal.notFound("There is no customer number " + wish.customer() + "."));
        List<Carts.Line> lines = Carts.lines(connection, wish.cart());
        if (lines.isEmpty()) {
            throw Refusal.conflict("The shopping cart is empty: there is nothing to buy.");
        }
        Totals totals = Totals.of(lines, buyer.discount());
        // Before the card is charged, because an address can be refused.
        int shipTo = wish.shipTo() == null ? buyer.address() : Addresses.number(connection, wish.shipTo());
        String authorised = authorisation.of(totals.total());

        int order = insertOrder(connection, wish, buyer, shipTo, totals);
        for (int at = 0; at < lines.size(); at++) {
            Carts.Line line = lines.get(at);
            Query.update(connection, INSERT_LINE, at + 1, order, line.item(), line.quantity(), buyer.discount(),
                    comment());
            takeFromStock(connection, line);
        }
        Card card = wish.card();
        Query.update(connection, INSERT_PAYMENT, order, card.type(), card.number(), card.name(), card.expiry(),
                authorised, totals.total(), buyer.country());
        Carts.empty(connection, wish.cart());
        return new Placed(order, lines, buyer.discount(), totals, authorised);
    }

    private static int insertOrder(Connection connection, Wish wish, Buyer buyer, int shipTo, Totals totals)
            throws SQLException {
        int days = ThreadLocalRandom.current().nextInt(1, MOST_DAYS_TO_SHIP + 1);
        return Query.insert(connection, INSERT_ORDER, wish.customer(), totals.subTotal(), totals.tax(), totals.total(),
                wish.shipType(), days, buyer.address(), shipTo);
    }

    private static void takeFromStock(Connection connection, Carts.Line line) throws SQLException {
        int stock = Query.number(connection, STOCK, line.item()).orElseThrow(() -> Items.unknown(line.item()));
        Query.update(connection, SET_STOCK, Stock.after(stock, line.quantity()), line.item());
    }

    /** Letters, as many as the data set's comments have. */
    private static String comment() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int length = random.nextInt(LEAST_COMMENT, MOST_COMMENT + 1);
        StringBuilder comment = new StringBuilder(length);
        for (int at = 0; at < length; at++) {
            comment.append((char) random.nextInt('a', 'z' + 1));
        }
        return comment.toString();
    }

    private static Buyer buyer(ResultSet row) throws SQLException {
        return new Buyer(Query.decimal(row, "c_discount"), row.getInt("c_addr_id"), row.getInt("addr_co_id"));
    }

    private static Order order(ResultSet row, List<Line> lines) throws SQLException {
        BigDecimal subTotal = Query.decimal(row, "o_sub_total");
        BigDecimal tax = Query.decimal(row, "o_tax");
        BigDecimal total = Query.decimal(row, "o_total");
        return new Order(
                row.getInt("o_id"),
                row.getObject("o_date", LocalDate.class),
                new Totals(subTotal, tax, total.subtract(subTotal).subtract(tax), total),
                row.getString("o_ship_type"),
                row.getObject("o_ship_date", LocalDate.class),
                row.getString("o_status"),
                row.getString("c_fname"),
                row.getString("c_lname"),
                row.getString("c_phone"),
                row.getString("c_email"),
                row.getString("cx_type"),
                Addresses.address(row, "bill_"),
                Addresses.address(row, "ship_"),
                lines);
    }

    private static Line line(ResultSet row) throws SQLException {
        return new Line(
                row.getInt("i_id"),
                row.getString("i_title"),
                row.getString("i_publisher"),
                Query.decimal(row, "i_cost"),
                row.getInt("ol_qty"),
                Query.decimal(row, "ol_discount"),
                row.getString("ol_comments"));
    }
}
