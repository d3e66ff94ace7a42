//! Kits from the outside: the catalogue's kit against a real MariaDB and real PHP.

mod borrowing;
mod budget;
mod caldav;
mod caldav_check;
mod calendar;
mod calendar_server;
mod dvdstore_consistency;
mod dvdstore_loading;
mod dvdstore_pages;
mod fake_web;
mod file_set;
mod ical;
mod identity;
mod linting;
mod private_server;
mod shop;
mod static_kit;
mod tpcw;
mod tpcw_matrices;
