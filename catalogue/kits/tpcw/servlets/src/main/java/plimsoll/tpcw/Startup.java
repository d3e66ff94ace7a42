package plimsoll.tpcw;

import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;

/** Opens the shop when Tomcat starts it, with or without a database to reach, and closes it at the end. */
@WebListener
public final class Startup implements ServletContextListener {
    /** Where the library by which the driver reaches a unix socket unpacks its native part. */
    private static final String NATIVE_PARTS = "jna.tmpdir";

    @Override
    public void contextInitialized(ServletContextEvent event) {
        // Its own choice is the home directory, and the user that servers run as has none.
        if (System.getProperty(NATIVE_PARTS) == null) {
            System.setProperty(NATIVE_PARTS, System.getProperty("java.io.tmpdir"));
        }
        event.getServletContext().setAttribute(Store.ATTRIBUTE, Store.open(Settings.load()));
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
        if (event.getServletContext().getAttribute(Store.ATTRIBUTE) instanceof Store store) {
            store.close();
        }
    }
}
