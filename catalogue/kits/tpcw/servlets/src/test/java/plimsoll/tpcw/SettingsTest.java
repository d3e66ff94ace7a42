package plimsoll.tpcw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The file that is written for each run. */
class SettingsTest {
    private static final String WHOLE = """
            # A comment.
            database.url = jdbc:mariadb://localhost/tpcw?localSocket=/srv/run/mysql.sock&useServerPrepStmts=true
            database.user = shop
            pool.size = 100
            pool.timeout_ms = 10000
            gateway.url = http://127.0.0.1:4711/authorise
            gateway.timeout_ms = 5000
            """;

    private static Settings of(String text) throws IOException {
        Properties properties = new Properties();
        properties.load(new StringReader(text));
        return Settings.from(properties);
    }

    private static void assertRefused(String message, String text) {
        assertEquals(message, assertThrows(IllegalStateException.class, () -> of(text)).getMessage());
    }

    @Test
    void every_key_is_read() throws IOException {
        assertEquals(
                new Settings(
                        "jdbc:mariadb://localhost/tpcw?localSocket=/srv/run/mysql.sock&useServerPrepStmts=true",
                        "shop",
                        100,
                        Duration.ofSeconds(10),
                        URI.create("http://127.0.0.1:4711/authorise"),
                        Duration.ofSeconds(5)),
                of(WHOLE));
    }

    @Test
    void a_key_that_is_missing_or_wrong_is_named() {
        assertRefused("tpcw.properties has no database.user", WHOLE.replace("database.user = shop", ""));
        assertRefused("tpcw.properties: pool.size is \"ten\" and must be a whole number above 0",
                WHOLE.replace("pool.size = 100", "pool.size = ten"));
        assertRefused("tpcw.properties: pool.size is \"0\" and must be a whole number above 0",
                WHOLE.replace("pool.size = 100", "pool.size = 0"));
    }
}
