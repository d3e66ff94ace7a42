//! A level over time, linear between points: users, or arrivals per second.

/// A level over time, linear between points. Two points at the same time are a jump. It begins at time 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// (seconds, level), in the order of time.
    points: Vec<(f64, f64)>,
    /// The area below the profile from its beginning to each point.
    areas: Vec<f64>,
}

impl Profile {
    /// From points in the order of time, the first one at 0; no level is negative.
    pub fn new(points: Vec<(f64, f64)>) -> Profile {
        let mut areas = vec![0.0];
        let mut sum = 0.0;
        for pair in points.windows(2) {
            sum += (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
            areas.push(sum);
        }
        Profile { points, areas }
    }

    /// Its end in seconds.
    pub fn end_s(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.0)
    }

    /// The highest level.
    pub fn peak(&self) -> f64 {
        self.points.iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// The area from the beginning to `at_s`: of a rate, how many arrivals are expected until then.
    pub fn area(&self, at_s: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= at_s);
        let Some(before) = after.checked_sub(1) else { return 0.0 };
        let Some(next) = self.points.get(after) else { return self.areas[before] };
        let (from_s, from) = self.points[before];
        let (x, slope) = (at_s - from_s, (next.1 - from) / (next.0 - from_s));
        self.areas[before] + x * (from + slope * x / 2.0)
    }

    /// When the area reaches `area`, in seconds; `None` when it never does. With unit steps this spaces arrivals
    /// evenly by the rate, with unit exponential steps it makes a Poisson process of that rate (the time-change
    /// theorem: Cinlar, *Introduction to Stochastic Processes*, 1975, section 4.7).
    pub fn time_of_area(&self, area: f64) -> Option<f64> {
        let after = self.areas.partition_point(|sum| *sum <= area);
        if after >= self.areas.len() {
            return None;
        }
        let before = after - 1;
        let ((from_s, from), (to_s, to)) = (self.points[before], self.points[after]);
        let rest = area - self.areas[before];
        let slope = (to - from) / (to_s - from_s);
        // The root of from·x + slope·x²/2 = rest that loses no digits when the slope is small.
        let x = 2.0 * rest / (from + (from * from + 2.0 * slope * rest).max(0.0).sqrt());
        Some(if rest == 0.0 { from_s } else { (from_s + x).min(to_s) })
    }

    /// The first stretch of time ending after `after_s` in which the level is above `level`: (begin, end) in seconds.
    /// Of a number of users, when user number `level` (from 0) is there.
    pub fn stretch_above(&self, level: f64, after_s: f64) -> Option<(f64, f64)> {
        let mut begun = None;
        for pair in self.points.windows(2) {
            let ((from_s, from), (to_s, to)) = (pair[0], pair[1]);
            let crossing = || from_s + (to_s - from_s) * (level - from) / (to - from);
            match begun {
                None if to > level => begun = Some(if from > level { from_s } else { crossing() }),
                Some(begin_s) if to <= level => {
                    begun = None;
                    if crossing() > after_s {
                        return Some((begin_s, crossing()));
                    }
                }
                _ => {}
            }
        }
        begun.map(|begin_s| (begin_s, self.end_s()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to 10 in 5 s, held until 8, a jump to 20, held until 10, down to 0 at 14.
    fn sample() -> Profile {
        Profile::new(vec![(0.0, 0.0), (5.0, 10.0), (8.0, 10.0), (8.0, 20.0), (10.0, 20.0), (14.0, 0.0)])
    }

    #[test]
    fn areas_and_their_times_are_inverse() {
        let profile = sample();
        assert_eq!(profile.area(5.0), 25.0);
        assert_eq!(profile.area(2.5), 6.25);
        assert_eq!(profile.area(99.0), 25.0 + 30.0 + 40.0 + 40.0);
        for step in 0..1349 {
            let area = f64::from(step) * 0.1;
            let at_s = profile.time_of_area(area).expect("within the whole area");
            assert!((profile.area(at_s) - area).abs() < 1e-9, "{area} is reached at {at_s}");
        }
        assert_eq!(profile.time_of_area(135.0), None);
    }

    #[test]
    fn users_are_there_while_the_level_is_above_their_number() {
        let profile = sample();
        assert_eq!(profile.stretch_above(0.0, 0.0), Some((0.0, 14.0)));
        assert_eq!(profile.stretch_above(5.0, 0.0), Some((2.5, 13.0)));
        assert_eq!(profile.stretch_above(15.0, 0.0), Some((8.0, 11.0)));
        assert_eq!(profile.stretch_above(20.0, 0.0), None);
        assert_eq!(profile.stretch_above(5.0, 13.0), None, "it does not come back");
        let twice =
            Profile::new(vec![(0.0, 0.0), (0.0, 2.0), (4.0, 2.0), (4.0, 1.0), (6.0, 1.0), (8.0, 3.0)]);
        assert_eq!(twice.stretch_above(1.0, 0.0), Some((0.0, 4.0)));
        assert_eq!(twice.stretch_above(1.0, 4.0), Some((6.0, 8.0)), "who left may come back");
    }
}
