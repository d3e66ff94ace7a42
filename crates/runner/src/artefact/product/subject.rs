//! What is built: the application of a plan's kit, or the program of a tier's server; and the words for it.

use kit::build::Sources;
use model::catalogue::build::Build;
use model::record::plan::PlanTier;
use model::{Catalogue, Plan};

/// Something that is built from sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) build: &'a Build,
    pub(super) role: Role<'a>,
}

/// What it is to the plan.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role<'a> {
    /// The application of the kit of this name.
    Application { kit: &'a str },
    /// The server of a tier, and the folder of its service in the catalogue. Other tiers may have the same one.
    Server { tier: &'a str, service: &'a str, folder: &'a str },
}

impl<'a> Subject<'a> {
    /// All that the plan builds, the application first.
    pub(super) fn all(plan: &'a Plan) -> impl Iterator<Item = Subject<'a>> {
        let role = Role::Application { kit: &plan.kit.name };
        let application = plan.kit.build.iter().map(move |build| Subject { build, role });
        application.chain(plan.tiers.iter().filter_map(Subject::server))
    }

    fn server(tier: &'a PlanTier) -> Option<Subject<'a>> {
        let role = Role::Server { tier: &tier.name, service: &tier.service.name, folder: &tier.folder };
        tier.service.build.as_ref().map(|build| Subject { build, role })
    }

    /// Those of a server are called after their folder: services that share it share what is built.
    pub(super) fn sources(&self, catalogue: &Catalogue) -> Sources {
        let folder = self.build.source_folder();
        match self.role {
            Role::Application { kit } => {
                Sources::of(catalogue, (kit, &format!("kits/{kit}/{folder}")), self.build)
            }
            Role::Server { .. } => {
                let name = folder.rsplit('/').next().unwrap_or(folder);
                Sources::of(catalogue, (name, folder), self.build)
            }
        }
    }

    /// What kind of thing it is.
    pub(super) fn kind(&self) -> &'static str {
        match self.role {
            Role::Application { .. } => "application",
            Role::Server { .. } => "server",
        }
    }

    /// Which one it is: `the application`, `the server flash`.
    pub(super) fn title(&self) -> String {
        match self.role {
            Role::Application { .. } => "the application".to_string(),
            Role::Server { service, .. } => format!("the server {service}"),
        }
    }

    /// The file that says how it is built.
    pub(super) fn manifest(&self) -> String {
        match self.role {
            Role::Application { kit } => format!("kits/{kit}/kit.toml"),
            Role::Server { folder, .. } => format!("{folder}/service.toml"),
        }
    }

    /// What it means when it can't be built.
    pub(super) fn why(&self) -> String {
        match self.role {
            Role::Application { .. } => "the web tier would have nothing to serve".to_string(),
            Role::Server { tier, .. } => format!("the tier {tier} has no program to start"),
        }
    }
}
