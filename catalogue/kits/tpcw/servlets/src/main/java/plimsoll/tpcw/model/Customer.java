package plimsoll.tpcw.model;

import java.math.BigDecimal;

/** A customer. The discount is a share: 0.15 is 15 %. */
public record Customer(int id, String userName, Person person, BigDecimal discount) {
    public Name name() {
        return new Name(id, person.firstName(), person.lastName());
    }
}
