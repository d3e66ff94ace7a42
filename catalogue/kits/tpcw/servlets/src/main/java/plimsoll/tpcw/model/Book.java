package plimsoll.tpcw.model;

/** A book in a list. */
public record Book(int id, String title, String firstName, String lastName) {
}
