package plimsoll.tpcw.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The specification's rules: names, money, stock, related books. */
class RulesTest {
    private record Line(BigDecimal cost, int quantity) implements Totals.Priced {
        Line(String cost, int quantity) {
            this(new BigDecimal(cost), quantity);
        }
    }

    private static Totals totals(String discount, Line... lines) {
        return Totals.of(List.of(lines), new BigDecimal(discount));
    }

    private static void assertTotals(Totals totals, String subTotal, String tax, String shipping, String total) {
        Totals expected = new Totals(
                new BigDecimal(subTotal), new BigDecimal(tax), new BigDecimal(shipping), new BigDecimal(total));
        assertEquals(expected, totals);
    }

    @Test
    void a_number_is_spelled_by_its_digits() {
        assertEquals("BA", DigSyl.of(0));
        assertEquals("OGALRI", DigSyl.of(123));
        assertEquals("RESEATULINNG", DigSyl.of(456789));
        assertEquals("ALOGREULREINRIATREUL", DigSyl.of(2147483647));
    }

    @Test
    void a_cart_costs_its_books_tax_and_shipping() {
        assertTotals(totals("0.00", new Line("10.00", 2), new Line("5.50", 1)), "25.50", "2.10", "6.00", "33.60");
    }

    @Test
    void a_discount_is_a_share_and_its_result_is_rounded_once() {
        assertTotals(totals("0.15", new Line("9.99", 3)), "25.47", "2.10", "6.00", "33.57");
        // Three lines of 0.333 would be 0.99 if each were rounded.
        assertTotals(totals("0.10", new Line("0.37", 1), new Line("0.37", 1), new Line("0.37", 1)),
                "1.00", "0.08", "6.00", "7.08");
        assertTotals(totals("0.50", new Line("0.01", 1)), "0.01", "0.00", "4.00", "4.01");
    }

    @Test
    void half_a_cent_of_tax_is_a_cent() {
        assertTotals(totals("0.00", new Line("2.00", 1)), "2.00", "0.17", "4.00", "6.17");
    }

    @Test
    void stock_that_runs_low_comes_in_with_the_sale() {
        assertEquals(10, Stock.after(13, 3));
        assertEquals(30, Stock.after(13, 4));
        assertEquals(10, Stock.after(11, 1));
        assertEquals(22, Stock.after(10, 9));
    }

    @Test
    void related_books_are_those_that_were_bought_with_it() {
        assertEquals(List.of(5, 4, 3, 2, 1), Related.filled(List.of(5, 4, 3, 2, 1), 9, 100));
    }

    @Test
    void what_is_missing_follows_the_last_one_found() {
        assertEquals(List.of(40, 7, 8, 10, 11), Related.filled(List.of(40, 7), 9, 100));
        assertEquals(List.of(10, 11, 12, 13, 14), Related.filled(List.of(), 9, 100));
    }

    @Test
    void after_the_last_book_comes_the_first() {
        assertEquals(List.of(1, 99, 100, 2, 3), Related.filled(List.of(1, 99), 50, 100));
        assertEquals(List.of(1, 2, 3, 4, 5), Related.filled(List.of(), 100, 100));
    }

    @Test
    void fewer_than_six_books_have_no_five_others() {
        assertEquals(List.of(2, 3, 4, 5, 6), Related.filled(List.of(), 1, 6));
        assertThrows(IllegalArgumentException.class, () -> Related.filled(List.of(), 1, 5));
    }

    @Test
    void there_are_24_subjects_each_once() {
        assertEquals(24, Choices.SUBJECTS.size());
        assertEquals(24, Choices.SUBJECTS.stream().distinct().count());
    }
}
