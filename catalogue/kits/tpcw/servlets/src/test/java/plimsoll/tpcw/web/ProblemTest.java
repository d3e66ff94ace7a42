package plimsoll.tpcw.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import plimsoll.tpcw.html.Links;

/** What a visitor is told when something fails. */
class ProblemTest {
    @Test
    void a_database_that_is_away_is_unavailable() {
        assertEquals(503, Interaction.status(new SQLTransientConnectionException("no connection is available")));
        assertEquals(503, Interaction.status(new SQLNonTransientConnectionException("Socket error", "08000")));
        assertEquals(503, Interaction.status(new SQLException("Server shutdown in progress", "08S01", 1053)));
        assertEquals(503, Interaction.status(new SQLException("Connection was killed", "70100", 1927)));
    }

    @Test
    void any_other_failure_is_the_shops_own() {
        assertEquals(500, Interaction.status(new SQLSyntaxErrorException("no such table", "42S02", 1146)));
        assertEquals(500, Interaction.status(new SQLException("Deadlock found", "40001", 1213)));
        assertEquals(500, Interaction.status(new SQLException("the database gave no number to a new row")));
    }

    @Test
    void the_page_says_so_and_leads_back() {
        Links links = new Links(path -> path + ";jsessionid=5E55", null, null);
        String page = Interaction.problem(links, "There is no book number 7 <script>.");
        assertTrue(page.contains("<title>TPC-W: Error</title>"), page);
        assertTrue(page.contains("<p class=\"error\">There is no book number 7 &lt;script&gt;.</p>"), page);
        assertTrue(page.contains("<a href=\"/tpcw/TPCW_home_interaction;jsessionid=5E55\">"), page);
        assertFalse(page.contains("<script>"), page);
    }
}
