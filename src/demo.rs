//! The Worker of the package: no tools and executors of its own. The example tools are registered for the agents of this
//! repository alone, whose entry module asks for them.

use crate::host::Host;
use crate::tools;

/// The host of the package.
pub(crate) fn host() -> Host {
    Host::new().examples(tools::all())
}
