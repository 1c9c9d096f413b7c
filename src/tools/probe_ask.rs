//! The tool `probe_ask`, for the tests of the Worker: calls another agent by its name.

use a2a_edge::client::{create_message, observed_json};
use a2a_edge::tool::prelude::*;
