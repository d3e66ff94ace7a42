package plimsoll.tpcw.model;

import java.time.LocalDate;
import java.util.List;
import plimsoll.tpcw.rules.Totals;

/** An order as it was placed some time ago. */
public record Order(int id, LocalDate date, Totals totals, String shipType, LocalDate shipDate, String status,
        String firstName, String lastName, String phone, String email, String cardType, Address billTo,
        Address shipTo, List<OrderLine> lines) {
}
