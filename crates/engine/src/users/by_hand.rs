//! A number of users that is changed by hand while they are there.

use super::{Doing, Users};
use crate::schedule::nanos;

impl Users {
    /// From now on this number of users is asked for, over all threads. Those who are too many leave when their next session is
    /// due; those who are wanted again before that stay who they are. New ones come evenly over the length of the ramp-up; the
    /// places that they take, which others have left or nobody had, are given.
    pub(crate) fn ask_for(&mut self, users: u32, now_ns: u64) -> Vec<u32> {
        let users = users.clamp(1, self.assignment.users);
        let Some(before) = self.asked.filter(|before| *before != users) else { return Vec::new() };
        self.asked = Some(users);
        let mut taken = Vec::new();
        for place in 0..self.places() {
            let index = self.global_index(place);
            self[place].leave_ns = if index < users { u64::MAX } else { now_ns };
            if index < users && self[place].doing == Doing::Gone {
                let ratio =
                    f64::from(index.saturating_sub(before)) / f64::from(users.abs_diff(before).max(1));
                self.come(place, now_ns + nanos(self.assignment.load.ramp_up_s * ratio));
                taken.push(place);
            }
        }
        taken
    }

    /// A new user comes to an empty place then. Its number, and with it all that it draws, follows from the place and from how
    /// many were there before.
    fn come(&mut self, place: u32, at_ns: u64) {
        let is_first = self[place].life_end == 0;
        // Whoever calls clears up after the one before.
        let _ = match is_first {
            true => self.renew(place, self[place].person, at_ns),
            false => self.renew_in_turn(place, at_ns),
        };
        let user = &mut self[place];
        user.doing = Doing::Thinking(None);
        user.intended_ns = at_ns;
        self.timers.set(place, at_ns);
        self.present += 1;
    }
}
