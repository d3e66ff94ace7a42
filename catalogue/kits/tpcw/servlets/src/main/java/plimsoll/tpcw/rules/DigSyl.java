package plimsoll.tpcw.rules;

/** Numbers as the specification spells them: a syllable for each digit. Customers are named by it. */
public final class DigSyl {
    private static final String[] SYLLABLES = {"BA", "OG", "AL", "RI", "RE", "SE", "AT", "UL", "IN", "NG"};

    private DigSyl() {
    }

    public static String of(int number) {
        StringBuilder name = new StringBuilder();
        for (char digit : Integer.toString(number).toCharArray()) {
            name.append(SYLLABLES[digit - '0']);
        }
        return name.toString();
    }
}
