//! Little's law as the referee of a run's own bookkeeping: L = X·R must hold between quantities counted apart.
//!
//! On one side stand the time integrals of users inside sessions and of users thinking, clipped to the window. On the
//! other, X·(R+Z): the whole durations of the sessions and thinks that *ended* in the window, over its length. Both
//! count the same work, up to its edges: a session under way at the window's start is counted whole but integrated
//! only from there, one under way at the end is integrated but not counted. So, exactly,
//!
//! counted − integral = A(start) − A(end),
//!
//! where A(t) is the summed age, at t, of what is in progress. In a steady state its mean is 0, and the rest is the
//! standard error; a loss of completions or of users, or double counting, grows with the window and stands out.
//! (J. D. C. Little, "A proof for the queuing formula: L = λW", Operations Research 9(3), 1961; for finite windows
//! with their edges: Little and Graves, "Little's law", in *Building Intuition*, Springer 2008; Kim and Whitt,
//! "Statistical analysis with Little's law", Operations Research 61(4), 2013.)

use crate::limits;
use crate::steady::{Ages, Steady};

/// Both sides of Little's law for sessions, for thinks, or for users as a whole; user-seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Balance {
    /// Time integral over the window.
    pub integral_s: f64,
    /// Durations of what ended in the window, summed.
    pub counted_s: f64,
    /// How many ended.
    pub ended: u64,
    /// Standard error of `counted_s − integral_s`.
    pub standard_error_s: f64,
    /// A(start) − A(end): the part of the difference that work in progress at the window's edges explains.
    pub edges_s: f64,
}

impl Balance {
    /// Counted minus integrated: negative when something was lost, positive when something was counted twice.
    pub fn difference_s(&self) -> f64 {
        self.counted_s - self.integral_s
    }

    /// The difference that is allowed: max(2 %, 3 standard errors); or 5 standard errors where the recorded ages show
    /// that the bookkeeping is exact and only the edges differ. Three standard errors presume a normal distribution,
    /// but the age of one or two users at an edge has an exponential tail: 3 are exceeded there in 1 window of 70
    /// (e^(−3·√2)), 5 in 1 of 1,200.
    pub fn allowed_s(&self) -> f64 {
        let errors = if self.is_exact() {
            limits::LITTLE_STANDARD_ERRORS_EXACT
        } else {
            limits::LITTLE_STANDARD_ERRORS
        };
        (limits::LITTLE_RATIO * self.integral_s).max(errors * self.standard_error_s)
    }

    /// What was under way at the window's edges explains the whole difference.
    fn is_exact(&self) -> bool {
        (self.difference_s() - self.edges_s).abs() <= limits::LITTLE_EXACT_RATIO * self.integral_s
    }

    /// What was under way at the window's edges explains the difference as well as the law has to hold.
    pub fn is_explained_by_edges(&self) -> bool {
        (self.difference_s() - self.edges_s).abs() <= limits::LITTLE_RATIO * self.integral_s
    }

    /// Less was counted than integrated, and what was still under way at the end is exactly what is missing: the
    /// bookkeeping is right, and users wait.
    pub fn lacks_only_what_is_under_way(&self) -> bool {
        self.difference_s() < 0.0 && self.is_exact()
    }

    /// The two sides agree.
    pub fn holds(&self) -> bool {
        self.difference_s().abs() <= self.allowed_s() + 1e-9
    }

    /// The difference as a share of the integral; infinite when something ended that was never under way.
    pub fn difference_ratio(&self) -> f64 {
        if self.difference_s() == 0.0 { 0.0 } else { self.difference_s() / self.integral_s }
    }

    /// How much of the allowed difference is used up: above 1 the law is broken.
    fn strain(&self) -> f64 {
        if self.difference_s() == 0.0 { 0.0 } else { self.difference_s().abs() / self.allowed_s() }
    }
}

/// What a balance is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BalanceOf {
    /// Users inside sessions.
    Sessions,
    /// Users between sessions.
    Thinks,
    /// Both together.
    Users,
}

/// Little's law over the steady state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Little {
    /// Users inside sessions.
    pub sessions: Balance,
    /// Users between sessions.
    pub thinks: Balance,
    /// Both together.
    pub users: Balance,
    /// Length of the window in seconds.
    pub length_s: f64,
}

impl Little {
    /// Compares both sides over the steady state of a closed load.
    pub fn of(steady: &Steady) -> Little {
        Little::compare(steady, Population::Closed)
    }

    /// The same for arrivals. Where their rate changes over the steady state, `is_steady` is false: then what is in
    /// progress grows or shrinks with it, and that much more of a difference is explained.
    pub fn of_arrivals(steady: &Steady, is_steady: bool) -> Little {
        Little::compare(steady, if is_steady { Population::Open } else { Population::Changing })
    }

    fn compare(steady: &Steady, population: Population) -> Little {
        let whole = steady.whole();
        let session_age = AgeMoments::of(
            whole.sessions_ended,
            [whole.session_sum_s, whole.session_sum_s2, whole.session_sum_s3],
        );
        let think_age =
            AgeMoments::of(whole.thinks, [whole.think_sum_s, whole.think_sum_s2, whole.think_sum_s3]);
        let busy = steady.per_second(whole.busy_user_s);
        let thinking = steady.per_second(whole.thinking_user_s);
        let error = |parts: &[(f64, AgeMoments)], age: fn(Ages) -> f64| {
            let users = if population == Population::Closed { busy + thinking } else { f64::INFINITY };
            let independent = 2.0 * age_variance(parts, users);
            let chance = independent.max(mean_square_successive_difference(steady, age)).sqrt();
            if population == Population::Changing { chance.max(edges(steady, age).abs()) } else { chance }
        };
        let sessions = Balance {
            integral_s: whole.busy_user_s,
            counted_s: whole.session_sum_s,
            ended: whole.sessions_ended,
            standard_error_s: error(&[(busy, session_age)], |ages| ages.session_s),
            edges_s: edges(steady, |ages| ages.session_s),
        };
        let thinks = Balance {
            integral_s: whole.thinking_user_s,
            counted_s: whole.think_sum_s,
            ended: whole.thinks,
            standard_error_s: error(&[(thinking, think_age)], |ages| ages.think_s),
            edges_s: edges(steady, |ages| ages.think_s),
        };
        let users = Balance {
            integral_s: sessions.integral_s + thinks.integral_s,
            counted_s: sessions.counted_s + thinks.counted_s,
            ended: sessions.ended + thinks.ended,
            standard_error_s: error(&[(busy, session_age), (thinking, think_age)], both_ages),
            edges_s: sessions.edges_s + thinks.edges_s,
        };
        Little { sessions, thinks, users, length_s: steady.length_s() }
    }

    /// Mean number of users inside a session or thinking, from the integrals: L.
    pub fn users_mean(&self) -> f64 {
        if self.length_s > 0.0 { self.users.integral_s / self.length_s } else { 0.0 }
    }

    /// The same from what was counted: X·(R+Z).
    pub fn users_by_little(&self) -> f64 {
        if self.length_s > 0.0 { self.users.counted_s / self.length_s } else { 0.0 }
    }

    /// The law holds for sessions, for thinks and for users.
    pub fn holds(&self) -> bool {
        self.worst().1.holds()
    }

    /// It is broken, and by nothing but what was still under way at the end. In a window that is short beside how long that
    /// takes, nobody knows whether it ends.
    pub fn lacks_only_what_is_under_way(&self) -> bool {
        let explained = |balance: &Balance| balance.holds() || balance.lacks_only_what_is_under_way();
        !self.holds() && [self.sessions, self.thinks, self.users].iter().all(explained)
    }

    /// The balance that uses up most of what is allowed, and what it is about.
    pub fn worst(&self) -> (BalanceOf, &Balance) {
        let (sessions, thinks) = ((BalanceOf::Sessions, &self.sessions), (BalanceOf::Thinks, &self.thinks));
        [sessions, thinks, (BalanceOf::Users, &self.users)]
            .into_iter()
            .max_by(|a, b| a.1.strain().total_cmp(&b.1.strain()))
            .expect("the list is not empty")
    }
}

/// What is known of the number of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Population {
    /// It is constant.
    Closed,
    /// Users arrive independently at a constant rate: their number is Poisson distributed.
    Open,
    /// The rate of arrivals changes.
    Changing,
}

/// Moments of the age of what is in progress at a random instant.
#[derive(Debug, Clone, Copy)]
struct AgeMoments {
    mean: f64,
    square: f64,
}

impl AgeMoments {
    /// From the sums of durations, of their squares and of their cubes.
    ///
    /// Few durations tell little about the long ones, on which the cubes hang: of n exponential durations the mean
    /// cube has a relative standard error of sqrt(19/n), since E\[D⁶\]/E\[D³\]² − 1 = 720/36 − 1. One such is added,
    /// so that a short window doesn't accuse for want of knowledge.
    fn of(ended: u64, [s1, s2, s3]: [f64; 3]) -> AgeMoments {
        if s1 <= 0.0 {
            return AgeMoments { mean: 0.0, square: 0.0 };
        }
        let ignorance = 1.0 + (19.0 / ended.max(1) as f64).sqrt();
        AgeMoments { mean: s2 / (2.0 * s1), square: s3 / (3.0 * s1) * ignorance }
    }
}

/// Variance of A(t) when users are independent of each other.
///
/// A user is in phase i (session, think) with probability `p_i`; the age of a phase found in progress has density
/// P(D > x)/E\[D\] (renewal theory), so mean E\[D²\]/(2E\[D\]) and mean square E\[D³\]/(3E\[D\]). For N such users the
/// variance is N·(Σ p_i·square_i − (Σ p_i·mean_i)²), and with N·p_i = L_i that is Σ L_i·square_i − (Σ L_i·mean_i)²/N.
/// With independent arrivals the number in each phase is Poisson distributed and A(t) a compound Poisson sum: only
/// Σ L_i·square_i is left, as for N without bound (M/G/∞: Cox and Isham, *Point Processes*, 1980, section 5.6).
fn age_variance(parts: &[(f64, AgeMoments)], users: f64) -> f64 {
    if users <= 0.0 {
        return 0.0;
    }
    let square: f64 = parts.iter().map(|(number, age)| number * age.square).sum();
    let mean: f64 = parts.iter().map(|(number, age)| number * age.mean).sum();
    (square - mean * mean / users).max(0.0)
}

/// Mean of (A(t+1) − A(t))² over the window's seconds: the same variance, of A(end) − A(start), read from the run
/// itself (von Neumann et al., "The mean square successive difference", Annals of Mathematical Statistics 12(2),
/// 1941). Users of one stack are not independent: a stall of the database ages them all at once, and that shows here.
/// Slow drifts, such as a user who never comes back, don't.
fn mean_square_successive_difference(steady: &Steady, age: fn(Ages) -> f64) -> f64 {
    let seconds = steady.seconds().iter().map(|second| second.ages);
    let ages: Vec<f64> = steady.before().into_iter().chain(seconds).map(age).collect();
    let steps = ages.len().saturating_sub(1);
    if steps == 0 {
        return 0.0;
    }
    ages.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>() / steps as f64
}

/// A(start) − A(end); a run that begins with the steady state has nothing in progress at its start.
fn edges(steady: &Steady, age: fn(Ages) -> f64) -> f64 {
    steady.before().map_or(0.0, age) - steady.seconds().last().map_or(0.0, |second| age(second.ages))
}

fn both_ages(ages: Ages) -> f64 {
    ages.session_s + ages.think_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Interval;

    /// One user: sessions of 2 s and thinks of 1 s, one after the other; 30 s recorded.
    fn one_user() -> Vec<Interval> {
        (0..30u32)
            .map(|number| {
                let mut second = Interval::empty(number);
                if number % 3 == 2 {
                    second.thinking_user_s = 1.0;
                    second.think_ended(1.0);
                } else {
                    second.busy_user_s = 1.0;
                    second.session_age_s = f64::from(number % 3 + 1);
                }
                if number % 3 == 1 {
                    second.session_ended(2.0);
                    second.session_age_s = 0.0;
                }
                second
            })
            .collect()
    }

    #[test]
    fn on_a_window_of_whole_cycles_both_sides_are_equal() {
        let run = one_user();
        let little = Little::of(&Steady::of(&run, 3.0, 27.0));
        assert_eq!((little.users_mean(), little.users_by_little()), (1.0, 1.0));
        assert_eq!(little.sessions.difference_s(), 0.0);
        assert!(little.holds());
    }

    #[test]
    fn the_difference_on_any_window_is_what_the_edges_explain() {
        let run = one_user();
        for (from, to) in [(3, 8), (4, 9), (5, 7), (0, 10), (4, 29)] {
            let little = Little::of(&Steady::of(&run, f64::from(from), f64::from(to)));
            for balance in [little.sessions, little.thinks, little.users] {
                assert_eq!(balance.difference_s(), balance.edges_s, "{from}..{to}: {balance:?}");
            }
        }
    }

    #[test]
    fn the_age_of_fixed_durations_has_the_variance_of_a_uniform_age() {
        let always_busy = [(1.0, AgeMoments { mean: 8.0 / 4.0 / 2.0, square: 16.0 / 2.0 / 6.0 })];
        let found = age_variance(&always_busy, 1.0);
        assert!((found - 4.0 / 12.0).abs() < 1e-12, "ages are uniform on 0..2 s: {found}");
    }

    #[test]
    fn an_empty_window_breaks_no_law() {
        assert!(Little::of(&Steady::of(&[], 0.0, 10.0)).holds());
    }

    #[test]
    fn what_was_only_under_way_at_the_end_is_told_from_work_that_was_lost() {
        let balance = |counted_s: f64, edges_s: f64| Balance {
            integral_s: 100.0,
            counted_s,
            ended: 50,
            standard_error_s: 0.5,
            edges_s,
        };
        let even = balance(100.0, 0.0);
        let lacks = |sessions: Balance, thinks: Balance| {
            let little = Little { sessions, thinks, users: even, length_s: 12.0 };
            little.lacks_only_what_is_under_way()
        };
        assert!(lacks(balance(80.0, -20.0), even));
        assert!(!lacks(even, even), "the law holds");
        assert!(!lacks(balance(80.0, 0.0), even), "nothing explains it");
        assert!(!lacks(balance(120.0, 20.0), even), "those under way at the start do");
        assert!(!lacks(balance(80.0, -20.0), balance(80.0, 0.0)), "thinks were lost beside");
    }

    #[test]
    fn a_session_that_ends_without_having_been_under_way_is_noticed() {
        let mut second = Interval::empty(0);
        second.session_ended(1.0);
        let mut run = vec![Interval::empty(0); 9];
        run.iter_mut().zip(1..).for_each(|(second, number)| second.second = number);
        run.insert(0, second);
        let little = Little::of(&Steady::of(&run, 0.0, 10.0));
        assert!(!little.holds() || little.sessions.standard_error_s > 0.3, "{little:?}");
    }
}
