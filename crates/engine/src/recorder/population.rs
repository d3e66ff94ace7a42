//! Users who are busy, or thinking: their number over time.

/// Users in one of two conditions: how many, since when in sum, and the time integral of their number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Population {
    count: u64,
    start_sum_ns: u128,
    integral_ns: u64,
    changed_ns: u64,
}

impl Population {
    pub(super) fn integrate(&mut self, now_ns: u64) {
        self.integral_ns += self.count * now_ns.saturating_sub(self.changed_ns);
        self.changed_ns = self.changed_ns.max(now_ns);
    }

    pub(super) fn enter(&mut self, now_ns: u64) {
        self.integrate(now_ns);
        self.count += 1;
        self.start_sum_ns += u128::from(now_ns);
    }

    pub(super) fn leave(&mut self, now_ns: u64, entered_ns: u64) {
        self.integrate(now_ns);
        self.count = self.count.saturating_sub(1);
        self.start_sum_ns = self.start_sum_ns.saturating_sub(u128::from(entered_ns));
    }

    pub(super) fn age_s(&self, now_ns: u64) -> f64 {
        (u128::from(self.count) * u128::from(now_ns)).saturating_sub(self.start_sum_ns) as f64 / 1e9
    }

    pub(super) fn take_integral_s(&mut self) -> f64 {
        std::mem::take(&mut self.integral_ns) as f64 / 1e9
    }
}
