package plimsoll.tpcw.payment;

import java.math.BigDecimal;

/** The authorisation of one purchase: however often it is asked for, the same amount is authorised once. */
public final class Authorisation {
    private final PaymentGateway gateway;
    private final Card card;
    private BigDecimal amount;
    private String authorised;

    public Authorisation(PaymentGateway gateway, Card card) {
        this.gateway = gateway;
        this.card = card;
    }

    public String of(BigDecimal total) {
        if (!total.equals(amount)) {
            authorised = gateway.authorise(card, total);
            amount = total;
        }
        return authorised;
    }
}
