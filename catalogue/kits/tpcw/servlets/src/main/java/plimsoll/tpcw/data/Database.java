package plimsoll.tpcw.data;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.Settings;
import plimsoll.tpcw.data.Records.Account;
import plimsoll.tpcw.data.Records.Buyer;
import plimsoll.tpcw.data.Records.Known;
import plimsoll.tpcw.model.Address;
import plimsoll.tpcw.model.Book;
import plimsoll.tpcw.model.BookChange;
import plimsoll.tpcw.model.CartChange;
import plimsoll.tpcw.model.CartLine;
import plimsoll.tpcw.model.Customer;
import plimsoll.tpcw.model.Detail;
import plimsoll.tpcw.model.Name;
import plimsoll.tpcw.model.Order;
import plimsoll.tpcw.model.OrderLine;
import plimsoll.tpcw.model.Person;
import plimsoll.tpcw.model.Placed;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.model.Wish;
import plimsoll.tpcw.payment.Authorisation;
import plimsoll.tpcw.payment.Card;
import plimsoll.tpcw.rules.DigSyl;
import plimsoll.tpcw.rules.Related;
import plimsoll.tpcw.rules.Stock;
import plimsoll.tpcw.rules.Totals;

/**
 * All that pages read and write, and all that they know of the database: books, carts, customers and orders. What
 * changes more than one row is a transaction. Nothing is kept here but the number of books, so that every page shows
 * what is committed.
 */
public final class Database implements AutoCloseable {
    private static final int ORDERS_OF_BEST_SELLERS = 3_333;
    private static final int ORDERS_OF_RELATED = 10_000;
    private static final int MAX_DISCOUNT_PERCENT = 50;
    private static final int MAX_DAYS_TO_SHIP = 7;
    private static final int MIN_COMMENT = 20;
    private static final int MAX_COMMENT = 100;

    private final Pool pool;
    /** How many books there are; 0 until it was asked for. No interaction changes it. */
    private volatile int bookCount;

    public Database(Settings settings) {
        pool = new Pool(settings);
    }

    /** Whether the database could not be reached, or went away meanwhile: later it may be there again. */
    public static boolean isUnavailable(SQLException error) {
        return Pool.isUnavailable(error);
    }

    @Override
    public void close() {
        pool.close();
    }

    public List<Book> newProducts(String subject) throws SQLException {
        return books(Statements.NEW_PRODUCTS, subject);
    }

    public List<Book> bestSellers(String subject) throws SQLException {
        return pool.read(connection -> {
            int before = lastOrder(connection) - ORDERS_OF_BEST_SELLERS;
            return Query.all(connection, Records::book, Statements.BEST_SELLERS, before, subject);
        });
    }

    /** By {@code author} and {@code title} what begins with the text, by {@code subject} what equals it. */
    public List<Book> search(String type, String text) throws SQLException {
        return switch (type) {
            case "author" -> books(Statements.BOOKS_BY_AUTHOR, beginningWith(text));
            case "title" -> books(Statements.BOOKS_BY_TITLE, beginningWith(text));
            case "subject" -> books(Statements.BOOKS_BY_SUBJECT, text);
            default -> throw Refusal.badRequest("Books can be searched by author, title or subject.");
        };
    }

    public Detail detail(int item) throws SQLException {
        return pool.read(connection -> Query.first(connection, Records::detail, Statements.BOOK, item)
                .orElseThrow(() -> unknownBook(item)));
    }

    /** The books that go with this one, or, where it is null, with any. */
    public List<Thumbnail> promoted(Integer item) throws SQLException {
        int shown = item == null ? anyBook() : item;
        return pool.read(connection -> Query.all(connection, Records::thumbnail, Statements.RELATED_BOOKS, shown));
    }

    /** Changes a book and finds out anew what goes with it; gives the book as it is then. */
    public Detail changeBook(BookChange change) throws SQLException {
        int books = bookCount();
        int item = change.item();
        pool.transaction(connection -> {
            int changed = Query.update(connection, Statements.CHANGE_BOOK, change.cost(), change.image(),
                    change.thumbnail(), item);
            if (changed == 0) {
                throw unknownBook(item);
            }
            int before = lastOrder(connection) - ORDERS_OF_RELATED;
            List<Integer> bought =
                    Query.all(connection, row -> row.getInt(1), Statements.BOUGHT_WITH, item, before, item);
            List<Integer> related = Related.filled(bought, item, books);
            return Query.update(connection, Statements.RELATE, related.get(0), related.get(1), related.get(2),
                    related.get(3), related.get(4), item);
        });
        return detail(item);
    }

    /** A new cart's number. */
    public int openCart() throws SQLException {
        return pool.read(connection -> Query.insert(connection, Statements.OPEN_CART));
    }

    /** Changes a cart and gives its lines. An empty cart gets a book: one that goes with any. */
    public List<CartLine> changeCart(int cart, CartChange change) throws SQLException {
        int suggested = anyBook();
        return pool.transaction(connection -> {
            // First, because it holds the cart against the same visitor's other requests.
            if (Query.update(connection, Statements.TOUCH_CART, cart) == 0) {
                throw unknownCart(cart);
            }
            if (change.added() == null) {
                refresh(connection, cart, change.quantities());
            } else {
                add(connection, cart, change.added());
            }
            List<CartLine> lines = cartLines(connection, cart);
            if (!lines.isEmpty()) {
                return lines;
            }
            int related = Query.number(connection, Statements.FIRST_RELATED_BOOK, suggested).orElse(suggested);
            add(connection, cart, related);
            return cartLines(connection, cart);
        });
    }

    /** What is in a cart, at the books' prices of this moment. */
    public List<CartLine> cartLines(int cart) throws SQLException {
        return pool.read(connection -> cartLines(connection, cart));
    }

    public Optional<Name> name(int customer) throws SQLException {
        return pool.read(connection -> Query.first(connection, Records::name, Statements.NAME, customer));
    }

    public Optional<String> userName(int customer) throws SQLException {
        return pool.read(
                connection -> Query.first(connection, row -> row.getString(1), Statements.USER_NAME, customer));
    }

    /** The number of the customer with this name and password. */
    public int account(String userName, String password) throws SQLException {
        Account account = pool.read(
                connection -> Query.first(connection, Records::account, Statements.ACCOUNT, userName)
                        .orElseThrow(Database::wrongPassword));
        check(password, account.password());
        return account.customer();
    }

    /** The customer with this name and password, who is logged in for two hours from now on. */
    public Customer logIn(String userName, String password) throws SQLException {
        return pool.read(connection -> {
            Known known = Query.first(connection, Records::known, Statements.CUSTOMER, userName)
                    .orElseThrow(Database::wrongPassword);
            check(password, known.password());
            Query.update(connection, Statements.LOG_IN, known.customer().id());
            return known.customer();
        });
    }

    /** A new customer, named after the number that the database gives. */
    public Customer register(Person person) throws SQLException {
        int percent = ThreadLocalRandom.current().nextInt(MAX_DISCOUNT_PERCENT + 1);
        BigDecimal discount = BigDecimal.valueOf(percent, 2);
        return pool.transaction(connection -> {
            int address = address(connection, person.address());
            int customer = Query.insert(connection, Statements.INSERT_CUSTOMER, person.firstName(), person.lastName(),
                    address, person.phone(), person.email(), discount, person.birthdate(), person.data());
            String userName = DigSyl.of(customer);
            String password = userName.toLowerCase(Locale.ROOT);
            Query.update(connection, Statements.NAME_CUSTOMER, userName, password, customer);
            return new Customer(customer, userName, person, discount);
        });
    }

    /** The customer's most recent order, where there is one. */
    public Optional<Order> latestOrder(int customer) throws SQLException {
        return pool.read(connection -> latestOrder(connection, customer));
    }

    /**
     * Buys what is in the cart, all or nothing, and empties it. The authorisation is of this purchase alone: where the
     * transaction must be tried again the card isn't charged again.
     */
    public Placed place(Wish wish, Authorisation authorisation) throws SQLException {
        return pool.transaction(connection -> place(connection, wish, authorisation));
    }

    /**
     * The gateway is asked while only the customer's own cart is held: what others want too, the books' rows, is locked
     * after its answer, in the order of the books' numbers.
     */
    private static Placed place(Connection connection, Wish wish, Authorisation authorisation) throws SQLException {
        // So that what is paid for is what is in it.
        Query.number(connection, Statements.LOCK_CART, wish.cart()).orElseThrow(() -> unknownCart(wish.cart()));
        Buyer buyer = Query.first(connection, Records::buyer, Statements.BUYER, wish.customer())
                .orElseThrow(() -> Refusal.notFound("There is no customer number " + wish.customer() + "."));
        List<CartLine> lines = cartLines(connection, wish.cart());
        if (lines.isEmpty()) {
            throw Refusal.conflict("The shopping cart is empty: there is nothing to buy.");
        }
        Totals totals = Totals.of(lines, buyer.discount());
        // Before the card is charged, because an address can be refused.
        int shipTo = wish.shipTo() == null ? buyer.address() : address(connection, wish.shipTo());
        String authorised = authorisation.of(totals.total());

        int order = insertOrder(connection, wish, buyer, shipTo, totals);
        for (int at = 0; at < lines.size(); at++) {
            CartLine line = lines.get(at);
            Query.update(connection, Statements.INSERT_LINE, at + 1, order, line.item(), line.quantity(),
                    buyer.discount(), comment());
            takeFromStock(connection, line);
        }
        Card card = wish.card();
        Query.update(connection, Statements.INSERT_PAYMENT, order, card.type(), card.number(), card.name(),
                card.expiry(), authorised, totals.total(), buyer.country());
        Query.update(connection, Statements.EMPTY_CART, wish.cart());
        return new Placed(order, lines, buyer.discount(), totals, authorised);
    }

    private static int insertOrder(Connection connection, Wish wish, Buyer buyer, int shipTo, Totals totals)
            throws SQLException {
        int days = ThreadLocalRandom.current().nextInt(1, MAX_DAYS_TO_SHIP + 1);
        return Query.insert(connection, Statements.INSERT_ORDER, wish.customer(), totals.subTotal(), totals.tax(),
                totals.total(), wish.shipType(), days, buyer.address(), shipTo);
    }

    private static void takeFromStock(Connection connection, CartLine line) throws SQLException {
        int stock = Query.number(connection, Statements.STOCK, line.item())
                .orElseThrow(() -> unknownBook(line.item()));
        Query.update(connection, Statements.SET_STOCK, Stock.after(stock, line.quantity()), line.item());
    }

    /** Letters, as many as the data set's comments have. */
    private static String comment() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int length = random.nextInt(MIN_COMMENT, MAX_COMMENT + 1);
        StringBuilder comment = new StringBuilder(length);
        for (int at = 0; at < length; at++) {
            comment.append((char) random.nextInt('a', 'z' + 1));
        }
        return comment.toString();
    }

    private static Optional<Order> latestOrder(Connection connection, int customer) throws SQLException {
        Optional<Integer> number = Query.number(connection, Statements.LATEST_ORDER, customer);
        if (number.isEmpty()) {
            return Optional.empty();
        }
        List<OrderLine> lines = Query.all(connection, Records::orderLine, Statements.ORDER_LINES, number.get());
        return Query.first(connection, row -> Records.order(row, lines), Statements.ORDER, number.get());
    }

    private static int lastOrder(Connection connection) throws SQLException {
        return Query.number(connection, Statements.LAST_ORDER).orElse(0);
    }

    private static List<CartLine> cartLines(Connection connection, int cart) throws SQLException {
        return Query.all(connection, Records::cartLine, Statements.CART_LINES, cart);
    }

    private static void add(Connection connection, int cart, int item) throws SQLException {
        // The schema ties lines to carts but not to books, whose rows purchases change.
        Query.number(connection, Statements.BOOK_EXISTS, item).orElseThrow(() -> unknownBook(item));
        Query.update(connection, Statements.ADD_TO_CART, cart, item);
    }

    private static void refresh(Connection connection, int cart, Map<Integer, Integer> quantities)
            throws SQLException {
        for (Map.Entry<Integer, Integer> line : quantities.entrySet()) {
            if (line.getValue() == 0) {
                Query.update(connection, Statements.REMOVE_FROM_CART, cart, line.getKey());
            } else {
                Query.update(connection, Statements.SET_QUANTITY, line.getValue(), cart, line.getKey());
            }
        }
    }

    /** The number of an address that is the same, or of a new one. */
    private static int address(Connection connection, Address address) throws SQLException {
        int country = Query.number(connection, Statements.COUNTRY, address.country())
                .orElseThrow(() -> Refusal.badRequest("We know no country \"" + address.country() + "\"."));
        Optional<Integer> same = Query.number(connection, Statements.SAME_ADDRESS, address.zip(), address.street1(),
                address.street2(), address.city(), address.state(), country);
        if (same.isPresent()) {
            return same.get();
        }
        return Query.insert(connection, Statements.INSERT_ADDRESS, address.street1(), address.street2(),
                address.city(), address.state(), address.zip(), country);
    }

    private List<Book> books(String sql, String value) throws SQLException {
        return pool.read(connection -> Query.all(connection, Records::book, sql, value));
    }

    /** Any book, each as likely as the others. */
    private int anyBook() throws SQLException {
        return 1 + ThreadLocalRandom.current().nextInt(bookCount());
    }

    private int bookCount() throws SQLException {
        if (bookCount == 0) {
            bookCount = pool.read(connection -> Query.number(connection, Statements.LAST_BOOK)).orElse(0);
        }
        if (bookCount == 0) {
            throw new IllegalStateException("ITEM is empty: the shop has no books to show");
        }
        return bookCount;
    }

    /** A pattern of LIKE, in which none of the text's own signs is special. */
    static String beginningWith(String text) {
        return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%";
    }

    private static void check(String given, String right) {
        if (!given.equals(right)) {
            throw wrongPassword();
        }
    }

    /** The same for a name that nobody has: it is nobody's business which names there are. */
    private static Refusal wrongPassword() {
        return Refusal.forbidden("We know no customer with this user name and password.");
    }

    private static Refusal unknownBook(int item) {
        return Refusal.notFound("There is no book number " + item + ".");
    }

    private static Refusal unknownCart(int cart) {
        return Refusal.notFound("There is no shopping cart number " + cart + ".");
    }
}
