package plimsoll.tpcw.pages;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import plimsoll.tpcw.html.Links;
import plimsoll.tpcw.model.Address;
import plimsoll.tpcw.model.Book;
import plimsoll.tpcw.model.CartLine;
import plimsoll.tpcw.model.Customer;
import plimsoll.tpcw.model.Detail;
import plimsoll.tpcw.model.Order;
import plimsoll.tpcw.model.OrderLine;
import plimsoll.tpcw.model.Person;
import plimsoll.tpcw.model.Placed;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.rules.Totals;

/** Made-up rows. Every text has what must be escaped. */
final class Rows {
    static final Links UNKNOWN = links(null, null);
    static final Links KNOWN = links(3, 9);

    static final List<Thumbnail> PROMOTED = List.of(
            new Thumbnail(11, "img11/thumb_11.gif"),
            new Thumbnail(12, "img12/thumb_12.gif"),
            new Thumbnail(13, "img13/thumb_13.gif"),
            new Thumbnail(14, "img14/thumb_14.gif"),
            new Thumbnail(115, "img15/thumb_115.gif"));
    static final Book BOOK = new Book(7, "BAOG <b>&\"' title", "A<n>", "BAAL & Co");
    static final Detail DETAIL = new Detail(
            BOOK, LocalDate.of(1999, 12, 31), "Pub<lish>er", "NON-FICTION", "Des<c>", "img7/thumb_7.gif",
            "img7/image_7.gif", new BigDecimal("20.00"), new BigDecimal("15.50"), LocalDate.of(2000, 1, 15), 21,
            "is<bn>", 321, "USED", "1.20x3.40x5.60");
    static final Address HERE = new Address("1 <Main> St", "", "Ci<ty>", "S&T", "123<5", "United Kingdom");
    static final Address THERE = new Address("2 Side St", "Flat", "Town", "ST", "54321", "France");
    static final Customer CUSTOMER = new Customer(
            9,
            "NG",
            new Person("Ann<e>", "B&C", HERE, "0123456789", "NG@x.com", LocalDate.of(1965, 4, 30), "data"),
            new BigDecimal("0.10"));
    static final List<CartLine> LINES = List.of(
            new CartLine(7, "BAOG <b> title", "USED", new BigDecimal("20.00"), new BigDecimal("15.50"), 2),
            new CartLine(8, "BAAL", "AUDIO", new BigDecimal("9.99"), new BigDecimal("9.00"), 1));
    /** 40.00 less 10 % is 36.00; the tax of that 2.97; the shipping of three pieces 6.00. */
    static final Totals TOTALS = Totals.of(LINES, new BigDecimal("0.10"));
    static final Placed PLACED = new Placed(2592001, LINES, new BigDecimal("0.10"), TOTALS, "0123456789ABCDE");
    static final Order ORDER = new Order(
            2592001, LocalDate.of(2026, 1, 2), TOTALS, "UPS", LocalDate.of(2026, 1, 5), "PENDING", "Ann<e>", "B&C",
            "0123456789", "NG@x.com", "VISA", HERE, THERE,
            List.of(new OrderLine(7, "BAOG <b> title", "Pub<lish>er", new BigDecimal("15.50"), 2,
                    new BigDecimal("0.10"), "com<ments>")));

    private Rows() {
    }

    private static Links links(Integer cart, Integer customer) {
        return new Links(path -> path + ";jsessionid=5E55", cart, customer);
    }
}
