//! A lab of the testbed, with the helpers that this program is itself.

use model::Result;
use testbed::{Lab, LabOptions};

use crate::environment::Environment;

/// Opens one of that id.
pub(crate) fn open_lab(id: &str, env: &Environment<'_>) -> Result<Lab> {
    let helpers = &env.settings.helpers;
    let (keeper, switch) = (helpers.keeper(), helpers.switch());
    Lab::open(&LabOptions { home: env.home, id, keeper, switch, cgroups: true })
}
