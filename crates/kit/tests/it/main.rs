//! Kits from the outside: the catalogue's kit against a real MariaDB and real PHP.

mod calendar;
mod consistency;
mod file_set;
mod identity;
mod linting;
mod loading;
mod pages;
mod private_server;
mod shop;
mod static_kit;
