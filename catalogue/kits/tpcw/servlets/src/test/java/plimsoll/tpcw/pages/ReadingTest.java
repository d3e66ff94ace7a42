package plimsoll.tpcw.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import plimsoll.tpcw.Refusal;
import plimsoll.tpcw.model.Address;
import plimsoll.tpcw.model.BookChange;
import plimsoll.tpcw.model.CartChange;
import plimsoll.tpcw.model.Person;
import plimsoll.tpcw.model.Wish;
import plimsoll.tpcw.payment.Card;
import plimsoll.tpcw.web.Arguments;

/** The parameters by which everybody's drivers ask, by the names of the specification. */
class ReadingTest {
    private static final Map<String, String> ADDRESS =
            Map.of("CITY", "c", "STATE", "s", "ZIP", "z1234", "COUNTRY", "France");
    private static final Map<String, String> PERSON = Map.of(
            "FNAME", "f", "LNAME", "l", "STREET1", "1", "STREET2", "2", "PHONE", "012345678", "EMAIL", "e@x",
            "BIRTHDATE", "1965-04-30", "DATA", "d");
    private static final Map<String, String> CARD = Map.of(
            "C_ID", "9", "SHOPPING_ID", "3", "CC_TYPE", "AMEX", "CC_NUMBER", "1234567890123456", "CC_NAME", "f l",
            "CC_EXPIRY", "2027-01-31", "SHIPPING", "COURIER");

    @SafeVarargs
    private static Arguments of(Map<String, String>... given) {
        Map<String, String[]> all = new HashMap<>();
        for (Map<String, String> some : given) {
            some.forEach((name, value) -> all.put(name, new String[] {value}));
        }
        return new Arguments(all);
    }

    @Test
    void a_book_is_added_or_quantities_are_taken_over() {
        assertEquals(new CartChange(7, Map.of()),
                ShoppingCart.change(of(Map.of("ADD_FLAG", "Y", "I_ID", "7", "SHOPPING_ID", "3"))));
        Map<String, String> refreshed = Map.of("I_ID_0", "7", "QTY_0", "0", "I_ID_1", "8", "QTY_1", "4");
        assertEquals(new CartChange(null, Map.of(7, 0, 8, 4)),
                ShoppingCart.change(of(Map.of("ADD_FLAG", "N"), refreshed)));
        assertEquals(new CartChange(null, Map.of()), ShoppingCart.change(of(Map.of("ADD_FLAG", "N"))));
        assertThrows(Refusal.class, () -> ShoppingCart.change(of(Map.of("ADD_FLAG", "Y"))));
    }

    @Test
    void a_new_customer_tells_everything() {
        Address address = new Address("1", "2", "c", "s", "z1234", "France");
        assertEquals(new Person("f", "l", address, "012345678", "e@x", LocalDate.of(1965, 4, 30), "d"),
                BuyRequest.person(of(ADDRESS, PERSON)));
    }

    @Test
    void a_new_customer_without_an_address_is_refused() {
        Map<String, String> homeless = new HashMap<>(PERSON);
        homeless.remove("STREET1");
        Refusal refusal = assertThrows(Refusal.class, () -> BuyRequest.person(of(ADDRESS, homeless)));
        assertEquals("STREET1 is missing.", refusal.getMessage());
    }

    @Test
    void a_purchase_goes_to_the_customer_unless_a_street_is_given() {
        Wish wish = BuyConfirm.wish(of(CARD, Map.of("STREET_1", "", "CITY", "")));
        assertNull(wish.shipTo());
        assertEquals("9 3 COURIER", wish.customer() + " " + wish.cart() + " " + wish.shipType());
        assertEquals(new Card("AMEX", "1234567890123456", "f l", LocalDate.of(2027, 1, 31)), wish.card());
        assertEquals(new Address("x", "y", "c", "s", "z1234", "France"),
                BuyConfirm.wish(of(CARD, ADDRESS, Map.of("STREET_1", "x", "STREET_2", "y"))).shipTo());
    }

    @Test
    void a_cards_name_is_cut_to_what_its_column_holds() {
        Map<String, String> spelled = new HashMap<>(CARD);
        spelled.put("CC_NAME", "&amp;".repeat(8));
        assertEquals("&amp;".repeat(6) + "&", BuyConfirm.wish(of(spelled)).card().name());
    }

    @Test
    void an_administrator_gives_price_and_pictures() {
        assertEquals(new BookChange(7, new BigDecimal("12.50"), "img8/image_8.gif", "img8/thumb_8.gif"),
                AdminConfirm.change(of(Map.of("I_ID", "7", "I_NEW_COST", "12.5", "I_NEW_IMAGE", "img8/image_8.gif",
                        "I_NEW_THUMBNAIL", "img8/thumb_8.gif"))));
    }
}
