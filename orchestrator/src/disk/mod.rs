//! The disk primitives: folders held open, whole-file writes, removal of trees, and paths below a folder that somebody
//! else may have prepared. All code opens, walks and deletes files through this module.
//!
//! ```text
//! lock --> SafePath --> atomic --> Folder --> remove_tree --> entries
//!                                    \--> file
//! ```

pub mod atomic;
mod entries;
mod error;
mod file;
mod folder;
mod lock;
mod remove_tree;
mod safe_path;

pub use error::{DiskError, OnDisk};
pub use file::{open, read};
pub(crate) use file::{read_first, text};
pub use folder::names;
pub(crate) use folder::{Exchange, Folder, OWNERS, set_mode};
pub use lock::Lock;
pub use safe_path::SafePath;
