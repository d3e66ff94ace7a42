//! A link of the catalogue, made and measured beside a cable of this machine that nothing slows down.

use model::catalogue::tier_setting::OwnHost;
use model::{LinkFile, Problem, Result};
use testbed::LinkFigures;

use crate::environment::Environment;
use crate::lab::open_lab;

/// What a link does here.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkMeasured {
    /// What was asked for.
    pub link: LinkFile,
    /// What was measured.
    pub figures: LinkFigures,
    /// The same of a cable that nothing slows down: what this machine takes anyway.
    pub cable: LinkFigures,
}

impl LinkMeasured {
    /// What a message of one byte takes there and back that it doesn't take on the cable, in seconds; the median.
    pub fn added_s(&self) -> f64 {
        let p50_s = |figures: &LinkFigures| figures.round_trips.first().map_or(0.0, |one| one.p50_s);
        p50_s(&self.figures) - p50_s(&self.cable)
    }

    /// What was asked for of that.
    pub fn asked_s(&self) -> f64 {
        self.link.own_host().adds_s()
    }

    /// What a message costs its sender beside what it costs on the cable, in seconds of CPU time; the mean.
    pub fn cpu_added_s(&self) -> f64 {
        let cpu_s = |figures: &LinkFigures| figures.round_trips.first().map_or(0.0, |one| one.cpu_s);
        cpu_s(&self.figures) - cpu_s(&self.cable)
    }

    /// What was asked for of that.
    pub fn cpu_asked_s(&self) -> f64 {
        f64::from(self.link.cpu_us.unwrap_or(0)) * 1e-6
    }

    /// Whether both are what was asked for: the time within 5 % or 20 µs, whichever is more, the CPU time, where any was, within 10 % or
    /// 5 µs, since what a message costs on the cable is not known better. A link that costs CPU time may take longer: who waits for a message may fall asleep meanwhile.
    pub fn is_as_asked(&self) -> bool {
        let (late_s, off_s) = (self.added_s() - self.asked_s(), (0.05 * self.asked_s()).max(20e-6));
        if self.link.cpu_us.is_none() {
            return late_s.abs() <= off_s;
        }
        let cpu_off_s = (self.cpu_added_s() - self.cpu_asked_s()).abs();
        late_s >= -off_s && cpu_off_s <= (0.1 * self.cpu_asked_s()).max(5e-6)
    }
}

/// Makes the link `name` and measures it; some 30 s.
///
/// # Errors
/// A link that the catalogue doesn't have, or that this machine can't make.
pub fn measure(name: &str, id: &str, env: &mut Environment<'_>) -> Result<LinkMeasured> {
    let link = env.catalogue.link(name)?;
    testbed::try_host(&link.own_host()).map_err(|refusal| {
        let what = format!("{name} can't be made here: {refusal}");
        Problem::environment(what).remedy(refusal.remedy())
    })?;
    let lab = open_lab(id, env)?;
    let progress = &mut *env.progress;
    let mut of = |what: &str, own: &OwnHost| {
        lab.measure_link(own, &mut |step| progress.step(&format!("{what}: {step}")))
    };
    let figures = of("a cable of this machine", &OwnHost::default())
        .and_then(|cable| Ok((of(name, &link.own_host())?, cable)));
    lab.close()?;
    let (figures, cable) = figures?;
    Ok(LinkMeasured { link, figures, cable })
}
