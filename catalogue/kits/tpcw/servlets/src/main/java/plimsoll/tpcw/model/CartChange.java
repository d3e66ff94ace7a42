package plimsoll.tpcw.model;

import java.util.Map;

/** A book to add to a cart (null for none), or else new quantities by book, of which 0 takes the book out. */
public record CartChange(Integer added, Map<Integer, Integer> quantities) {
}
