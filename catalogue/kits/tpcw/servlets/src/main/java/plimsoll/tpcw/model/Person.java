package plimsoll.tpcw.model;

import java.time.LocalDate;

/** What a new customer tells. */
public record Person(String firstName, String lastName, Address address, String phone, String email,
        LocalDate birthdate, String data) {
}
