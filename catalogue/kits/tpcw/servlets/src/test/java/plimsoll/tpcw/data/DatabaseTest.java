package plimsoll.tpcw.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** What needs no database to be known. */
class DatabaseTest {
    @Test
    void transactions_in_each_others_way_are_tried_again() {
        assertTrue(Pool.isConflict(new SQLException("Deadlock found", "40001", 1213)));
        assertTrue(Pool.isConflict(new SQLException("Lock wait timeout exceeded", "HY000", 1205)));
        assertFalse(Pool.isConflict(new SQLException("Duplicate entry", "23000", 1062)));
        assertFalse(Pool.isConflict(new SQLException("Socket error", "08000")));
    }

    @Test
    void a_search_string_has_no_wildcards_of_its_own() {
        assertEquals("BAOGAL%", Database.beginningWith("BAOGAL"));
        assertEquals("50\\% \\_ \\\\%", Database.beginningWith("50% _ \\"));
    }
}
