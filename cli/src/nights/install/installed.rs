//! The result of `night install`.

/// The installed parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The scheduler that starts the night.
    pub by: &'static str,
    /// The files that were written; empty if everything was in place.
    pub wrote: Vec<String>,
    pub notes: Vec<String>,
}
