package plimsoll.tpcw.data;

import java.io.Serializable;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.data.Addresses.Address;
import plimsoll.tpcw.rules.DigSyl;

/** The customers: CUSTOMER, with the address at which each lives. */
public final class Customers {
    private static final String NAME = "SELECT c_id, c_fname, c_lname FROM CUSTOMER WHERE c_id = ?";
    private static final String USER_NAME = "SELECT c_uname FROM CUSTOMER WHERE c_id = ?";
    private static final String LOGIN = "SELECT c_id, c_passwd FROM CUSTOMER WHERE c_uname = ?";
    private static final String BY_USER_NAME = """
            SELECT c_id, c_uname, c_passwd, c_fname, c_lname, c_phone, c_email, c_birthdate, c_data, c_discount,
                addr_street1, addr_street2, addr_city, addr_state, addr_zip, co_name
            FROM CUSTOMER JOIN ADDRESS ON addr_id = c_addr_id JOIN COUNTRY ON co_id = addr_co_id WHERE c_uname = ?""";
    private static final String RENEW = """
            UPDATE CUSTOMER SET c_login = NOW(), c_expiration = NOW() + INTERVAL 2 HOUR WHERE c_id = ?""";
    private static final String INSERT = """
            INSERT INTO CUSTOMER (c_fname, c_lname, c_addr_id, c_phone, c_email, c_since, c_last_login, c_login,
                c_expiration, c_discount, c_balance, c_ytd_pmt, c_birthdate, c_data)
            VALUES (?, ?, ?, ?, ?, CURRENT_DATE, CURRENT_DATE, NOW(), NOW() + INTERVAL 2 HOUR, ?, 0, 0, ?, ?)""";
    private static final String NAME_IT = "UPDATE CUSTOMER SET c_uname = ?, c_passwd = ? WHERE c_id = ?";
    private static final int MOST_DISCOUNT_PERCENT = 50;

    private final Database database;

    /** Whom a page greets; kept in the visitor's session. */
    public record Name(int customer, String first, String last) implements Serializable {
    }

    /** What a new customer tells. */
    public record Person(String firstName, String lastName, Address address, String phone, String email,
            LocalDate birthdate, String data) {
    }

    /** A customer. The discount is a share: 0.15 is 15 %. */
    public record Customer(int id, String userName, Person person, BigDecimal discount) {
        public Name name() {
            return new Name(id, person.firstName(), person.lastName());
        }
    }

    private record Account(int customer, String password) {
    }

    private record Known(Customer customer, String password) {
    }

    public Customers(Database database) {
        this.database = database;
    }

    public Optional<Name> name(int customer) throws SQLException {
        Query.Row<Name> row =
                found -> new Name(found.getInt("c_id"), found.getString("c_fname"), found.getString("c_lname"));
        return database.read(connection -> Query.first(connection, row, NAME, customer));
    }

    public Optional<String> userName(int customer) throws SQLException {
        return database.read(
                connection -> Query.first(connection, found -> found.getString("c_uname"), USER_NAME, customer));
    }

    /** The number of the customer with this name and password. */
    public int login(String userName, String password) throws SQLException {
        Query.Row<Account> row = found -> new Account(found.getInt("c_id"), found.getString("c_passwd"));
        Account account = database.read(connection -> Query.first(connection, row, LOGIN, userName))
                .orElseThrow(Customers::wrongPassword);
        check(password, account.password());
        return account.customer();
    }

    /** The customer with this name and password, who is logged in for two hours from now on. */
    public Customer returning(String userName, String password) throws SQLException {
        return database.read(connection -> {
            Known known = Query.first(connection, Customers::known, BY_USER_NAME, userName)
                    .orElseThrow(Customers::wrongPassword);
            check(password, known.password());
            Query.update(connection, RENEW, known.customer().id());
            return known.customer();
        });
    }

    /** A new customer, named after the number that the database gives. */
    public Customer register(Person person) throws SQLException {
        int percent = ThreadLocalRandom.current().nextInt(MOST_DISCOUNT_PERCENT + 1);
        BigDecimal discount = BigDecimal.valueOf(percent, 2);
        return database.transaction(connection -> {
            int customer = insert(connection, person, discount);
            String userName = DigSyl.of(customer);
            Query.update(connection, NAME_IT, userName, userName.toLowerCase(Locale.ROOT), customer);
            return new Customer(customer, userName, person, discount);
        });
    }

    private static int insert(Connection connection, Person person, BigDecimal discount) throws SQLException {
        int address = Addresses.number(connection, person.address());
        return Query.insert(connection, INSERT, person.firstName(), person.lastName(), address, person.phone(),
                person.email(), discount, person.birthdate(), person.data());
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

    private static Known known(ResultSet row) throws SQLException {
        Person person = new Person(
                row.getString("c_fname"),
                row.getString("c_lname"),
                Addresses.address(row, ""),
                row.getString("c_phone"),
                row.getString("c_email"),
                row.getObject("c_birthdate", LocalDate.class),
                row.getString("c_data"));
        Customer customer =
                new Customer(row.getInt("c_id"), row.getString("c_uname"), person, Query.decimal(row, "c_discount"));
        return new Known(customer, row.getString("c_passwd"));
    }
}
