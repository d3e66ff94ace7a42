package plimsoll.tpcw.pages;

import plimsoll.tpcw.html.Page;
import plimsoll.tpcw.model.Address;
import plimsoll.tpcw.web.Arguments;

/** An address, as it is shown, asked for and read. */
final class AddressTable {
    private static final int STREET = 40;
    private static final int CITY = 30;
    private static final int STATE = 20;
    private static final int ZIP = 10;
    private static final int COUNTRY = 50;

    private AddressTable() {
    }

    static void show(Page page, Address address) {
        page.raw("<p>").text(address.street1()).raw("<br>\n").text(address.street2()).raw("<br>\n")
                .text(address.city()).raw(", ").text(address.state()).raw(" ").text(address.zip()).raw("<br>\n")
                .text(address.country()).raw("</p>\n");
    }

    /** Empty fields; the streets' names differ from form to form. */
    static void ask(Page page, String street1, String street2) {
        page.field("Street", street1, "", STREET)
                .field("Street, second line", street2, "", STREET)
                .field("City", "CITY", "", CITY)
                .field("State", "STATE", "", STATE)
                .field("Zip", "ZIP", "", ZIP)
                .field("Country", "COUNTRY", "", COUNTRY);
    }

    /** What was written into them, or null where no street is given. */
    static Address read(Arguments arguments) {
        String street1 = arguments.optional(arguments.either("STREET1", "STREET_1"), STREET);
        if (street1.isEmpty()) {
            return null;
        }
        return new Address(
                street1,
                arguments.optional(arguments.either("STREET2", "STREET_2"), STREET),
                arguments.text("CITY", CITY),
                arguments.text("STATE", STATE),
                arguments.text("ZIP", ZIP),
                arguments.text("COUNTRY", COUNTRY));
    }
}
