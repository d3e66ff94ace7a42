//! Kits from the outside: the catalogue's kit against a real MariaDB and real PHP.

mod caldav;
mod calendar;
mod calendar_server;
mod consistency;
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
