//! What `night install` tells of.

/// What was put in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The scheduler that starts the night.
    pub by: &'static str,
    /// What was written; nothing where everything was in place.
    pub wrote: Vec<String>,
    pub notes: Vec<String>,
}
