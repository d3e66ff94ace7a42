package plimsoll.tpcw.data;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import plimsoll.tpcw.Refusal;

/** Where people live: ADDRESS and COUNTRY. */
public final class Addresses {
    private static final String COUNTRY = "SELECT co_id FROM COUNTRY WHERE co_name = ?";
    private static final String SAME = """
            SELECT addr_id FROM ADDRESS WHERE addr_zip = ? AND addr_street1 = ? AND addr_street2 = ? AND addr_city = ?
                AND addr_state = ? AND addr_co_id = ? LIMIT 1""";
    private static final String INSERT = """
            INSERT INTO ADDRESS (addr_street1, addr_street2, addr_city, addr_state, addr_zip, addr_co_id)
            VALUES (?, ?, ?, ?, ?, ?)""";

    private Addresses() {
    }

    /** An address, with its country's name. */
    public record Address(String street1, String street2, String city, String state, String zip, String country) {
    }

    /** The number of an address that is the same, or of a new one. */
    static int number(Connection connection, Address address) throws SQLException {
        int country = Query.number(connection, COUNTRY, address.country())
                .orElseThrow(() -> Refusal.badRequest("We know no country \"" + address.country() + "\"."));
        Optional<Integer> same = Query.number(connection, SAME, address.zip(), address.street1(), address.street2(),
                address.city(), address.state(), country);
        if (same.isPresent()) {
            return same.get();
        }
        return Query.insert(connection, INSERT, address.street1(), address.street2(), address.city(), address.state(),
                address.zip(), country);
    }

    /** Of columns that are named as the tables' are, behind the prefix. */
    static Address address(ResultSet row, String prefix) throws SQLException {
        return new Address(
                row.getString(prefix + "addr_street1"),
                row.getString(prefix + "addr_street2"),
                row.getString(prefix + "addr_city"),
                row.getString(prefix + "addr_state"),
                row.getString(prefix + "addr_zip"),
                row.getString(prefix + "co_name"));
    }
}
