//! Kits from the outside: the catalogue's kit against a real MariaDB and real PHP.

mod borrowing;
mod caldav;
mod caldav_check;
mod calendar;
mod calendar_server;
mod consistency;
mod fake_web;
mod file_set;
mod ical;
mod identity;
mod linting;
mod loading;
mod pages;
mod private_server;
mod shop;
mod static_kit;
mod tpcw;
mod tpcw_matrices;
