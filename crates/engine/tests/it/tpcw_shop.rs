//! The bookstore as far as a session of the kit `tpcw` can tell: sessions, carts and customers in memory, pages with the
//! application's marks. Every mistake of a user is a panic.

use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::virtual_net::{MS, Reply};

/// Of the size `quick`.
pub(crate) const CUSTOMERS: u32 = 28_800;
const ITEMS: u64 = 1000;
const LINK: &str = "/tpcw/TPCW_product_detail_servlet";
/// Undated: by the engine's calendar, which is the real one, what is dated as the pages are would be stale at once.
const PICTURE: &str =
    "HTTP/1.1 200 OK\r\nLast-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Length: 9\r\n\r\na picture";

/// The shop; a clone is the same shop.
#[derive(Clone, Default)]
pub(crate) struct Shop(Rc<RefCell<Books>>);

/// What the shop knows.
#[derive(Default)]
pub(crate) struct Books {
    /// By the number in the address.
    pub(crate) sessions: BTreeMap<u32, Session>,
    /// Quantities by item.
    pub(crate) carts: BTreeMap<u32, BTreeMap<u32, u32>>,
    pub(crate) orders: u64,
    pub(crate) ordered_lines: u64,
    pub(crate) shipped_elsewhere: u64,
    pub(crate) registered: u64,
    pub(crate) changed: u64,
    pub(crate) searched: u64,
    drawn: u64,
}

/// One visitor's session.
#[derive(Default)]
pub(crate) struct Session {
    /// The first page.
    pub(crate) first: String,
    /// The customer's number that the first request had.
    pub(crate) came_as: Option<u32>,
    pub(crate) begun_s: f64,
    pub(crate) last_s: f64,
    customer: Option<u32>,
    cart: Option<u32>,
    bought: bool,
}

impl Session {
    pub(crate) fn lasted_s(&self) -> f64 {
        self.last_s - self.begun_s
    }
}

type Fields = BTreeMap<String, String>;

impl Shop {
    pub(crate) fn books(&self) -> Ref<'_, Books> {
        self.0.borrow()
    }

    /// Answers a request that comes that number of nanoseconds after ten to midnight.
    pub(crate) fn reply(&self, at_ns: u64, text: &str) -> Reply {
        let target = text.split(' ').nth(1).expect("a request has a target");
        if target.starts_with("/tpcw/Images/") {
            return Reply::After(20 * MS, PICTURE.as_bytes().to_vec());
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let fields: Fields =
            [query, body].iter().flat_map(|list| list.split('&')).filter_map(field).collect();
        let (page, number) = path.split_once(";jsessionid=").unwrap_or((path, ""));
        let page = page.strip_prefix("/tpcw/").expect("the application's pages");
        let mut books = self.0.borrow_mut();
        let number = books.session(at_ns as f64 / 1e9, number, page, &fields);
        let (title, content) = books.page(page, number, &fields);
        let session = &books.sessions[&number];
        let known = [("SHOPPING_ID", session.cart), ("C_ID", session.customer)];
        let known =
            known.iter().filter_map(|(name, value)| value.map(|value| format!("&amp;{name}={value}")));
        let rest: String = known.collect();
        let content =
            content.replace("{session}", &format!(";jsessionid={number}")).replace("{known}", &rest);
        let logo = "<IMG SRC=\"/tpcw/Images/tpclogo.gif\" alt=\"TPC-W Bookstore\">";
        let home = format!("<a href=\"/tpcw/TPCW_home_interaction;jsessionid={number}\">");
        answer(at_ns, &format!("<title>TPC-W: {title}</title>{logo}{home}{content}"))
    }
}

fn answer(at_ns: u64, body: &str) -> Reply {
    let second = 86_400 - 600 + at_ns / 1_000_000_000;
    let (day, hour, minute) = (1 + second / 86_400, second / 3600 % 24, second / 60 % 60);
    let date = format!("Mon, {day:02} Sep 2008 {hour:02}:{minute:02}:{:02} GMT", second % 60);
    let length = body.len();
    let text = format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: {length}\r\n\r\n{body}");
    Reply::After(20 * MS, text.into_bytes())
}

/// A pair of a form, decoded.
fn field(pair: &str) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=')?;
    let (mut bytes, mut rest) = (Vec::new(), value.bytes());
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some((name.to_string(), String::from_utf8(bytes).ok()?))
}

fn number(fields: &Fields, name: &str) -> Option<u32> {
    fields.get(name).map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is {value}")))
}

fn money(cents: u32) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}

fn price(item: u32) -> u32 {
    500 + item * 7 % 900
}

/// A number's digits as the specification spells them.
fn spelled(number: u32) -> String {
    let syllables = ["BA", "OG", "AL", "RI", "RE", "SE", "AT", "UL", "IN", "NG"];
    number.to_string().bytes().map(|digit| syllables[usize::from(digit - b'0')]).collect()
}

fn book(item: u64) -> String {
    let folder = item % 100;
    format!(
        "<a href=\"{LINK}{{session}}?I_ID={item}{{known}}\"><IMG SRC=\"/tpcw/Images/img{folder}/thumb_{item}.gif\"></a>"
    )
}

impl Books {
    /// The session of a request, which knows its own numbers.
    fn session(&mut self, at_s: f64, number_given: &str, page: &str, fields: &Fields) -> u32 {
        let (cart, customer) = (number(fields, "SHOPPING_ID"), number(fields, "C_ID"));
        if number_given.is_empty() {
            assert_eq!(cart, None, "a new visitor has no cart");
            let first = page.to_string();
            let session = Session { first, came_as: customer, customer, begun_s: at_s, ..Session::default() };
            self.sessions.insert(self.sessions.len() as u32 + 1, session);
        }
        let number = number_given.parse().unwrap_or(self.sessions.len() as u32);
        let session = self.sessions.get_mut(&number).expect("a session that was given out");
        assert_eq!((session.cart, session.customer), (cart, customer), "{page}: another visitor's numbers");
        session.last_s = at_s;
        number
    }

    fn any_item(&mut self) -> u64 {
        // A step prime to the number of items: all of them, in no order that a session could know.
        self.drawn += 1;
        1 + self.drawn * 617 % ITEMS
    }

    fn promotion(&mut self) -> String {
        (0..5).map(|_| book(self.any_item())).collect()
    }

    fn list(&mut self, books: u64) -> String {
        let row = |item: u64| format!("<tr><td>A</td><td>{}</td></tr>", book(item));
        let promotion = self.promotion();
        promotion + &(0..books).map(|_| row(self.any_item())).collect::<String>()
    }

    /// The page's title and content.
    fn page(&mut self, page: &str, session: u32, fields: &Fields) -> (&'static str, String) {
        let customer = self.sessions[&session].customer;
        match page {
            "TPCW_home_interaction" => {
                let whom = customer.map_or("unknown user", |_| "Ann B");
                ("Home", format!("<h2>Hello {whom}</h2>{}", self.promotion()))
            }
            "TPCW_new_products_servlet" => {
                assert!(fields["subject"].len() >= 4, "{fields:?}");
                ("New Products", self.list(50))
            }
            "TPCW_best_sellers_servlet" => ("Best Sellers", self.promotion() + "<p>No books were found.</p>"),
            "TPCW_product_detail_servlet" | "TPCW_admin_request_servlet" => {
                let item = number(fields, "I_ID").expect("a product");
                let title = if page.contains("admin") { "Admin Request" } else { "Product Detail" };
                let folder = item % 100;
                let image =
                    format!("<IMG SRC=\"/tpcw/Images/img{folder}/image_{item}.gif\" alt=\"Book {item}\">");
                (
                    title,
                    image
                        + &format!(
                            "<a href=\"/tpcw/TPCW_admin_request_servlet{{session}}?I_ID={item}{{known}}\">"
                        ),
                )
            }
            "TPCW_search_request_servlet" => ("Search Request", self.promotion()),
            "TPCW_execute_search" => {
                ("Search Results", self.search(&fields["search_type"], &fields["search_string"]))
            }
            "TPCW_shopping_cart_interaction" => ("Shopping Cart", self.cart(session, fields)),
            "TPCW_customer_registration_servlet" => {
                let name = customer.map(spelled).unwrap_or_default();
                ("Customer Registration", format!("<form><input name=\"UNAME\" value=\"{name}\"></form>"))
            }
            "TPCW_buy_request_servlet" => ("Buy Request", self.buy_request(session, fields)),
            "TPCW_buy_confirm_servlet" => ("Buy Confirm", self.buy_confirm(session, fields)),
            "TPCW_order_inquiry_servlet" => {
                ("Order Inquiry", "<form><input name=\"UNAME\"><input name=\"PASSWD\"></form>".to_string())
            }
            "TPCW_order_display_servlet" => {
                assert_eq!(fields["PASSWD"], fields["UNAME"].to_lowercase());
                customer.into_iter().for_each(|customer| assert_eq!(fields["UNAME"], spelled(customer)));
                let bought = self.sessions[&session].bought;
                let order = if bought { "<td id=\"order\">7</td><tr><td>A line" } else { "<p id=\"none\">" };
                ("Order Display", order.to_string())
            }
            "TPCW_admin_response" => {
                let (item, cost) = (&fields["I_ID"], &fields["I_NEW_COST"]);
                assert!(
                    fields["I_NEW_IMAGE"].ends_with(".gif") && fields["I_NEW_THUMBNAIL"].contains("/thumb_")
                );
                self.changed += 1;
                ("Admin Confirm", format!("<td id=\"item\">{item}</td><td id=\"cost\">${cost}</td>"))
            }
            _ => panic!("{page} is no page of the application"),
        }
    }

    /// Two books that fit, where the text is one that authors' names or titles begin with.
    fn search(&mut self, kind: &str, text: &str) -> String {
        self.searched += 1;
        let right = match kind {
            "subject" => text.chars().all(|c| c.is_ascii_uppercase() || c == '-'),
            "author" | "title" => text.len() == 14 && text.starts_with("BABABABA"),
            _ => false,
        };
        assert!(right, "nobody searches for the {kind} {text}");
        self.list(2)
    }

    fn cart(&mut self, session: u32, fields: &Fields) -> String {
        let opened = self.carts.len() as u32 + 1;
        let cart = *self.sessions.get_mut(&session).expect("it is there").cart.get_or_insert(opened);
        let suggested = self.any_item() as u32;
        let promotion = self.promotion();
        let lines = self.carts.entry(cart).or_default();
        if fields["ADD_FLAG"] == "Y" {
            *lines.entry(number(fields, "I_ID").expect("a product to add")).or_default() += 1;
        } else {
            for line in 0.. {
                let Some(item) = number(fields, &format!("I_ID_{line}")) else { break };
                let quantity = number(fields, &format!("QTY_{line}")).expect("a quantity for each line");
                assert!(lines.insert(item, quantity).is_some(), "item {item} is not in cart {cart}");
            }
            lines.retain(|_, quantity| *quantity > 0);
        }
        if lines.is_empty() {
            lines.insert(suggested, 1);
        }
        let row = |(line, (item, quantity)): (usize, (&u32, &u32))| {
            let (list, cost) = (money(price(*item) + 100), money(price(*item)));
            format!(
                "<tr><td><input type=\"hidden\" name=\"I_ID_{line}\" value=\"{item}\">\
                 <input NAME=\"QTY_{line}\" VALUE=\"{quantity}\"></td><td>T</td><td>USED</td><td>{list}</td><td>{cost}</td></tr>"
            )
        };
        let rows: String = lines.iter().enumerate().map(row).collect();
        let sum = money(lines.iter().map(|(item, quantity)| price(*item) * quantity).sum());
        format!(
            "{promotion}<form><input type=\"hidden\" name=\"SHOPPING_ID\" value=\"{cart}\">{rows}\
             <b id=\"subtotal\">{sum}</b></form>"
        )
    }

    fn totals(&self, session: u32) -> String {
        let lines = &self.carts[&self.sessions[&session].cart.expect("a cart")];
        assert!(!lines.is_empty(), "an empty cart");
        let sub: u32 = lines.iter().map(|(item, quantity)| price(*item) * quantity).sum();
        let (tax, shipping) = ((sub * 825 + 5000) / 10_000, 300 + 100 * lines.values().sum::<u32>());
        [("subtotal", sub), ("tax", tax), ("shipping", shipping), ("total", sub + tax + shipping)]
            .iter()
            .map(|(mark, cents)| format!("<tr><th>A</th><td id=\"{mark}\">{}</td></tr>", money(*cents)))
            .collect()
    }

    fn buy_request(&mut self, session: u32, fields: &Fields) -> String {
        if fields["RETURNING_FLAG"] == "Y" {
            let customer = self.sessions[&session].customer.expect("who returns has a number");
            assert_eq!(
                (&fields["UNAME"], &fields["PASSWD"]),
                (&spelled(customer), &spelled(customer).to_lowercase())
            );
        } else {
            self.register(session, fields);
        }
        let customer = self.sessions[&session].customer.expect("a customer");
        let totals = self.totals(session);
        format!(
            "{totals}<form><input name=\"C_ID\" value=\"{customer}\"><input name=\"CC_NAME\" value=\"Ann &amp; B\"></form>"
        )
    }

    fn register(&mut self, session: u32, fields: &Fields) {
        let lengths = [
            ("FNAME", 8, 15),
            ("LNAME", 8, 15),
            ("STREET1", 15, 40),
            ("STREET2", 15, 40),
            ("CITY", 10, 30),
            ("STATE", 2, 20),
            ("ZIP", 5, 10),
            ("COUNTRY", 4, 50),
            ("PHONE", 9, 16),
            ("EMAIL", 15, 50),
            ("BIRTHDATE", 10, 10),
            ("DATA", 100, 500),
        ];
        for (name, least, most) in lengths {
            assert!((least..=most).contains(&fields[name].len()), "{name} is {:?}", fields[name]);
        }
        self.registered += 1;
        let session = self.sessions.get_mut(&session).expect("it is there");
        assert_eq!(session.customer.replace(CUSTOMERS + self.registered as u32), None);
    }

    fn buy_confirm(&mut self, session: u32, fields: &Fields) -> String {
        assert!(fields["CC_NUMBER"].len() == 16 && fields["CC_NAME"] == "Ann & B", "{fields:?}");
        // Today is the first or the second of September 2008.
        let good_until = fields["CC_EXPIRY"].as_str();
        assert!(("2008-09-02"..="2010-09-02").contains(&good_until), "{fields:?}");
        let elsewhere = fields.contains_key("COUNTRY");
        assert_eq!(fields["STREET_1"].is_empty(), !elsewhere, "{fields:?}");
        let totals = self.totals(session);
        let visitor = self.sessions.get_mut(&session).expect("it is there");
        visitor.bought = true;
        let lines = std::mem::take(self.carts.get_mut(&visitor.cart.expect("a cart")).expect("it is there"));
        self.orders += 1;
        self.ordered_lines += lines.len() as u64;
        self.shipped_elsewhere += u64::from(elsewhere);
        let rows = "<tr><td>A line</td></tr>".repeat(lines.len());
        format!("<td id=\"order\">{}</td>{rows}{totals}", self.orders)
    }
}
