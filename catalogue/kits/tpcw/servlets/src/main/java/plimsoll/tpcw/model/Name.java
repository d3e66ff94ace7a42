package plimsoll.tpcw.model;

import java.io.Serializable;

/** Whom a page greets; kept in the visitor's session. */
public record Name(int customer, String first, String last) implements Serializable {
}
