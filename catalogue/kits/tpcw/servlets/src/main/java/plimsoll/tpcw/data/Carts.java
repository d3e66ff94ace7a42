package plimsoll.tpcw.data;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.rules.Totals;

/** The shopping carts: SHOPPING_CART and SHOPPING_CART_LINE. Prices are the books' own, at the moment of reading. */
public final class Carts {
    private static final String OPEN = "INSERT INTO SHOPPING_CART (sc_time) VALUES (NOW())";
    private static final String TOUCH = "UPDATE SHOPPING_CART SET sc_time = NOW() WHERE sc_id = ?";
    private static final String LOCK = "SELECT sc_id FROM SHOPPING_CART WHERE sc_id = ? FOR UPDATE";
    private static final String ADD = """
            INSERT INTO SHOPPING_CART_LINE (scl_sc_id, scl_i_id, scl_qty) VALUES (?, ?, 1)
            ON DUPLICATE KEY UPDATE scl_qty = scl_qty + 1""";
    private static final String SET = "UPDATE SHOPPING_CART_LINE SET scl_qty = ? WHERE scl_sc_id = ? AND scl_i_id = ?";
    private static final String REMOVE = "DELETE FROM SHOPPING_CART_LINE WHERE scl_sc_id = ? AND scl_i_id = ?";
    private static final String EMPTY = "DELETE FROM SHOPPING_CART_LINE WHERE scl_sc_id = ?";
    private static final String ITEM_EXISTS = "SELECT i_id FROM ITEM WHERE i_id = ?";
    private static final String RELATED_ITEM = "SELECT i_related1 FROM ITEM WHERE i_id = ?";
    private static final String LINES = """
            SELECT i_id, i_title, i_backing, i_srp, i_cost, scl_qty
            FROM SHOPPING_CART_LINE JOIN ITEM ON i_id = scl_i_id WHERE scl_sc_id = ? ORDER BY scl_i_id""";

    private final Database database;
    private final Items items;

    /** So many of a book. */
    public record Line(int item, String title, String backing, BigDecimal srp, BigDecimal cost, int quantity)
            implements Totals.Priced {
    }

    /** A book to add (null for none), or else new quantities by book, of which 0 takes the book out. */
    public record Change(Integer added, Map<Integer, Integer> quantities) {
    }

    public Carts(Database database, Items items) {
        this.database = database;
        this.items = items;
    }

    /** A new cart's number. */
    public int open() throws SQLException {
        return database.read(connection -> Query.insert(connection, OPEN));
    }

    /** Changes a cart and gives its lines. An empty cart gets a book: one that goes with any. */
    public List<Line> change(int cart, Change change) throws SQLException {
        int suggested = items.any();
        return database.transaction(connection -> {
            // First, because it holds the cart against the same visitor's other requests.
            if (Query.update(connection, TOUCH, cart) == 0) {
                throw unknown(cart);
            }
            if (change.added() == null) {
                refresh(connection, cart, change.quantities());
            } else {
                add(connection, cart, change.added());
            }
            List<Line> lines = lines(connection, cart);
            if (!lines.isEmpty()) {
                return lines;
            }
            add(connection, cart, Query.number(connection, RELATED_ITEM, suggested).orElse(suggested));
            return lines(connection, cart);
        });
    }

    public List<Line> lines(int cart) throws SQLException {
        return database.read(connection -> lines(connection, cart));
    }

    static List<Line> lines(Connection connection, int cart) throws SQLException {
        return Query.all(connection, Carts::line, LINES, cart);
    }

    /** Holds the cart until the transaction's end, so that what is paid for is what is in it. */
    static void lock(Connection connection, int cart) throws SQLException {
        Query.number(connection, LOCK, cart).orElseThrow(() -> unknown(cart));
    }

    static void empty(Connection connection, int cart) throws SQLException {
        Query.update(connection, EMPTY, cart);
    }

    private static void add(Connection connection, int cart, int item) throws SQLException {
        // The schema ties lines to carts but not to books, whose rows purchases change.
        Query.number(connection, ITEM_EXISTS, item).orElseThrow(() -> Items.unknown(item));
        Query.update(connection, ADD, cart, item);
    }

    private static void refresh(Connection connection, int cart, Map<Integer, Integer> quantities)
            throws SQLException {
        for (Map.Entry<Integer, Integer> wish : quantities.entrySet()) {
            if (wish.getValue() == 0) {
                Query.update(connection, REMOVE, cart, wish.getKey());
            } else {
                Query.update(connection, SET, wish.getValue(), cart, wish.getKey());
            }
        }
    }

    private static Refusal unknown(int cart) {
        return Refusal.notFound("There is no shopping cart number " + cart + ".");
    }

    private static Line line(ResultSet row) throws SQLException {
        return new Line(
                row.getInt("i_id"),
                row.getString("i_title"),
                row.getString("i_backing"),
                Query.decimal(row, "i_srp"),
                Query.decimal(row, "i_cost"),
                row.getInt("scl_qty"));
    }
}
