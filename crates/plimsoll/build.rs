//! Tells the binary how it was compiled: figures of a build that is compiled for speed of compiling say so.

fn main() {
    // Of cargo's own profiles and of those that inherit from them.
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let build = match (variable("PROFILE").as_str(), variable("OPT_LEVEL").as_str()) {
        ("release", "3") => "release",
        ("release", _) => "demo",
        _ => "dev",
    };
    println!("cargo:rustc-env=PLIMSOLL_BUILD={build}");
    println!("cargo:rerun-if-changed=build.rs");
    // It is compiled in, and the compiler is told of the files that there were, not of new ones.
    println!("cargo:rerun-if-changed=../../catalogue");
}
