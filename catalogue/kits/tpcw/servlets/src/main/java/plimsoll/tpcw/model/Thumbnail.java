package plimsoll.tpcw.model;

/** A small picture that leads to its book. */
public record Thumbnail(int item, String image) {
}
