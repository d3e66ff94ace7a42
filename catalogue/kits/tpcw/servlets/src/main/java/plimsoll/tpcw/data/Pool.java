package plimsoll.tpcw.data;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import plimsoll.tpcw.Settings;

/**
 * The connections, and what is done on one: single statements or a transaction. One that the database has closed is
 * replaced; until the database is back a visitor waits for the pool's timeout and is told so.
 */
final class Pool implements AutoCloseable {
    /** A transaction that another one was in the way of is tried so often. */
    private static final int TRIES = 3;
    private static final int MAX_PAUSE_MS = 20;
    /** Lock wait timeout, deadlock, and a row that changed since the transaction's snapshot. */
    private static final Set<Integer> CONFLICTS = Set.of(1205, 1213, 1020);
    private static final int CONNECTION_KILLED = 1927;

    private final HikariDataSource connections;

    /** What is done on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    Pool(Settings settings) {
        HikariConfig config = new HikariConfig();
        // As the pool would name itself: its threads and beans are known by how their names begin.
        config.setPoolName("HikariPool-tpcw");
        config.setRegisterMbeans(true);
        config.setDriverClassName("org.mariadb.jdbc.Driver");
        config.setJdbcUrl(settings.databaseUrl());
        config.setUsername(settings.databaseUser());
        // As many idle ones as there are in all, and none is replaced for its age, which by default comes after half an
        // hour, to all at about the same time: a run measures no connecting.
        config.setMaximumPoolSize(settings.poolSize());
        config.setMaxLifetime(0);
        config.setConnectionTimeout(settings.poolTimeout().toMillis());
        config.setValidationTimeout(Math.min(settings.poolTimeout().toMillis(), 5_000));
        // The shop opens without a database too, and finds it when it is there.
        config.setInitializationFailTimeout(-1);
        connections = new HikariDataSource(config);
    }

    /** Single statements, each a transaction of its own. */
    <T> T read(Work<T> work) throws SQLException {
        try (Connection connection = connections.getConnection()) {
            return work.on(connection);
        }
    }

    /** Does all of the work or nothing of it; where another transaction was in the way it tries again. */
    <T> T transaction(Work<T> work) throws SQLException {
        for (int attempt = 1;; attempt++) {
            try (Connection connection = connections.getConnection()) {
                return once(connection, work);
            } catch (SQLException error) {
                if (attempt == TRIES || !isConflict(error)) {
                    throw error;
                }
            }
            // Not both again at the same moment.
            long pauseMs = ThreadLocalRandom.current().nextLong(1, MAX_PAUSE_MS + 1);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
        }
    }

    private static <T> T once(Connection connection, Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        try {
            T result = work.on(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException error) {
            rollBack(connection, error);
            throw error;
        }
    }

    private static void rollBack(Connection connection, Exception reason) {
        try {
            connection.rollback();
        } catch (SQLException error) {
            // The connection is gone, and with it the transaction: the first reason is the one to tell.
            reason.addSuppressed(error);
        }
    }

    static boolean isConflict(SQLException error) {
        return CONFLICTS.contains(error.getErrorCode());
    }

    /** Whether the database could not be reached, or went away meanwhile: later it may be there again. */
    static boolean isUnavailable(SQLException error) {
        String state = error.getSQLState();
        // The pool's own error, when it has no connection to give, has the state of the last failure to connect or
        // none.
        return error instanceof SQLTransientConnectionException
                || state != null && state.startsWith("08")
                || error.getErrorCode() == CONNECTION_KILLED;
    }

    @Override
    public void close() {
        connections.close();
    }
}
