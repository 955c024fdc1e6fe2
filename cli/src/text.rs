//! Text for people: made harmless, measured and wrapped, with readable numbers. This module does not depend on runs.

pub mod figures;
pub mod markdown;
pub mod plain;
pub mod width;
