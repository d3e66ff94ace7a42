package plimsoll.tpcw.model;

import java.math.BigDecimal;
import java.time.LocalDate;

/** All that the shop tells about a book. */
public record Detail(Book book, LocalDate published, String publisher, String subject, String description,
        String thumbnail, String image, BigDecimal srp, BigDecimal cost, LocalDate available, int stock, String isbn,
        int pages, String backing, String dimensions) {
}
