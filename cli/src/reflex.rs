//! What `skilltune reflex` is asked to do, and who answers its one question.

pub mod allow;
pub mod confirm;
pub mod context;
pub mod files;
pub mod out;
pub mod planning;
pub mod request;
