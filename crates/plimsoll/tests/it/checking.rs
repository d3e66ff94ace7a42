//! What `plimsoll check` says of a kit in a folder of the user's own.

use crate::building::SESSION;
use crate::building_server::KIT;
use crate::tool::{Home, overlay};

const STACK: &str = r#"
format = 1
name = "tiny"
title = "A server of Debian's"
provides = ["web+files"]

[[tier]]
name = "web"
service = "lighttpd"
"#;

#[test]
fn a_kit_is_checked_with_the_stack_that_lies_beside_it() {
    let dir = overlay(&[
        ("kits/shop/kit.toml", KIT),
        ("kits/shop/session.lua", SESSION),
        ("kits/shop/app/index.html", "the front page"),
        ("stacks/tiny.toml", STACK),
    ]);
    let kit = dir.path().join("kits/shop");
    let told = Home::shared().plimsoll("check").arg(&kit).run().expect(0);
    let hint = format!("--catalogue {}", dir.path().canonicalize().expect("it is there").display());
    told.says("kit shop@1: Shop").says(&hint);
    let told = Home::shared().plimsoll("check shop --catalogue").arg(dir.path()).run().expect(0);
    assert!(!told.stdout.contains("--catalogue"), "{}", told.stdout);
    let alone = overlay(&[
        ("shop/kit.toml", KIT),
        ("shop/session.lua", SESSION),
        ("shop/app/index.html", "the front page"),
    ]);
    Home::shared().plimsoll("check").arg(alone.path().join("shop")).run().expect(2).says("`tiny`");
}

#[test]
fn a_name_that_a_template_of_the_application_does_not_have_is_found_with_its_line() {
    let dir = overlay(&[
        ("kits/shop/kit.toml", KIT),
        ("kits/shop/session.lua", SESSION),
        ("kits/shop/app/index.html.j2", "{{ kit.name }}\n{{ kit.size.pages }}\n"),
        ("stacks/tiny.toml", STACK),
    ]);
    let told = Home::shared().plimsoll("check").arg(dir.path().join("kits/shop")).run().expect(2);
    told.says("app/index.html.j2:2: the template uses a name that does not exist here")
        .says("`kit.size.pages`");
}
