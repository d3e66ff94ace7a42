//! What a kit's application or a service's program is built from: its sources, the name under which their product is kept,
//! and the directory in which they are laid out. The command itself is run by others (`testbed`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::catalogue::build::Build;
use model::{Catalogue, Problem, Result};
use sha2::{Digest, Sha256};

/// Counts up whenever the same sources are laid out in another way: what is kept is then built anew.
const VERSION: u32 = 1;

/// The sources of a `[build]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    owner: String,
    run: Vec<String>,
    product: String,
    /// By their path in the folder of the sources.
    files: BTreeMap<String, Vec<u8>>,
}

impl Sources {
    /// Those in the catalogue's folder `folder`; the name of what is built from them begins with `owner`. What lies where
    /// building leaves what it makes is none: somebody has built there by hand.
    pub fn of(catalogue: &Catalogue, (owner, folder): (&str, &str), build: &Build) -> Sources {
        let made = format!("{}/", build.output_folder());
        let files = catalogue.below(folder).filter(|(path, _)| !path.starts_with(&made));
        Sources {
            owner: owner.to_string(),
            run: build.run.clone(),
            product: build.product.clone(),
            files: files.map(|(path, bytes)| (path.to_string(), bytes.to_vec())).collect(),
        }
    }

    /// A stable word for what is built from them: the same for the same files and command, another for others.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(&VERSION.to_le_bytes());
        // How many words there are belongs to it: else the last word and the product could change places.
        add(&(self.run.len() as u64).to_le_bytes());
        self.run.iter().for_each(|word| add(word.as_bytes()));
        add(self.product.as_bytes());
        for (path, bytes) in &self.files {
            add(path.as_bytes());
            add(bytes);
        }
        let word: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{word}", self.owner)
    }

    /// Writes them into a directory, which is made.
    ///
    /// # Errors
    /// What the disk refuses, with the path.
    pub fn lay_out(&self, into: &Path) -> Result<()> {
        for (path, bytes) in &self.files {
            let path = into.join(path);
            let folder = path.parent().unwrap_or(into);
            let made = fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes));
            made.map_err(|error| {
                Problem::environment(format!("failed to lay out the sources of {}: {error}", self.owner))
                    .file(path.display().to_string())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn catalogue(files: &[(&str, &str)]) -> Catalogue {
        let file =
            |(path, text): &(&str, &str)| (format!("kits/shop/{path}"), Cow::Owned(text.as_bytes().to_vec()));
        Catalogue::new(files.iter().map(file).collect())
    }

    fn build(run: &[&str], product: &str) -> Build {
        let packages = model::catalogue::service::Packages {
            install: Vec::new(),
            unpack: Vec::new(),
            why: "a test".to_string(),
        };
        Build {
            folder: "servlets".to_string(),
            run: run.iter().map(ToString::to_string).collect(),
            product: product.to_string(),
            programs: Vec::new(),
            packages,
        }
    }

    const SHOP: (&str, &str) = ("shop", "kits/shop/servlets");

    const FILES: [(&str, &str); 3] =
        [("servlets/pom.xml", "<project/>"), ("servlets/src/A.java", "class A {}"), ("kit.toml", "")];

    #[test]
    fn the_name_follows_sources_and_command_and_nothing_else() {
        let plain = build(&["mvn", "package"], "target/shop");
        let id = |files: &[(&str, &str)], build: &Build| Sources::of(&catalogue(files), SHOP, build).id();
        let first = id(&FILES, &plain);
        assert!(first.starts_with("shop-") && first.len() == "shop-".len() + 12, "{first}");
        let built_by_hand = [&FILES[..], &[("servlets/target/shop/A.class", "x")]].concat();
        assert_eq!(id(&built_by_hand, &plain), first, "what building makes is no source");
        let session_changed = [&FILES[..2], &[("kit.toml", "version = 2")]].concat();
        assert_eq!(id(&session_changed, &plain), first);
        let changed = [&FILES[..1], &[("servlets/src/A.java", "class A { }")]].concat();
        let moved = [&FILES[..1], &[("servlets/src/B.java", "class A {}")]].concat();
        for other in [
            id(&changed, &plain),
            id(&moved, &plain),
            id(&FILES, &build(&["mvn", "verify"], "target/shop")),
            id(&FILES, &build(&["mvn", "package", "target"], "shop")),
            id(&FILES, &build(&["mvn", "package"], "target/other")),
        ] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn sources_are_laid_out_as_they_lie_in_the_folder() {
        let dir = tempfile::tempdir().expect("a directory");
        let sources = Sources::of(&catalogue(&FILES), SHOP, &build(&["mvn"], "target/shop"));
        sources.lay_out(&dir.path().join("source")).expect("a writable directory");
        let text = fs::read_to_string(dir.path().join("source/src/A.java")).expect("a file");
        assert_eq!(text, "class A {}");
        assert!(!dir.path().join("source/kit.toml").exists());
        fs::write(dir.path().join("file"), "").expect("a file");
        let problems = sources.lay_out(&dir.path().join("file")).expect_err("a file is in the way");
        assert!(problems.to_string().contains("pom.xml"), "{problems}");
    }
}
