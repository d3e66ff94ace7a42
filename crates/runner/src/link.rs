//! A link of the catalogue, made and measured beside a cable of this machine that nothing slows down.

use model::catalogue::tier_setting::OwnHost;
use model::{LinkFile, Problem, Result};
use testbed::LinkFigures;

use crate::environment::Environment;
use crate::standing_stack::open_lab;

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
        2.0 * f64::from(self.link.delay_us.unwrap_or(0)) * 1e-6
    }

    /// Whether that is what was asked for: within 5 % or 20 µs, whichever is more.
    pub fn is_as_asked(&self) -> bool {
        (self.added_s() - self.asked_s()).abs() <= (0.05 * self.asked_s()).max(20e-6)
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
