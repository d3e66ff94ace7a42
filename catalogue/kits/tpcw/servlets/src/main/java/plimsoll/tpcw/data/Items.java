package plimsoll.tpcw.data;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.rules.Related;

/** The books: ITEM and AUTHOR. */
public final class Items {
    private static final String NEW_PRODUCTS = """
            SELECT i_id, i_title, a_fname, a_lname FROM ITEM JOIN AUTHOR ON a_id = i_a_id
            WHERE i_subject = ? ORDER BY i_pub_date DESC, i_title LIMIT 50""";
    private static final String BEST_SELLERS = """
            SELECT i_id, i_title, a_fname, a_lname
            FROM ORDER_LINE JOIN ITEM ON i_id = ol_i_id JOIN AUTHOR ON a_id = i_a_id
            WHERE ol_o_id > ? AND i_subject = ?
            GROUP BY i_id, i_title, a_fname, a_lname ORDER BY SUM(ol_qty) DESC LIMIT 50""";
    private static final String BY_AUTHOR = """
            SELECT i_id, i_title, a_fname, a_lname FROM AUTHOR JOIN ITEM ON i_a_id = a_id
            WHERE a_lname LIKE ? ORDER BY i_title LIMIT 50""";
    private static final String BY_TITLE = """
            SELECT i_id, i_title, a_fname, a_lname FROM ITEM JOIN AUTHOR ON a_id = i_a_id
            WHERE i_title LIKE ? ORDER BY i_title LIMIT 50""";
    private static final String BY_SUBJECT = """
            SELECT i_id, i_title, a_fname, a_lname FROM ITEM JOIN AUTHOR ON a_id = i_a_id
            WHERE i_subject = ? ORDER BY i_title LIMIT 50""";
    private static final String BY_NUMBER = """
            SELECT i_id, i_title, a_fname, a_lname, i_pub_date, i_publisher, i_subject, i_desc, i_thumbnail, i_image,
                i_srp, i_cost, i_avail, i_stock, i_isbn, i_page, i_backing, i_dimensions
            FROM ITEM JOIN AUTHOR ON a_id = i_a_id WHERE i_id = ?""";
    private static final String RELATED = """
            SELECT other.i_id, other.i_thumbnail FROM ITEM shown JOIN ITEM other ON other.i_id IN
                (shown.i_related1, shown.i_related2, shown.i_related3, shown.i_related4, shown.i_related5)
            WHERE shown.i_id = ?""";
    private static final String CHANGE = """
            UPDATE ITEM SET i_cost = ?, i_image = ?, i_thumbnail = ?, i_pub_date = CURRENT_DATE WHERE i_id = ?""";
    /** What else those who bought the book have ever bought, the most first. */
    private static final String BOUGHT_WITH = """
            SELECT bought.ol_i_id
            FROM (SELECT DISTINCT o_c_id FROM ORDER_LINE JOIN ORDERS ON o_id = ol_o_id
                WHERE ol_i_id = ? AND ol_o_id > ?) buyer
            JOIN ORDERS made ON made.o_c_id = buyer.o_c_id
            JOIN ORDER_LINE bought ON bought.ol_o_id = made.o_id
            WHERE bought.ol_i_id <> ? GROUP BY bought.ol_i_id ORDER BY SUM(bought.ol_qty) DESC LIMIT 5""";
    private static final String RELATE = """
            UPDATE ITEM SET i_related1 = ?, i_related2 = ?, i_related3 = ?, i_related4 = ?, i_related5 = ?
            WHERE i_id = ?""";

    private static final int ORDERS_OF_BEST_SELLERS = 3_333;
    private static final int ORDERS_OF_RELATED = 10_000;

    private final Database database;
    /** How many books there are; 0 until it was asked for. No interaction changes it. */
    private volatile int count;

    /** A book in a list. */
    public record Book(int id, String title, String firstName, String lastName) {
    }

    /** A small picture that leads to its book. */
    public record Thumbnail(int item, String image) {
    }

    /** All that the shop tells about a book. */
    public record Detail(Book book, LocalDate published, String publisher, String subject, String description,
            String thumbnail, String image, BigDecimal srp, BigDecimal cost, LocalDate available, int stock,
            String isbn, int pages, String backing, String dimensions) {
    }

    /** What the administrator changes of a book. */
    public record Change(int item, BigDecimal cost, String image, String thumbnail) {
    }

    public Items(Database database) {
        this.database = database;
    }

    public List<Book> newProducts(String subject) throws SQLException {
        return books(NEW_PRODUCTS, subject);
    }

    public List<Book> bestSellers(String subject) throws SQLException {
        return database.read(connection -> {
            int before = lastOrder(connection) - ORDERS_OF_BEST_SELLERS;
            return Query.all(connection, Items::book, BEST_SELLERS, before, subject);
        });
    }

    /** By {@code author} and {@code title} what begins with the text, by {@code subject} what equals it. */
    public List<Book> search(String type, String text) throws SQLException {
        return switch (type) {
            case "author" -> books(BY_AUTHOR, beginningWith(text));
            case "title" -> books(BY_TITLE, beginningWith(text));
            case "subject" -> books(BY_SUBJECT, text);
            default -> throw Refusal.badRequest("Books can be searched by author, title or subject.");
        };
    }

    public Detail detail(int item) throws SQLException {
        return database.read(connection -> detail(connection, item));
    }

    /** The books that go with this one, or, where it is null, with any. */
    public List<Thumbnail> promoted(Integer item) throws SQLException {
        int shown = item == null ? any() : item;
        Query.Row<Thumbnail> row = found -> new Thumbnail(found.getInt("i_id"), found.getString("i_thumbnail"));
        return database.read(connection -> Query.all(connection, row, RELATED, shown));
    }

    /** Any book, each as likely as the others. */
    int any() throws SQLException {
        return 1 + ThreadLocalRandom.current().nextInt(count());
    }

    /** Changes a book and finds out anew what goes with it; gives the book as it is then. */
    public Detail change(Change change) throws SQLException {
        int items = count();
        database.transaction(connection -> {
            int item = change.item();
            int changed = Query.update(connection, CHANGE, change.cost(), change.image(), change.thumbnail(), item);
            if (changed == 0) {
                throw unknown(item);
            }
            int before = lastOrder(connection) - ORDERS_OF_RELATED;
            List<Integer> bought =
                    Query.all(connection, found -> found.getInt(1), BOUGHT_WITH, item, before, item);
            List<Integer> related = Related.filled(bought, item, items);
            return Query.update(connection, RELATE, related.get(0), related.get(1), related.get(2), related.get(3),
                    related.get(4), item);
        });
        return detail(change.item());
    }

    /** A pattern of LIKE, in which none of the text's own signs is special. */
    static String beginningWith(String text) {
        return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%";
    }

    static Refusal unknown(int item) {
        return Refusal.notFound("There is no book number " + item + ".");
    }

    private List<Book> books(String sql, String value) throws SQLException {
        return database.read(connection -> Query.all(connection, Items::book, sql, value));
    }

    private int count() throws SQLException {
        if (count == 0) {
            count = database.read(connection -> Query.number(connection, "SELECT MAX(i_id) FROM ITEM")).orElse(0);
        }
        if (count == 0) {
            throw new IllegalStateException("ITEM is empty: the shop has no books to show");
        }
        return count;
    }

    private static int lastOrder(Connection connection) throws SQLException {
        return Query.number(connection, "SELECT MAX(o_id) FROM ORDERS").orElse(0);
    }

    private static Detail detail(Connection connection, int item) throws SQLException {
        return Query.first(connection, Items::row, BY_NUMBER, item).orElseThrow(() -> unknown(item));
    }

    private static Book book(ResultSet row) throws SQLException {
        return new Book(
                row.getInt("i_id"), row.getString("i_title"), row.getString("a_fname"), row.getString("a_lname"));
    }

    private static Detail row(ResultSet row) throws SQLException {
        return new Detail(
                book(row),
                row.getObject("i_pub_date", LocalDate.class),
                row.getString("i_publisher"),
                row.getString("i_subject"),
                row.getString("i_desc"),
                row.getString("i_thumbnail"),
                row.getString("i_image"),
                Query.decimal(row, "i_srp"),
                Query.decimal(row, "i_cost"),
                row.getObject("i_avail", LocalDate.class),
                row.getInt("i_stock"),
                row.getString("i_isbn"),
                row.getInt("i_page"),
                row.getString("i_backing"),
                row.getString("i_dimensions"));
    }
}
