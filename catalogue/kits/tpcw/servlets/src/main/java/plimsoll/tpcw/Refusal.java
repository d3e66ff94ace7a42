package plimsoll.tpcw;

/** What a visitor is told instead of the page, with a status of its own. Nothing of what was asked for was done. */
public final class Refusal extends RuntimeException {
    private final int status;

    private Refusal(int status, String message) {
        // Without a stack trace: it is an answer, not a fault of the shop's.
        super(message, null, false, false);
        this.status = status;
    }

    /** The request can't be understood. */
    public static Refusal badRequest(String message) {
        return new Refusal(400, message);
    }

    /** The gateway does not take the card. */
    public static Refusal declined(String message) {
        return new Refusal(402, message);
    }

    /** The password is another one. */
    public static Refusal forbidden(String message) {
        return new Refusal(403, message);
    }

    /** There is no such book, cart or customer. */
    public static Refusal notFound(String message) {
        return new Refusal(404, message);
    }

    /** It can't be done in the state in which things are. */
    public static Refusal conflict(String message) {
        return new Refusal(409, message);
    }

    /** The payment gateway lets the shop down. */
    public static Refusal badGateway(String message) {
        return new Refusal(502, message);
    }

    public int status() {
        return status;
    }
}
