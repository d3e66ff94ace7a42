//! The browsing interactions: Home, New Products, Best Sellers, Product Detail, Search Request and Search Results.

use super::{SCRIPT, SHOWN};
use crate::bookstore::{
    BEST_SELLERS, HOME, NEW_PRODUCTS, PRODUCT_DETAIL, SEARCH_REQUEST, SEARCH_RESULTS, SOMEBODY, Shop, cell,
    cents, listed, number, promoted, refused, spelled,
};

pub(super) fn home_greets_and_leads_to_every_subject(shop: &Shop) {
    let mut stranger = shop.visitor();
    let home = stranger.see(HOME, "");
    let text = home.text();
    assert!(home.has("<h2>Hello unknown user</h2>"), "{text}");
    assert!(home.header("set-cookie").is_none(), "the session's number stands in links alone: {}", home.head);
    for path in ["TPCW_new_products_servlet;jsessionid=", "TPCW_best_sellers_servlet;jsessionid="] {
        assert_eq!(text.matches(path).count(), 24, "each subject leads to {path}: {text}");
    }
    assert_eq!(text.matches("<IMG SRC=\"/tpcw/Images/").count(), 11, "{text}");
    let mut five = promoted(&home);
    five.sort_unstable();
    five.dedup();
    assert_eq!(five.len(), 5, "five different books: {text}");
    let number = stranger.session.clone();
    stranger.see(HOME, "");
    assert!(number.is_some() && stranger.session == number, "a session goes on by its number");

    let mut known = shop.visitor();
    known.customer = Some(SOMEBODY.0.to_string());
    let greeted = known.see(HOME, "");
    let name = greeted.between("<h2>Hello ", "</h2>").expect("a greeting");
    assert!(name != "unknown user", "{name}");
    assert!(greeted.has("&amp;C_ID=7\""), "the customer's number goes along: {}", greeted.text());
    known.customer = None;
    assert!(known.see(HOME, "").has(&format!("<h2>Hello {name}</h2>")), "the session keeps {name}");
    assert!(shop.visitor().see(HOME, "C_ID=999999999").has("Hello unknown user"), "nobody has that number");
    for wrong in ["0", "-1", "seven", "7%20OR%201=1", "99999999999"] {
        refused(
            shop.visitor().get(HOME, &format!("C_ID={wrong}")),
            400,
            "C_ID must be a whole number from 1 to",
        );
    }
}

pub(super) fn pictures_are_there_with_their_sizes_and_dates(shop: &Shop) {
    let mut visitor = shop.visitor();
    let text = visitor.see(HOME, "").text();
    let paths: Vec<&str> =
        text.split("<IMG SRC=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for path in &paths {
        let picture = visitor.picture(path, "").must(200, "GIF8");
        assert_eq!(picture.header("content-type"), Some("image/gif"), "{path}");
        let bytes = picture.body.len();
        // The specification's: a thumbnail has 5 kB, the logo 8,721 bytes, a heading or a button between 1 and 2 kB.
        let right = match path {
            path if path.contains("/thumb_") => bytes == 5120,
            path if path.ends_with("/tpclogo.gif") => bytes == 8721,
            _ => (1000..2000).contains(&bytes),
        };
        assert!(right, "{path} has {bytes} bytes");
    }
    let since = "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT\r\n";
    let again = visitor.picture(paths[0], since);
    assert_eq!((again.status, again.body.len()), (304, 0), "a browser that has it need not load it");
    assert_eq!(visitor.picture("/WEB-INF/classes/tpcw.properties", "").status, 404, "settings are no page");
}

pub(super) fn lists_are_of_their_subject_and_in_their_order(shop: &Shop) {
    let mut visitor = shop.visitor();
    let new = visitor.see(NEW_PRODUCTS, "subject=SELF-HELP");
    let books = listed(&new);
    assert!((10..=50).contains(&books.len()), "1,000 books in 24 subjects: {books:?}");
    assert_eq!(new.text().matches("<tr><td>").count(), books.len());
    let ends = [books[0], books[books.len() / 2], books[books.len() - 1]];
    let days = ends.map(|book| {
        let page = visitor.see(PRODUCT_DETAIL, &format!("I_ID={book}"));
        assert_eq!(cell(&page, "subject"), "SELF-HELP");
        cell(&page, "published")
    });
    assert!(days.is_sorted_by(|newer, older| newer >= older), "the newest first: {days:?}");
    let best = listed(&visitor.see(BEST_SELLERS, "subject=SELF-HELP"));
    assert!((1..=50).contains(&best.len()), "{best:?}");
    // A list that is not full has all books of its subject.
    assert!(books.len() == 50 || best.iter().all(|book| books.contains(book)), "{best:?} of {books:?}");
    for list in [NEW_PRODUCTS, BEST_SELLERS] {
        refused(visitor.get(list, "subject=self-help"), 400, "subject must be one of ARTS, ");
        refused(visitor.get(list, ""), 400, "subject must be one of ARTS, ");
    }
}

pub(super) fn searches_find_what_begins_so_and_nothing_else(shop: &Shop) {
    let mut visitor = shop.visitor();
    let form = visitor.see(SEARCH_REQUEST, "");
    for part in ["name=\"search_type\"", "name=\"search_string\"", "/tpcw/TPCW_execute_search;jsessionid="] {
        assert!(form.has(part), "{part}: {}", form.text());
    }
    let mut find = |kind: &str, text: &str| {
        visitor.see(SEARCH_RESULTS, &format!("search_type={kind}&search_string={text}"))
    };
    // The data set's titles begin with the book's number modulo 201 in seven syllables, authors' names modulo 101.
    let seven = spelled("7", 7);
    let mut found = listed(&find("title", &seven));
    found.sort_unstable();
    assert_eq!(found, [7, 208, 409, 610, 811]);
    let found = listed(&find("author", &seven));
    assert!([7, 108, 209].iter().all(|book| found.contains(book)), "each author's first book: {found:?}");
    let found = listed(&find("subject", "TRAVEL"));
    assert!((10..=50).contains(&found.len()), "{found:?}");
    // None of these means anything but itself.
    for (kind, text) in
        [("title", "%25"), ("title", "_AOG"), ("author", "%27%20OR%201=1%20--%20"), ("subject", "TRAV")]
    {
        let page = find(kind, text);
        let none = listed(&page).is_empty() && page.has("No books were found.");
        assert!(none, "{kind} {text}: {}", page.text());
    }
    let page = find("title", "%3Cscript%3E");
    assert!(page.has(SHOWN) && !page.has(SCRIPT), "{}", page.text());
    refused(
        visitor.get(SEARCH_RESULTS, "search_type=isbn&search_string=x"),
        400,
        "search_type must be one of author, title, subject.",
    );
    refused(visitor.get(SEARCH_RESULTS, "search_type=title"), 400, "search_string is missing.");
    let long = "x".repeat(61);
    let query = format!("search_type=title&search_string={long}");
    refused(visitor.get(SEARCH_RESULTS, &query), 400, "search_string is longer than 60 characters.");
}

pub(super) fn a_product_is_shown_in_full(shop: &Shop) {
    let mut visitor = shop.visitor();
    let page = visitor.see(PRODUCT_DETAIL, "I_ID=7");
    let title = cell(&page, "title");
    assert!(title.starts_with(&spelled("7", 7)) && page.has("alt=\"Book 7\""), "{}", page.text());
    assert_eq!(cents(&page, "srp") - cents(&page, "cost"), cents(&page, "saving"));
    assert!((10..=30).contains(&number(&cell(&page, "stock"))), "{}", page.text());
    for id in ["author", "description", "backing", "pages", "publisher", "available", "dimensions", "isbn"] {
        assert!(!cell(&page, id).is_empty(), "{id}");
    }
    for link in ["TPCW_admin_request_servlet;", "?ADD_FLAG=Y&amp;I_ID=7\"", "TPCW_search_request_servlet;"] {
        assert!(page.has(link), "{link}: {}", page.text());
    }
    let bytes = visitor.picture("/tpcw/Images/img7/image_7.gif", "").must(200, "GIF8").body.len();
    assert!([5, 10, 50, 100, 250].contains(&(bytes / 1024)) && bytes.is_multiple_of(1024), "{bytes} bytes");
    refused(visitor.get(PRODUCT_DETAIL, "I_ID=1001"), 404, "There is no book number 1001.");
    for wrong in ["", "I_ID=0", "I_ID=7x"] {
        refused(visitor.get(PRODUCT_DETAIL, wrong), 400, "I_ID must be a whole number from 1 to 2147483647.");
    }
}
