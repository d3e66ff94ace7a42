//! What a stack that has started is given: its files, and what prepares its application.

use model::catalogue::kit::Writable;

use super::Starting;
use crate::stack::{Preparation, Stack};

impl Starting<'_, '_> {
    /// Hands over what outlives the start.
    pub(super) fn give_to(&self, stack: &mut Stack) {
        stack.set_preparation(self.preparation());
        let own = self.layout.own_files();
        stack.set_files(own.clone().or_else(|| self.layout.kept_files.clone()));
        // Nobody can tell what was written into a copy.
        let links = own.filter(|_| self.layout.writable() == Writable::Link);
        if let (Some(kept), Some(links)) = (&self.layout.kept_files, links) {
            stack.gives_back(kept.clone(), links);
        }
    }

    /// The command that prepares the application, by the first server that has its interpreter.
    fn preparation(&self) -> Option<Preparation> {
        let (first, rest) = self.command.split_first()?;
        let mut servers =
            self.layout.tiers.iter().zip(&self.ready).map(|(tier, ready)| (tier, &ready.servers[0]));
        servers.find_map(|(tier, server)| {
            let interpreter = server.interpreters.iter().find(|one| one.name == *first)?;
            Some(Preparation {
                tier: tier.name.clone(),
                run: interpreter.run.iter().chain(rest).cloned().collect(),
                env: interpreter.env.clone(),
                dir: server.dir.clone(),
                web_root: self.layout.web_root(),
                cpus: self.layout.cpus.clone(),
            })
        })
    }
}
