//! Runs at the same time that end together: all windows are the same seconds, so that what the machine did in them is the same for
//! all. Two trials that take turns are such, and a trial's guests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One of them, as its own pace knows it; dropping it leaves the others alone.
#[derive(Debug)]
pub(crate) struct Partner {
    common: Arc<Mutex<Common>>,
    own: usize,
}

#[derive(Debug, Default)]
struct Common {
    sides: Vec<Side>,
    /// Seconds after the ramp-up at which the window of all begins and ends.
    window: Option<(u32, u32)>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Side {
    /// Where its steady state began, once its window is in.
    settled: Option<u32>,
    /// Its seconds so far, after the ramp-up.
    length: u32,
    /// It has ended.
    gone: bool,
}

impl Partner {
    /// All of that number.
    pub(crate) fn all(count: usize) -> Vec<Partner> {
        let common = Common { sides: vec![Side::default(); count], window: None };
        let common = Arc::new(Mutex::new(common));
        (0..count).map(|own| Partner { common: Arc::clone(&common), own }).collect()
    }

    /// This side has `length` seconds, and a window of its own from `settled` on. Where the window of all begins, when this
    /// side has all of it: after all warm-ups, of `window_s` seconds at least. A side that has settled once has settled: alone it
    /// would have ended then, and to be asked again and again until the others have, too, would be a harder question.
    pub(crate) fn agree(&self, settled: Option<u32>, length: u32, window_s: u32) -> Option<u32> {
        let mut common = self.common();
        let settled = settled.or(common.sides[self.own].settled);
        common.sides[self.own] = Side { settled, length, gone: false };
        let there: Vec<Side> = common.sides.iter().filter(|side| !side.gone).copied().collect();
        if there.len() == 1 && common.window.is_none() {
            return settled;
        }
        let all_settled: Option<Vec<u32>> = there.iter().map(|side| side.settled).collect();
        if common.window.is_none()
            && let Some(from) = all_settled.and_then(|all| all.into_iter().max())
        {
            let longest = there.iter().map(|side| side.length).max().unwrap_or(length);
            common.window = Some((from, longest.max(from + window_s)));
        }
        common.window.filter(|(_, to)| length >= *to).map(|(from, _)| from)
    }

    fn common(&self) -> MutexGuard<'_, Common> {
        // Whoever panicked with it left whole numbers.
        self.common.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.common().sides[self.own].gone = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [Partner; 2] {
        Partner::all(2).try_into().expect("two of two")
    }

    #[test]
    fn three_wait_for_the_last_of_them_to_settle() {
        let all = Partner::all(3);
        assert_eq!(all[0].agree(Some(2), 12, 10), None);
        assert_eq!(all[1].agree(Some(3), 13, 10), None);
        assert_eq!(all[2].agree(Some(6), 16, 10), Some(6));
        assert_eq!((all[0].agree(None, 15, 10), all[0].agree(None, 16, 10)), (None, Some(6)));
    }

    #[test]
    fn two_of_three_go_on_together_when_the_third_has_ended() {
        let mut all = Partner::all(3);
        drop(all.remove(2));
        assert_eq!(all[0].agree(Some(2), 12, 10), None);
        assert_eq!(all[1].agree(Some(4), 14, 10), Some(4));
    }

    #[test]
    fn both_have_the_same_window_after_the_later_warm_up() {
        let [one, two] = two();
        assert_eq!(one.agree(None, 12, 10), None);
        assert_eq!(two.agree(Some(2), 12, 10), None, "the other has not settled");
        assert_eq!(one.agree(Some(4), 14, 10), Some(4), "from second 4 to second 14");
        assert_eq!(two.agree(Some(2), 13, 10), None, "it has 13 seconds");
        assert_eq!(two.agree(None, 14, 10), Some(4), "what was agreed is not doubted again");
    }

    #[test]
    fn who_settled_early_goes_on_until_the_other_one_has_its_window_too() {
        let [one, two] = two();
        assert_eq!(one.agree(Some(2), 12, 10), None);
        assert_eq!(two.agree(Some(9), 19, 10), Some(9));
        assert_eq!(one.agree(Some(2), 18, 10), None, "it has nine seconds after the later warm-up");
        assert_eq!(one.agree(Some(2), 19, 10), Some(9));
    }

    #[test]
    fn who_has_settled_is_not_doubted_while_it_waits_for_the_other_one() {
        let [one, two] = two();
        assert_eq!(one.agree(Some(2), 12, 10), None);
        assert_eq!(one.agree(None, 13, 10), None, "a second out of the ordinary");
        assert_eq!(two.agree(Some(3), 13, 10), Some(3));
        assert_eq!(one.agree(None, 14, 10), Some(3));
    }

    #[test]
    fn who_is_left_alone_ends_by_itself() {
        let [one, two] = two();
        drop(two);
        assert_eq!(one.agree(None, 11, 10), None);
        assert_eq!(one.agree(Some(3), 13, 10), Some(3));
    }
}
