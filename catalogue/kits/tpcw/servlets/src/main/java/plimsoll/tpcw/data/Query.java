package plimsoll.tpcw.data;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Statements, prepared by the server and kept by the connection: SQL is constant, values are bound. */
final class Query {
    private Query() {
    }

    /** Makes a value of a row. */
    @FunctionalInterface
    interface Row<T> {
        T of(ResultSet row) throws SQLException;
    }

    static <T> List<T> all(Connection connection, Row<T> row, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            try (ResultSet result = statement.executeQuery()) {
                List<T> rows = new ArrayList<>();
                while (result.next()) {
                    rows.add(row.of(result));
                }
                return rows;
            }
        }
    }

    static <T> Optional<T> first(Connection connection, Row<T> row, String sql, Object... values) throws SQLException {
        return all(connection, row, sql, values).stream().findFirst();
    }

    /** A whole number in the first column of the first row, where there is a row. */
    static Optional<Integer> number(Connection connection, String sql, Object... values) throws SQLException {
        return first(connection, row -> row.getInt(1), sql, values);
    }

    /** Gives how many rows the condition found, whether or not they changed. */
    static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            return statement.executeUpdate();
        }
    }

    /** Inserts one row and gives the number that the database gave it. */
    static int insert(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            bind(statement, values);
            statement.executeUpdate();
            try (ResultSet key = statement.getGeneratedKeys()) {
                if (!key.next()) {
                    throw new SQLException("the database gave no number to a new row: " + sql);
                }
                return key.getInt(1);
            }
        }
    }

    /** An amount or a share: two places, however the column is stored. */
    static BigDecimal decimal(ResultSet row, String column) throws SQLException {
        return row.getBigDecimal(column).setScale(2, RoundingMode.HALF_UP);
    }

    private static void bind(PreparedStatement statement, Object... values) throws SQLException {
        for (int at = 0; at < values.length; at++) {
            statement.setObject(at + 1, values[at]);
        }
    }
}
