package plimsoll.tpcw.data;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.List;
import plimsoll.tpcw.model.Address;
import plimsoll.tpcw.model.Book;
import plimsoll.tpcw.model.CartLine;
import plimsoll.tpcw.model.Customer;
import plimsoll.tpcw.model.Detail;
import plimsoll.tpcw.model.Name;
import plimsoll.tpcw.model.Order;
import plimsoll.tpcw.model.OrderLine;
import plimsoll.tpcw.model.Person;
import plimsoll.tpcw.model.Thumbnail;
import plimsoll.tpcw.rules.Totals;

/** What the rows of {@link Statements} are. */
final class Records {
    private Records() {
    }

    /** By whom a name and password are known. */
    record Account(int customer, String password) {
    }

    /** A customer with the password. */
    record Known(Customer customer, String password) {
    }

    /** What a purchase must know of the customer. */
    record Buyer(BigDecimal discount, int address, int country) {
    }

    static Book book(ResultSet row) throws SQLException {
        return new Book(
                row.getInt("i_id"), row.getString("i_title"), row.getString("a_fname"), row.getString("a_lname"));
    }

    static Thumbnail thumbnail(ResultSet row) throws SQLException {
        return new Thumbnail(row.getInt("i_id"), row.getString("i_thumbnail"));
    }

    static Detail detail(ResultSet row) throws SQLException {
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

    static CartLine cartLine(ResultSet row) throws SQLException {
        return new CartLine(
                row.getInt("i_id"),
                row.getString("i_title"),
                row.getString("i_backing"),
                Query.decimal(row, "i_srp"),
                Query.decimal(row, "i_cost"),
                row.getInt("scl_qty"));
    }

    static Name name(ResultSet row) throws SQLException {
        return new Name(row.getInt("c_id"), row.getString("c_fname"), row.getString("c_lname"));
    }

    static Account account(ResultSet row) throws SQLException {
        return new Account(row.getInt("c_id"), row.getString("c_passwd"));
    }

    static Known known(ResultSet row) throws SQLException {
        Person person = new Person(
                row.getString("c_fname"),
                row.getString("c_lname"),
                address(row, ""),
                row.getString("c_phone"),
                row.getString("c_email"),
                row.getObject("c_birthdate", LocalDate.class),
                row.getString("c_data"));
        Customer customer =
                new Customer(row.getInt("c_id"), row.getString("c_uname"), person, Query.decimal(row, "c_discount"));
        return new Known(customer, row.getString("c_passwd"));
    }

    static Buyer buyer(ResultSet row) throws SQLException {
        return new Buyer(Query.decimal(row, "c_discount"), row.getInt("c_addr_id"), row.getInt("addr_co_id"));
    }

    static Order order(ResultSet row, List<OrderLine> lines) throws SQLException {
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
                address(row, "bill_"),
                address(row, "ship_"),
                lines);
    }

    static OrderLine orderLine(ResultSet row) throws SQLException {
        return new OrderLine(
                row.getInt("i_id"),
                row.getString("i_title"),
                row.getString("i_publisher"),
                Query.decimal(row, "i_cost"),
                row.getInt("ol_qty"),
                Query.decimal(row, "ol_discount"),
                row.getString("ol_comments"));
    }

    /** Of columns that are named as the tables' are, behind the prefix. */
    private static Address address(ResultSet row, String prefix) throws SQLException {
        return new Address(
                row.getString(prefix + "addr_street1"),
                row.getString(prefix + "addr_street2"),
                row.getString(prefix + "addr_city"),
                row.getString(prefix + "addr_state"),
                row.getString(prefix + "addr_zip"),
                row.getString(prefix + "co_name"));
    }
}
