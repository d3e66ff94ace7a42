package plimsoll.tpcw;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.Properties;

/** How this instance of the shop reaches its servers: `tpcw.properties` of the class path, written for each run. */
public record Settings(
        String databaseUrl,
        String databaseUser,
        int poolSize,
        Duration poolTimeout,
        URI gatewayUrl,
        Duration gatewayTimeout) {

    private static final String FILE = "tpcw.properties";

    public static Settings load() {
        Properties properties = new Properties();
        try (InputStream file = Settings.class.getResourceAsStream("/" + FILE)) {
            if (file == null) {
                throw new IllegalStateException(
                        FILE + " is missing in WEB-INF/classes: without it the shop knows no database");
            }
            properties.load(file);
        } catch (IOException error) {
            throw new UncheckedIOException(FILE + " in WEB-INF/classes can't be read", error);
        }
        return from(properties);
    }

    static Settings from(Properties properties) {
        return new Settings(
                text(properties, "database.url"),
                text(properties, "database.user"),
                whole(properties, "pool.size"),
                Duration.ofMillis(whole(properties, "pool.timeout_ms")),
                URI.create(text(properties, "gateway.url")),
                Duration.ofMillis(whole(properties, "gateway.timeout_ms")));
    }

    private static String text(Properties properties, String key) {
        String value = properties.getProperty(key, "").strip();
        if (value.isEmpty()) {
            throw new IllegalStateException(FILE + " has no " + key);
        }
        return value;
    }

    private static int whole(Properties properties, String key) {
        String value = text(properties, key);
        try {
            int number = Integer.parseInt(value);
            if (number > 0) {
                return number;
            }
        } catch (NumberFormatException error) {
            // Told below, as a number that is too small is.
        }
        throw new IllegalStateException(FILE + ": " + key + " is \"" + value + "\" and must be a whole number above 0");
    }
}
