package plimsoll.tpcw.payment;

import java.time.LocalDate;

/** A credit card, as the visitor gave it. */
public record Card(String type, String number, String name, LocalDate expiry) {
}
