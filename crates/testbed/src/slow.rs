//! Cards that are slowed down by the kernel's queueing disciplines (tc(8)).

use std::os::fd::OwnedFd;

use model::catalogue::tier_setting::{DELAY, OwnHost, RATE};

use crate::iproute::run;
use crate::refusal::HostRefusal;

/// The packets that may wait for a rate, beside those that pass at once.
const QUEUE_BYTES: u32 = 256 << 10;

/// What holds back all that an end sends: the setting that it is for, its name, and what tc is told of it.
fn discipline(own: &OwnHost) -> Option<(&'static str, &'static str, String)> {
    let held = own.delay_us.or(own.loss_ppm).is_some();
    match (own.rate_mbit, own.delay_us) {
        (None, None) if !held => None,
        (Some(rate), None) if !held => {
            // What a millisecond carries: a late timer takes nothing from the rate then. Two frames at the least.
            let burst_bytes = rate.saturating_mul(125).max(3_200);
            // What a switch's port has room for: more would be a delay of its own.
            let queue_bytes = burst_bytes + QUEUE_BYTES;
            Some((RATE, "tbf", format!("rate {rate}mbit burst {burst_bytes} limit {queue_bytes}")))
        }
        (rate, delay) => {
            let part =
                |value: Option<u32>, words: &dyn Fn(u32) -> String| value.map(words).unwrap_or_default();
            let jitter = part(own.jitter_us, &|jitter| format!(" {jitter}us"));
            let loss = part(own.loss_ppm, &|ppm| format!(" loss {}%", f64::from(ppm) / 10_000.0));
            let rate = part(rate, &|rate| format!(" rate {rate}mbit"));
            Some((DELAY, "netem", format!("limit 10000 delay {}us{jitter}{loss}{rate}", delay.unwrap_or(0))))
        }
    }
}

/// Slows down all that the card `device`, in the network behind `door` where one is given, sends.
pub(crate) fn slow_down(device: &str, own: &OwnHost, door: Option<&OwnedFd>) -> Result<(), HostRefusal> {
    let Some((setting, name, told)) = discipline(own) else { return Ok(()) };
    run("tc", &format!("qdisc add dev {device} root {name} {told}"), door)
        .map_err(|said| HostRefusal::Discipline { setting, name, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_takes_a_bucket_and_a_delay_an_emulated_network() {
        let told = |rate_mbit, delay_us| {
            let own = OwnHost { rate_mbit, delay_us, ..OwnHost::default() };
            discipline(&own).map(|(_, name, told)| format!("{name} {told}"))
        };
        assert_eq!(told(None, None), None);
        assert_eq!(told(Some(1000), None).as_deref(), Some("tbf rate 1000mbit burst 125000 limit 387144"));
        assert_eq!(told(Some(10), None).as_deref(), Some("tbf rate 10mbit burst 3200 limit 265344"));
        assert_eq!(told(None, Some(50)).as_deref(), Some("netem limit 10000 delay 50us"));
        let both = "netem limit 10000 delay 50us rate 100mbit";
        assert_eq!(told(Some(100), Some(50)).as_deref(), Some(both));
        let (rate_mbit, delay_us) = (Some(100), Some(50));
        let all =
            OwnHost { rate_mbit, delay_us, jitter_us: Some(5), loss_ppm: Some(100), ..OwnHost::default() };
        let told = discipline(&all).map(|(_, _, told)| told);
        assert_eq!(told.as_deref(), Some("limit 10000 delay 50us 5us loss 0.01% rate 100mbit"));
    }
}
