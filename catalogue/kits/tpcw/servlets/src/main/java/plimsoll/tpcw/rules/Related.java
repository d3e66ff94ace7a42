package plimsoll.tpcw.rules;

import java.util.ArrayList;
import java.util.List;

/** The five books that a book's page recommends. */
public final class Related {
    public static final int COUNT = 5;

    private Related() {
    }

    /**
     * Those that were bought with it, the best first, filled up with the ones that follow the last of them by number
     * (where there is none, that follow the book itself), after the last book from the first one on.
     */
    public static List<Integer> filled(List<Integer> bought, int item, int items) {
        if (items <= COUNT) {
            throw new IllegalArgumentException(items + " books are too few: each is related to " + COUNT + " others");
        }
        List<Integer> related = new ArrayList<>(bought.subList(0, Math.min(COUNT, bought.size())));
        int next = related.isEmpty() ? item : related.get(related.size() - 1);
        while (related.size() < COUNT) {
            next = next % items + 1;
            if (next != item && !related.contains(next)) {
                related.add(next);
            }
        }
        return related;
    }
}
