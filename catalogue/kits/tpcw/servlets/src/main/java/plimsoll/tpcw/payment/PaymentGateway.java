package plimsoll.tpcw.payment;

import java.math.BigDecimal;

/** Who says whether a card may be charged. */
public interface PaymentGateway {
    /** The 15 characters of the authorisation; where there is none, a refusal is thrown. */
    String authorise(Card card, BigDecimal amount);
}
