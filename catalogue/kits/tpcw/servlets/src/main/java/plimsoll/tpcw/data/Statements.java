package plimsoll.tpcw.data;

/** Every statement of the shop, whole as it stands here: values are bound, and no text is ever put into one. */
final class Statements {
    // Books: ITEM and AUTHOR.
    static final String NEW_PRODUCTS = """
            SELECT i_id, i_title, a_fname, a_lname FROM ITEM JOIN AUTHOR ON a_id = i_a_id
            WHERE i_subject = ? ORDER BY i_pub_date DESC, i_title LIMIT 50""";
    static final String BEST_SELLERS = """
            SELECT i_id, i_title, a_fname, a_lname
            FROM ORDER_LINE JOIN ITEM ON i_id = ol_i_id JOIN AUTHOR ON a_id = i_a_id
            WHERE ol_o_id > ? AND i_subject = ?
            GROUP BY i_id, i_title, a_fname, a_lname ORDER BY SUM(ol_qty) DESC LIMIT 50""";
    static final String BOOKS_BY_AUTHOR = """
            SELECT i_id, i_title, a_fname, a_lname FROM AUTHOR JOIN ITEM ON i_a_id = a_id
            WHERE a_lname LIKE ? ORDER BY i_title LIMIT 50""";
    static final String BOOKS_BY_TITLE = """
            SELECT i_id, i_title, a_fname, a_lname FROM ITEM JOIN AUTHOR ON a_id = i_a_id
            WHERE i_title LIKE ? ORDER BY i_title LIMIT 50""";
    static final String BOOKS_BY_SUBJECT = """
            SELECT i_id, i_title, a_fname, a_lname FROM ITEM JOIN AUTHOR ON a_id = i_a_id
            WHERE i_subject = ? ORDER BY i_title LIMIT 50""";
    static final String BOOK = """
            SELECT i_id, i_title, a_fname, a_lname, i_pub_date, i_publisher, i_subject, i_desc, i_thumbnail, i_image,
                i_srp, i_cost, i_avail, i_stock, i_isbn, i_page, i_backing, i_dimensions
            FROM ITEM JOIN AUTHOR ON a_id = i_a_id WHERE i_id = ?""";
    static final String BOOK_EXISTS = "SELECT i_id FROM ITEM WHERE i_id = ?";
    static final String LAST_BOOK = "SELECT MAX(i_id) FROM ITEM";
    static final String RELATED_BOOKS = """
            SELECT other.i_id, other.i_thumbnail FROM ITEM shown JOIN ITEM other ON other.i_id IN
                (shown.i_related1, shown.i_related2, shown.i_related3, shown.i_related4, shown.i_related5)
            WHERE shown.i_id = ?""";
    static final String FIRST_RELATED_BOOK = "SELECT i_related1 FROM ITEM WHERE i_id = ?";
    static final String CHANGE_BOOK = """
            UPDATE ITEM SET i_cost = ?, i_image = ?, i_thumbnail = ?, i_pub_date = CURRENT_DATE WHERE i_id = ?""";
    /** What else those who bought the book have ever bought, the most first. */
    static final String BOUGHT_WITH = """
            SELECT bought.ol_i_id
            FROM (SELECT DISTINCT o_c_id FROM ORDER_LINE JOIN ORDERS ON o_id = ol_o_id
                WHERE ol_i_id = ? AND ol_o_id > ?) buyer
            JOIN ORDERS made ON made.o_c_id = buyer.o_c_id
            JOIN ORDER_LINE bought ON bought.ol_o_id = made.o_id
            WHERE bought.ol_i_id <> ? GROUP BY bought.ol_i_id ORDER BY SUM(bought.ol_qty) DESC LIMIT 5""";
    static final String RELATE = """
            UPDATE ITEM SET i_related1 = ?, i_related2 = ?, i_related3 = ?, i_related4 = ?, i_related5 = ?
            WHERE i_id = ?""";
    static final String STOCK = "SELECT i_stock FROM ITEM WHERE i_id = ? FOR UPDATE";
    static final String SET_STOCK = "UPDATE ITEM SET i_stock = ? WHERE i_id = ?";

    // Carts: SHOPPING_CART and SHOPPING_CART_LINE.
    static final String OPEN_CART = "INSERT INTO SHOPPING_CART (sc_time) VALUES (NOW())";
    static final String TOUCH_CART = "UPDATE SHOPPING_CART SET sc_time = NOW() WHERE sc_id = ?";
    static final String LOCK_CART = "SELECT sc_id FROM SHOPPING_CART WHERE sc_id = ? FOR UPDATE";
    static final String CART_LINES = """
            SELECT i_id, i_title, i_backing, i_srp, i_cost, scl_qty
            FROM SHOPPING_CART_LINE JOIN ITEM ON i_id = scl_i_id WHERE scl_sc_id = ? ORDER BY scl_i_id""";
    static final String ADD_TO_CART = """
            INSERT INTO SHOPPING_CART_LINE (scl_sc_id, scl_i_id, scl_qty) VALUES (?, ?, 1)
            ON DUPLICATE KEY UPDATE scl_qty = scl_qty + 1""";
    static final String SET_QUANTITY = "UPDATE SHOPPING_CART_LINE SET scl_qty = ? WHERE scl_sc_id = ? AND scl_i_id = ?";
    static final String REMOVE_FROM_CART = "DELETE FROM SHOPPING_CART_LINE WHERE scl_sc_id = ? AND scl_i_id = ?";
    static final String EMPTY_CART = "DELETE FROM SHOPPING_CART_LINE WHERE scl_sc_id = ?";

    // Customers: CUSTOMER, ADDRESS and COUNTRY.
    static final String NAME = "SELECT c_id, c_fname, c_lname FROM CUSTOMER WHERE c_id = ?";
    static final String USER_NAME = "SELECT c_uname FROM CUSTOMER WHERE c_id = ?";
    static final String ACCOUNT = "SELECT c_id, c_passwd FROM CUSTOMER WHERE c_uname = ?";
    static final String CUSTOMER = """
            SELECT c_id, c_uname, c_passwd, c_fname, c_lname, c_phone, c_email, c_birthdate, c_data, c_discount,
                addr_street1, addr_street2, addr_city, addr_state, addr_zip, co_name
            FROM CUSTOMER JOIN ADDRESS ON addr_id = c_addr_id JOIN COUNTRY ON co_id = addr_co_id WHERE c_uname = ?""";
    static final String LOG_IN = """
            UPDATE CUSTOMER SET c_login = NOW(), c_expiration = NOW() + INTERVAL 2 HOUR WHERE c_id = ?""";
    static final String INSERT_CUSTOMER = """
            INSERT INTO CUSTOMER (c_fname, c_lname, c_addr_id, c_phone, c_email, c_since, c_last_login, c_login,
                c_expiration, c_discount, c_balance, c_ytd_pmt, c_birthdate, c_data)
            VALUES (?, ?, ?, ?, ?, CURRENT_DATE, CURRENT_DATE, NOW(), NOW() + INTERVAL 2 HOUR, ?, 0, 0, ?, ?)""";
    static final String NAME_CUSTOMER = "UPDATE CUSTOMER SET c_uname = ?, c_passwd = ? WHERE c_id = ?";
    static final String COUNTRY = "SELECT co_id FROM COUNTRY WHERE co_name = ?";
    static final String SAME_ADDRESS = """
            SELECT addr_id FROM ADDRESS WHERE addr_zip = ? AND addr_street1 = ? AND addr_street2 = ? AND addr_city = ?
                AND addr_state = ? AND addr_co_id = ? LIMIT 1""";
    static final String INSERT_ADDRESS = """
            INSERT INTO ADDRESS (addr_street1, addr_street2, addr_city, addr_state, addr_zip, addr_co_id)
            VALUES (?, ?, ?, ?, ?, ?)""";

    // Orders: ORDERS, ORDER_LINE and CC_XACTS.
    static final String LAST_ORDER = "SELECT MAX(o_id) FROM ORDERS";
    static final String LATEST_ORDER =
            "SELECT o_id FROM ORDERS WHERE o_c_id = ? ORDER BY o_date DESC, o_id DESC LIMIT 1";
    static final String ORDER = """
            SELECT o_id, o_date, o_sub_total, o_tax, o_total, o_ship_type, o_ship_date, o_status,
                c_fname, c_lname, c_phone, c_email, cx_type,
                bill.addr_street1 AS bill_addr_street1, bill.addr_street2 AS bill_addr_street2,
                bill.addr_city AS bill_addr_city, bill.addr_state AS bill_addr_state, bill.addr_zip AS bill_addr_zip,
                bill_country.co_name AS bill_co_name,
                ship.addr_street1 AS ship_addr_street1, ship.addr_street2 AS ship_addr_street2,
                ship.addr_city AS ship_addr_city, ship.addr_state AS ship_addr_state, ship.addr_zip AS ship_addr_zip,
                ship_country.co_name AS ship_co_name
            FROM ORDERS JOIN CUSTOMER ON c_id = o_c_id JOIN CC_XACTS ON cx_o_id = o_id
            JOIN ADDRESS bill ON bill.addr_id = o_bill_addr_id
            JOIN COUNTRY bill_country ON bill_country.co_id = bill.addr_co_id
            JOIN ADDRESS ship ON ship.addr_id = o_ship_addr_id
            JOIN COUNTRY ship_country ON ship_country.co_id = ship.addr_co_id
            WHERE o_id = ?""";
    static final String ORDER_LINES = """
            SELECT i_id, i_title, i_publisher, i_cost, ol_qty, ol_discount, ol_comments
            FROM ORDER_LINE JOIN ITEM ON i_id = ol_i_id WHERE ol_o_id = ? ORDER BY ol_id""";
    static final String BUYER = """
            SELECT c_discount, c_addr_id, addr_co_id FROM CUSTOMER JOIN ADDRESS ON addr_id = c_addr_id
            WHERE c_id = ?""";
    static final String INSERT_ORDER = """
            INSERT INTO ORDERS (o_c_id, o_date, o_sub_total, o_tax, o_total, o_ship_type, o_ship_date, o_bill_addr_id,
                o_ship_addr_id, o_status)
            VALUES (?, NOW(), ?, ?, ?, ?, CURRENT_DATE + INTERVAL ? DAY, ?, ?, 'PENDING')""";
    static final String INSERT_LINE = """
            INSERT INTO ORDER_LINE (ol_id, ol_o_id, ol_i_id, ol_qty, ol_discount, ol_comments)
            VALUES (?, ?, ?, ?, ?, ?)""";
    static final String INSERT_PAYMENT = """
            INSERT INTO CC_XACTS (cx_o_id, cx_type, cx_num, cx_name, cx_expire, cx_auth_id, cx_xact_amt, cx_xact_date,
                cx_co_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, CURRENT_DATE, ?)""";

    private Statements() {
    }
}
