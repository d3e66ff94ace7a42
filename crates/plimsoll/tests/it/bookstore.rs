//! The bookstore of the kit tpcw as tests visit it: the shop that stands, somebody who goes through its pages, and what
//! stands in them.

use crate::browser::{Browser, Page};
use crate::standing::Standing;
use crate::tool::{Finished, Home};

/// A web interaction: the end of its path, and its page's title.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interaction(&'static str, &'static str);

pub(crate) const HOME: Interaction = Interaction("TPCW_home_interaction", "Home");
pub(crate) const NEW_PRODUCTS: Interaction = Interaction("TPCW_new_products_servlet", "New Products");
pub(crate) const BEST_SELLERS: Interaction = Interaction("TPCW_best_sellers_servlet", "Best Sellers");
pub(crate) const PRODUCT_DETAIL: Interaction = Interaction("TPCW_product_detail_servlet", "Product Detail");
pub(crate) const SEARCH_REQUEST: Interaction = Interaction("TPCW_search_request_servlet", "Search Request");
pub(crate) const SEARCH_RESULTS: Interaction = Interaction("TPCW_execute_search", "Search Results");
pub(crate) const SHOPPING_CART: Interaction = Interaction("TPCW_shopping_cart_interaction", "Shopping Cart");
pub(crate) const CUSTOMER_REGISTRATION: Interaction =
    Interaction("TPCW_customer_registration_servlet", "Customer Registration");
pub(crate) const BUY_REQUEST: Interaction = Interaction("TPCW_buy_request_servlet", "Buy Request");
pub(crate) const BUY_CONFIRM: Interaction = Interaction("TPCW_buy_confirm_servlet", "Buy Confirm");
pub(crate) const ORDER_INQUIRY: Interaction = Interaction("TPCW_order_inquiry_servlet", "Order Inquiry");
pub(crate) const ORDER_DISPLAY: Interaction = Interaction("TPCW_order_display_servlet", "Order Display");
pub(crate) const ADMIN_REQUEST: Interaction = Interaction("TPCW_admin_request_servlet", "Admin Request");
pub(crate) const ADMIN_CONFIRM: Interaction = Interaction("TPCW_admin_response", "Admin Confirm");
/// By which the original's own driver asks for [`ADMIN_CONFIRM`].
pub(crate) const ADMIN_CONFIRM_TOO: Interaction = Interaction("TPCW_admin_response_servlet", "Admin Confirm");

/// A customer of the data set: number, user name (the number's digits as syllables), password.
pub(crate) const SOMEBODY: (&str, &str, &str) = ("7", "UL", "ul");
/// A card that the gateway approves.
pub(crate) const CARD: [(&str, &str); 6] = [
    ("CC_TYPE", "AMEX"),
    ("CC_NUMBER", "3456789012345678"),
    ("CC_NAME", "A. Nyone"),
    ("CC_EXPIRY", "2030-12-31"),
    ("SHIPPING", "COURIER"),
    ("STREET_1", ""),
];

/// The shop, of the smallest size, until it is dropped.
pub(crate) struct Shop {
    stack: Standing,
    /// Host and port.
    pub(crate) address: String,
    /// The number of the database's process.
    pub(crate) database: u32,
}

impl Shop {
    pub(crate) fn open(words: &str) -> Shop {
        let mut stack = Home::shared().plimsoll(&format!("up tpcw --size quick {words}")).start();
        let (address, database) = (stack.address(), stack.pid_of("db"));
        Shop { stack: stack.until_dropped(), address, database }
    }

    pub(crate) fn visitor(&self) -> Visitor {
        Visitor { browser: Browser::new(&self.address), session: None, cart: None, customer: None }
    }

    pub(crate) fn end(self) -> Finished {
        self.stack.end()
    }
}

/// Somebody in the shop. What every link of it carries goes along: the session's number, the cart's, the customer's.
pub(crate) struct Visitor {
    browser: Browser,
    pub(crate) session: Option<String>,
    pub(crate) cart: Option<String>,
    pub(crate) customer: Option<String>,
}

impl Visitor {
    /// By a link. The query is encoded.
    pub(crate) fn get(&mut self, at: Interaction, query: &str) -> Page {
        let numbers = self.numbers().into_iter().map(|(name, number)| format!("{name}={number}"));
        let parts: Vec<String> =
            [query.to_string()].into_iter().chain(numbers).filter(|part| !part.is_empty()).collect();
        let mark = if parts.is_empty() { "" } else { "?" };
        let path = format!("{}{mark}{}", self.path(at), parts.join("&"));
        let page = self.browser.get(&path);
        self.note(page)
    }

    /// By a form.
    pub(crate) fn post(&mut self, at: Interaction, fields: &[(&str, &str)]) -> Page {
        let (path, numbers) = (self.path(at), self.numbers());
        let numbers = numbers.iter().map(|(name, number)| (*name, number.as_str()));
        let all: Vec<(&str, &str)> = fields.iter().copied().chain(numbers).collect();
        let page = self.browser.post(&path, &all);
        self.note(page)
    }

    /// The page by a link.
    #[track_caller]
    pub(crate) fn see(&mut self, at: Interaction, query: &str) -> Page {
        self.get(at, query).must(200, &titled(at))
    }

    /// The page by a form.
    #[track_caller]
    pub(crate) fn send(&mut self, at: Interaction, fields: &[(&str, &str)]) -> Page {
        self.post(at, fields).must(200, &titled(at))
    }

    /// A picture, asked for with these header lines.
    pub(crate) fn picture(&mut self, path: &str, headers: &str) -> Page {
        self.browser.get_with(path, headers)
    }

    /// Puts a book into the cart; the first one opens it.
    #[track_caller]
    pub(crate) fn take(&mut self, item: u32) -> Page {
        let page = self.see(SHOPPING_CART, &format!("ADD_FLAG=Y&I_ID={item}"));
        self.cart = self.cart.take().or_else(|| Some(field(&page, "SHOPPING_ID")));
        page
    }

    /// Says who it is, as a customer of the data set does.
    #[track_caller]
    pub(crate) fn log_in(&mut self) -> Page {
        let (number, name, password) = SOMEBODY;
        let page = self.send(BUY_REQUEST, &[("RETURNING_FLAG", "Y"), ("UNAME", name), ("PASSWD", password)]);
        self.customer = Some(number.to_string());
        page
    }

    /// The last order of the customer of the data set.
    #[track_caller]
    pub(crate) fn last_order(&mut self) -> Page {
        let (_, name, password) = SOMEBODY;
        self.send(ORDER_DISPLAY, &[("UNAME", name), ("PASSWD", password)])
    }

    fn numbers(&self) -> Vec<(&'static str, String)> {
        let known = [("SHOPPING_ID", &self.cart), ("C_ID", &self.customer)];
        known.into_iter().filter_map(|(name, number)| Some((name, number.clone()?))).collect()
    }

    fn path(&self, at: Interaction) -> String {
        let session = self.session.as_ref().map_or(String::new(), |number| format!(";jsessionid={number}"));
        format!("/tpcw/{}{session}", at.0)
    }

    fn note(&mut self, page: Page) -> Page {
        let text = page.text();
        let rest = text.split(";jsessionid=").nth(1).unwrap_or_default();
        let number: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        if !number.is_empty() {
            self.session = Some(number);
        }
        page
    }
}

fn titled(at: Interaction) -> String {
    format!("<title>TPC-W: {}</title>", at.1)
}

/// A page that says why there is none: with a status and words of its own, and never half a page.
#[track_caller]
pub(crate) fn refused(page: Page, status: u16, words: &str) {
    let page = page.must(status, &format!("<p class=\"error\">{words}"));
    assert!(page.has("<title>TPC-W: Error</title>"), "{}", page.text());
}

/// What stands in the element of this id.
#[track_caller]
pub(crate) fn cell(page: &Page, id: &str) -> String {
    let found = page.between(&format!(" id=\"{id}\">"), "<");
    found.unwrap_or_else(|| panic!("there is no {id}: {}", page.text()))
}

/// What stands in the form's field of this name.
#[track_caller]
pub(crate) fn field(page: &Page, name: &str) -> String {
    // In capitals where the well-known kit's own driver looks for them.
    let marks = [
        format!(" name=\"{name}\" value=\""),
        format!(" NAME=\"{name}\" VALUE=\""),
        format!(" NAME=\"{name}\" TYPE=\"hidden\" VALUE=\""),
    ];
    let found = marks.iter().find_map(|mark| page.between(mark, "\""));
    found.unwrap_or_else(|| panic!("there is no field {name}: {}", page.text()))
}

/// A number of the page, without its signs.
#[track_caller]
pub(crate) fn number(text: &str) -> i64 {
    let digits = text.trim_start_matches('$').trim_end_matches('%').replace('.', "");
    digits.parse().unwrap_or_else(|error| panic!("{text} is no number: {error}"))
}

/// An amount, in cents.
#[track_caller]
pub(crate) fn cents(page: &Page, id: &str) -> i64 {
    number(&cell(page, id))
}

/// The numbers of the books to which a part of the page has links, in its order.
#[track_caller]
pub(crate) fn books(page: &Page, begin: &str, end: &str) -> Vec<u32> {
    let part = page.between(begin, end).unwrap_or_else(|| panic!("there is no {begin}: {}", page.text()));
    let links = part.split("/tpcw/TPCW_product_detail_servlet").skip(1);
    let books =
        links.filter_map(|link| link.split("?I_ID=").nth(1)?.split("&amp;").next()?.split('"').next());
    books.map(|book| book.parse().expect("a number")).collect()
}

/// The books that the page lists.
#[track_caller]
pub(crate) fn listed(page: &Page) -> Vec<u32> {
    books(page, "<table id=\"books\">", "</table>")
}

/// The books that it promotes by their pictures.
#[track_caller]
pub(crate) fn promoted(page: &Page) -> Vec<u32> {
    books(page, "<p class=\"promotion\">", "</p>")
}

/// The cart's lines: book, quantity, price of one in cents.
pub(crate) fn lines(page: &Page) -> Vec<(u32, i64, i64)> {
    let text = page.text();
    let amounts: Vec<i64> =
        text.split("<td>$").skip(1).map(|rest| number(rest.split('<').next().unwrap_or_default())).collect();
    // The list price stands before the shop's own.
    let prices = amounts.chunks(2).enumerate();
    let line = |(at, prices): (usize, &[i64])| {
        let book = field(page, &format!("I_ID_{at}")).parse().expect("a number");
        (book, number(&field(page, &format!("QTY_{at}"))), prices[1])
    };
    prices.map(line).collect()
}

/// A number as the specification spells it: a syllable for each digit, with zeros up to a number of them.
pub(crate) fn spelled(number: &str, digits: usize) -> String {
    const SYLLABLES: [&str; 10] = ["BA", "OG", "AL", "RI", "RE", "SE", "AT", "UL", "IN", "NG"];
    let digits = format!("{number:0>digits$}");
    digits.bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect()
}
