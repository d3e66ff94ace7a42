package plimsoll.tpcw.rules;

/** What lies on the shelf: never sold out, because what runs low comes in again with the sale. */
public final class Stock {
    private static final int LEAST = 10;
    private static final int DELIVERY = 21;

    private Stock() {
    }

    /** What is left of a book's stock after so many were sold. */
    public static int after(int stock, int sold) {
        int left = stock - sold;
        return left >= LEAST ? left : left + DELIVERY;
    }
}
