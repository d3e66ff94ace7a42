package plimsoll.tpcw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where SQL is, by the sources themselves: in one file, whole, and behind one class. */
class SourcesTest {
    private static final Path ALL = Path.of("src", "main", "java", "plimsoll", "tpcw");
    private static final String STATEMENTS = "data/Statements.java";
    /** A statement of SQL as it begins, in a text or in a block of text. */
    private static final Pattern STATEMENT = Pattern.compile("\"\\s*(?:SELECT|INSERT|UPDATE|DELETE) ");
    /** A text that something is put to. */
    private static final Pattern PUT_TOGETHER = Pattern.compile("\"\\s*\\+|\\+\\s*\"|\\.formatted\\(|\\bformat\\(");
    private static final Pattern JDBC = Pattern.compile("java\\.sql\\.(?!SQL)|javax\\.sql");
    private static final Pattern DATA = Pattern.compile("plimsoll\\.tpcw\\.data\\.(\\w+)");

    /** The text of each source by its path, with slashes. */
    private static Map<String, String> sources() throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.walk(ALL)) {
            files = found.filter(file -> file.toString().endsWith(".java")).toList();
        }
        Map<String, String> sources = new TreeMap<>();
        for (Path file : files) {
            sources.put(ALL.relativize(file).toString().replace('\\', '/'), Files.readString(file));
        }
        assertTrue(sources.size() > 40 && sources.containsKey(STATEMENTS), sources.keySet().toString());
        return sources;
    }

    @Test
    void statements_are_constants_of_one_file_and_whole() throws IOException {
        Map<String, String> sources = sources();
        String statements = sources.remove(STATEMENTS);
        long constants = Pattern.compile("static final String \\w+ =").matcher(statements).results().count();
        assertTrue(constants > 30, constants + " statements");
        assertEquals(constants, STATEMENT.matcher(statements).results().count());
        assertFalse(PUT_TOGETHER.matcher(statements).find(), "a statement is put together");
        sources.forEach((file, text) -> assertFalse(STATEMENT.matcher(text).find(), file + " has SQL"));
    }

    @Test
    void the_database_is_reached_through_one_class() throws IOException {
        sources().forEach((file, text) -> {
            if (file.startsWith("data/")) {
                return;
            }
            assertFalse(JDBC.matcher(text).find(), file + " works on a connection");
            Matcher known = DATA.matcher(text);
            while (known.find()) {
                assertEquals("Database", known.group(1), file);
            }
        });
    }
}
