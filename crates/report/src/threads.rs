//! What a JVM's threads with a request were at, in words.

use model::record::threads::{ThreadState, ThreadsResult};

use crate::figures;

/// A place as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// The method.
    pub(crate) call: String,
    /// What threads did there, and how many of them.
    pub(crate) doing: String,
}

/// A place in words.
pub(crate) fn shown(one: &ThreadsResult) -> Shown {
    let place = &one.place;
    let lock = |how: &str| place.lock.as_ref().map_or(how.to_string(), |lock| format!("{how} for {lock}"));
    let state = match place.state {
        ThreadState::Runnable => "runnable".to_string(),
        ThreadState::Blocked => lock("blocked, waiting"),
        ThreadState::Waiting => lock("waiting"),
        ThreadState::TimedWaiting => format!("{} until a time", lock("waiting")),
    };
    let holder = place.holder.as_ref();
    let holder = holder.map(|call| format!(", held by a thread in {call}")).unwrap_or_default();
    Shown {
        call: place.call.clone(),
        doing: format!(
            "{state}{holder}: {} of the threads of {} with a request (seen {} times)",
            figures::percent(Some(one.share_ratio)),
            one.tier,
            figures::count(one.seen),
        ),
    }
}

#[cfg(test)]
mod tests {
    use model::record::threads::ThreadPlace;

    use super::*;

    fn doing(state: ThreadState, lock: Option<&str>, holder: Option<&str>) -> String {
        let place = ThreadPlace {
            state,
            call: "shop.Cart.add".to_string(),
            lock: lock.map(str::to_string),
            holder: holder.map(str::to_string),
        };
        let shown = shown(&ThreadsResult { tier: "web".to_string(), place, share_ratio: 0.4, seen: 12 });
        assert_eq!(shown.call, "shop.Cart.add");
        shown.doing
    }

    #[test]
    fn a_place_is_told_with_its_lock_its_holder_and_its_share() {
        let of = "40 % of the threads of web with a request (seen 12 times)";
        assert_eq!(doing(ThreadState::Runnable, None, None), format!("runnable: {of}"));
        let held = doing(ThreadState::Blocked, Some("java.lang.Object"), Some("shop.Cart.save"));
        let lock = "blocked, waiting for java.lang.Object, held by a thread in shop.Cart.save";
        assert_eq!(held, format!("{lock}: {of}"));
        assert_eq!(doing(ThreadState::Waiting, None, None), format!("waiting: {of}"));
        assert_eq!(doing(ThreadState::TimedWaiting, None, None), format!("waiting until a time: {of}"));
    }
}
