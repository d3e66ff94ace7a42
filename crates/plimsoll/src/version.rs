//! Which Plimsoll this is.

const NUMBER: &str = env!("CARGO_PKG_VERSION");
const BUILD: &str = env!("PLIMSOLL_BUILD");

/// As it stands in records; only release builds have no more than the number, and studies are never mixed.
pub(crate) fn version() -> String {
    if is_release() { NUMBER.to_string() } else { format!("{NUMBER} ({BUILD} build)") }
}

/// What is to be said of figures that this build measures; nothing of a release build's.
pub(crate) fn caution() -> Option<String> {
    let what = || {
        format!(
            "this is a {BUILD} build: its generator costs more CPU than the release build's (`make build`), which \
             figures that are passed on should come from"
        )
    };
    (!is_release()).then(what)
}

fn is_release() -> bool {
    BUILD == "release"
}
