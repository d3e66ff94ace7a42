package plimsoll.tpcw.model;

/** Where somebody lives or an order goes, with the country's name. */
public record Address(String street1, String street2, String city, String state, String zip, String country) {
}
