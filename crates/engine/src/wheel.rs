//! A hierarchical timer wheel (Varghese and Lauck 1987): one timer a user, set and cancelled in constant time and
//! without allocation, fired at its exact nanosecond.
//!
//! Level 0 has 64 slots of one tick (65.536 µs), level k slots of 64^k ticks. A timer sits at the level where its tick
//! first differs from the current one, and moves down as time comes near.

const TICK_BITS: u32 = 16;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 8;
const NONE: u32 = u32::MAX;
const UNSET: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
struct Entry {
    deadline_ns: u64,
    next: u32,
    previous: u32,
    place: u16,
}

/// Timers numbered 0..n, each set at most once at a time.
#[derive(Debug)]
pub struct Wheel {
    entries: Vec<Entry>,
    heads: [[u32; SLOTS]; LEVELS],
    occupied: [u64; LEVELS],
    current: u64,
}

impl Wheel {
    /// A wheel at time 0 with room for timers 0..count.
    pub fn new(count: usize) -> Wheel {
        let entry = Entry { deadline_ns: UNSET, next: NONE, previous: NONE, place: 0 };
        Wheel {
            entries: vec![entry; count],
            heads: [[NONE; SLOTS]; LEVELS],
            occupied: [0; LEVELS],
            current: 0,
        }
    }

    /// Sets a timer, replacing its earlier deadline. A deadline in the past fires at the next [`Self::expire`].
    pub fn set(&mut self, timer: u32, deadline_ns: u64) {
        self.cancel(timer);
        self.entries[timer as usize].deadline_ns = deadline_ns.min(UNSET - 1);
        self.link(timer);
    }

    /// Cancels a timer; nothing happens when it is not set.
    pub fn cancel(&mut self, timer: u32) {
        if self.entries[timer as usize].deadline_ns != UNSET {
            self.unlink(timer);
            self.entries[timer as usize].deadline_ns = UNSET;
        }
    }

    /// When to look again: exact when the next timer is near, otherwise a bound before it. `None` without timers.
    pub fn next_ns(&self) -> Option<u64> {
        let (level, slot) = self.first_occupied()?;
        if level > 0 {
            return Some(self.slot_start(level, slot) << TICK_BITS);
        }
        let mut earliest = UNSET;
        let mut timer = self.heads[0][slot];
        while timer != NONE {
            let entry = &self.entries[timer as usize];
            earliest = earliest.min(entry.deadline_ns);
            timer = entry.next;
        }
        Some(earliest)
    }

    /// Moves on to `now_ns` and appends every timer that is due, with its deadline, tick by tick in order.
    pub fn expire(&mut self, now_ns: u64, due: &mut Vec<(u32, u64)>) {
        let target = (now_ns >> TICK_BITS).max(self.current);
        while let Some((level, slot)) = self.first_occupied() {
            let start = self.slot_start(level, slot);
            if start > target {
                break;
            }
            self.current = self.current.max(start);
            if level > 0 {
                self.cascade(level, slot);
                continue;
            }
            let before = due.len();
            self.fire_slot(slot, now_ns, due);
            due[before..].sort_unstable_by_key(|(_, deadline_ns)| *deadline_ns);
            if start == target {
                break;
            }
        }
        self.current = target;
    }

    fn fire_slot(&mut self, slot: usize, now_ns: u64, due: &mut Vec<(u32, u64)>) {
        let mut timer = self.heads[0][slot];
        while timer != NONE {
            let Entry { deadline_ns, next, .. } = self.entries[timer as usize];
            if deadline_ns <= now_ns {
                self.cancel(timer);
                due.push((timer, deadline_ns));
            }
            timer = next;
        }
    }

    fn cascade(&mut self, level: usize, slot: usize) {
        let mut timer = std::mem::replace(&mut self.heads[level][slot], NONE);
        self.occupied[level] &= !(1 << slot);
        while timer != NONE {
            let next = self.entries[timer as usize].next;
            self.link(timer);
            timer = next;
        }
    }

    /// The earliest occupied slot: lower levels always lie before higher ones.
    fn first_occupied(&self) -> Option<(usize, usize)> {
        (0..LEVELS).find(|level| self.occupied[*level] != 0).map(|level| {
            let from = (self.current >> (SLOT_BITS * level as u32)) as u32 & (SLOTS as u32 - 1);
            let ahead = self.occupied[level].rotate_right(from).trailing_zeros();
            (level, ((from + ahead) as usize) & (SLOTS - 1))
        })
    }

    /// The first tick that a slot stands for, seen from the current tick.
    fn slot_start(&self, level: usize, slot: usize) -> u64 {
        let shift = SLOT_BITS * level as u32;
        let turn = self.current >> (shift + SLOT_BITS) << (shift + SLOT_BITS);
        let start = turn + ((slot as u64) << shift);
        let here = self.current >> shift << shift;
        if start < here { start + (1 << (shift + SLOT_BITS)) } else { start }
    }

    fn link(&mut self, timer: u32) {
        let tick = (self.entries[timer as usize].deadline_ns >> TICK_BITS).max(self.current);
        let differing = 63 - ((tick ^ self.current) | 1).leading_zeros();
        let level = ((differing / SLOT_BITS) as usize).min(LEVELS - 1);
        let slot = (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
        let head = std::mem::replace(&mut self.heads[level][slot], timer);
        if head != NONE {
            self.entries[head as usize].previous = timer;
        }
        let entry = &mut self.entries[timer as usize];
        entry.next = head;
        entry.previous = NONE;
        entry.place = (level * SLOTS + slot) as u16;
        self.occupied[level] |= 1 << slot;
    }

    fn unlink(&mut self, timer: u32) {
        let Entry { next, previous, place, .. } = self.entries[timer as usize];
        let (level, slot) = (place as usize / SLOTS, place as usize % SLOTS);
        if previous == NONE {
            self.heads[level][slot] = next;
            if next == NONE {
                self.occupied[level] &= !(1 << slot);
            }
        } else {
            self.entries[previous as usize].next = next;
        }
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Act {
        Set(u32, u64),
        Cancel(u32),
        Advance(u64),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            (0u32..16, prop_oneof![0u64..1_000_000, 0u64..10_000_000_000, 0u64..4_000_000_000_000])
                .prop_map(|(timer, after)| Act::Set(timer, after)),
            (0u32..16).prop_map(Act::Cancel),
            prop_oneof![0u64..200_000, 0u64..300_000_000, 0u64..100_000_000_000].prop_map(Act::Advance),
        ];
        proptest::collection::vec(act, 1..120)
    }

    proptest! {
        /// The model is a plain list of deadlines: the wheel must fire the same timers at the same steps.
        #[test]
        fn it_fires_exactly_what_a_sorted_list_would(acts in acts()) {
            let mut wheel = Wheel::new(16);
            let mut model = [None::<u64>; 16];
            let mut now = 0u64;
            for act in acts {
                match act {
                    Act::Set(timer, after) => {
                        wheel.set(timer, now + after);
                        model[timer as usize] = Some(now + after);
                    }
                    Act::Cancel(timer) => {
                        wheel.cancel(timer);
                        model[timer as usize] = None;
                    }
                    Act::Advance(by) => {
                        now += by;
                        let mut due = Vec::new();
                        wheel.expire(now, &mut due);
                        due.sort_unstable();
                        let mut expected = Vec::new();
                        for (timer, deadline) in model.iter_mut().enumerate() {
                            if let Some(at) = deadline.filter(|at| *at <= now) {
                                expected.push((timer as u32, at));
                                *deadline = None;
                            }
                        }
                        prop_assert_eq!(due, expected);
                    }
                }
                let earliest = model.iter().flatten().min();
                prop_assert_eq!(wheel.next_ns().is_some(), earliest.is_some());
                if let (Some(next), Some(earliest)) = (wheel.next_ns(), earliest) {
                    prop_assert!(next <= *earliest, "wakes at {} for a timer due at {}", next, earliest);
                }
            }
        }
    }

    #[test]
    fn following_next_reaches_a_far_timer_in_a_few_steps() {
        let mut wheel = Wheel::new(1);
        let deadline = 3_600_000_000_123;
        wheel.set(0, deadline);
        let (mut steps, mut due) = (0, Vec::new());
        while due.is_empty() {
            let next = wheel.next_ns().expect("a timer is set");
            wheel.expire(next, &mut due);
            steps += 1;
        }
        assert_eq!(due, [(0, deadline)]);
        assert!(steps <= LEVELS + 1, "{steps} wake-ups for one timer");
    }
}
