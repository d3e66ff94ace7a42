package plimsoll.tpcw.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import plimsoll.tpcw.Refusal;

/** What requests may ask for. */
class ArgumentsTest {
    private static Arguments of(String... namesAndValues) {
        Map<String, String[]> given = new HashMap<>();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            given.put(namesAndValues[at], new String[] {namesAndValues[at + 1]});
        }
        return new Arguments(given);
    }

    private static void assertRefused(String message, Executable work) {
        Refusal refusal = assertThrows(Refusal.class, work);
        assertEquals(400, refusal.status());
        assertEquals(message, refusal.getMessage());
    }

    @Test
    void text_is_taken_as_it_is() {
        assertEquals(" a&b ", of("FNAME", " a&b ").text("FNAME", 15));
        assertEquals("  ", of("STATE", "  ").text("STATE", 20));
        assertEquals("", of().optional("DATA", 500));
    }

    @Test
    void text_that_is_missing_or_too_long_is_refused() {
        assertRefused("FNAME is missing.", () -> of().text("FNAME", 15));
        assertRefused("FNAME is missing.", () -> of("FNAME", "").text("FNAME", 15));
        assertRefused("FNAME is longer than 2 characters.", () -> of("FNAME", "abc").text("FNAME", 2));
    }

    @Test
    void a_number_is_whole_and_above_0() {
        assertEquals(2147483647, of("I_ID", "2147483647").id("I_ID"));
        for (String wrong : List.of("", "0", "-1", "1.5", "x", "2147483648", "99999999999", "0x1f")) {
            assertRefused("I_ID must be a whole number from 1 to 2147483647.", () -> of("I_ID", wrong).id("I_ID"));
        }
    }

    @Test
    void a_number_that_need_not_be_there_is_null() {
        assertNull(of().optionalId("C_ID"));
        assertNull(of("C_ID", "").optionalId("C_ID"));
        assertEquals(5, of("C_ID", "5").optionalId("C_ID"));
        assertThrows(Refusal.class, () -> of("C_ID", "null").optionalId("C_ID"));
    }

    @Test
    void a_flag_is_y_or_n() {
        assertTrue(of("ADD_FLAG", "Y").flag("ADD_FLAG"));
        assertFalse(of("ADD_FLAG", "N").flag("ADD_FLAG"));
        assertRefused("ADD_FLAG must be one of Y, N.", () -> of("ADD_FLAG", "y").flag("ADD_FLAG"));
        assertRefused("ADD_FLAG must be one of Y, N.", () -> of().flag("ADD_FLAG"));
    }

    @Test
    void money_has_cents() {
        assertEquals(new BigDecimal("12.30"), of("I_NEW_COST", "12.3").money("I_NEW_COST"));
        assertEquals(new BigDecimal("12.35"), of("I_NEW_COST", "12.345").money("I_NEW_COST"));
        assertEquals(new BigDecimal("9999.00"), of("I_NEW_COST", " 9999 ").money("I_NEW_COST"));
        for (String wrong : List.of("", "-1", "1e9", "1,5", ".5", "12345678901")) {
            assertRefused("I_NEW_COST must be an amount such as 12.34.",
                    () -> of("I_NEW_COST", wrong).money("I_NEW_COST"));
        }
    }

    @Test
    void a_date_is_isos_or_one_of_the_forms_with_slashes() {
        LocalDate april = LocalDate.of(1965, 4, 30);
        assertEquals(april, of("BIRTHDATE", "1965-04-30").date("BIRTHDATE"));
        assertEquals(april, of("BIRTHDATE", "4/30/1965").date("BIRTHDATE"));
        assertEquals(april, of("BIRTHDATE", "30/4/1965").date("BIRTHDATE"));
        for (String wrong : List.of("", "1965", "1965-13-01", "30-Apr-1965", "0099-01-01")) {
            assertRefused("BIRTHDATE must be a date such as 1965-04-30.",
                    () -> of("BIRTHDATE", wrong).date("BIRTHDATE"));
        }
    }

    @Test
    void the_quantities_of_a_cart_go_by_book() {
        Arguments arguments = of("I_ID_0", "7", "QTY_0", "2", "I_ID_1", "5", "QTY_1", "0", "I_ID", "9", "QTY_8", "3");
        assertEquals(Map.of(7, 2, 5, 0), arguments.quantities());
        assertEquals(Map.of(), of().quantities());
        assertRefused("QTY_0 must be a whole number from 0 to 9999.", () -> of("I_ID_0", "7").quantities());
        assertRefused("QTY_0 must be a whole number from 0 to 9999.",
                () -> of("I_ID_0", "7", "QTY_0", "10000").quantities());
    }

    @Test
    void of_two_names_the_one_that_is_given_counts() {
        assertEquals("STREET1", of("STREET1", "a", "STREET_1", "b").either("STREET1", "STREET_1"));
        assertEquals("STREET_1", of("STREET_1", "b").either("STREET1", "STREET_1"));
        assertEquals("STREET1", of().either("STREET1", "STREET_1"));
    }
}
