//! The calendar server in its real stack: what each of its doors says, to the calendar's owner, to strangers and to
//! somebody else, and that the doors agree on what is in a calendar.

mod doors;
mod kinds;
mod objects;
mod starts;
mod web_client;
mod writers;

use crate::browser::Page;
use crate::caldav_try;
use crate::dav::{self, Dav};
use crate::standing::Standing;
use crate::tool::{Finished, Home, have};

pub(crate) const STACK: &str = "apache-prefork-modphp-mariadb";
/// 25 accounts with some 30 objects each: nothing here becomes another by more of them.
pub(crate) const DATA: &str = "--size quick --param events_median=20 --param events_most=60";
/// Whose calendar it is, and somebody else.
const OWNER: u32 = 3;
const OTHER: u32 = 4;

/// The server, until it is dropped.
pub(crate) struct Calendar {
    stack: Standing,
    /// Host and port.
    pub(crate) address: String,
    /// The number of the database's process.
    pub(crate) database: u32,
}

impl Calendar {
    pub(crate) fn open() -> Calendar {
        let mut stack = Home::shared().plimsoll(&format!("up calendar {DATA} --stack {STACK}")).start();
        let (address, database) = (stack.address(), stack.pid_of("db"));
        Calendar { stack: stack.until_dropped(), address, database }
    }

    pub(crate) fn user(&self, number: u32) -> Dav {
        Dav::of(&self.address, number)
    }

    pub(crate) fn end(self) -> Finished {
        self.stack.end()
    }
}

/// The path of a user's calendar.
pub(crate) fn calendar_path(number: u32) -> String {
    format!("/dav/calendars/{}/calendar/", dav::name(number))
}

/// The path of an object in the owner's calendar.
fn object(uid: &str) -> String {
    format!("{}{uid}.ics", calendar_path(OWNER))
}

/// The whole calendar of a user as one file, without a ticket.
fn whole(number: u32) -> String {
    format!("/webcal/collection/{}/calendar", dav::name(number))
}

/// The calendar of a user as a feed, without a ticket.
fn feed(number: u32) -> String {
    format!("/atom/collection/{}/calendar/full", dav::name(number))
}

#[test]
fn the_calendar_server_says_the_same_at_every_door_and_nothing_to_the_wrong_people() {
    if !have(STACK) {
        return;
    }
    let calendar = Calendar::open();
    doors::the_front_leads_on_and_its_parts_are_no_pages(&calendar);
    objects::one_is_written_under_conditions_and_read_as_it_was(&calendar);
    objects::a_week_has_its_events_and_those_that_come_again(&calendar);
    objects::a_calendar_is_made_and_goes_with_all_that_is_in_it(&calendar);
    doors::strangers_and_others_get_nothing(&calendar);
    doors::lists_file_and_feed_have_the_same_objects(&calendar);
    kinds::objects_of_every_kind_come_back_byte_by_byte(&calendar);
    web_client::calls_say_what_calendars_there_are(&calendar);
    web_client::an_event_that_is_saved_is_there_for_caldav(&calendar);
    web_client::a_call_that_is_none_is_refused(&calendar);
    starts::what_programs_ask_for_when_they_are_started_is_answered(&calendar);
    writers::of_many_who_change_an_object_one_is_told_that_it_did(&calendar);
    // Programs of today find the calendar on this server, too, and do without its sync-tokens.
    caldav_try::programs_of_today_are_followed_at(&calendar.address, "sabre/dav");
    drop(calendar);
    Home::shared().expect_nothing_left();
}

/// A refusal for people: its status, and a page that says so.
#[track_caller]
fn refused(page: Page, status: u16, title: &str) {
    page.must(status, &format!("<h1>{title}</h1>"));
}
