//! Text as people see it: made harmless, measured, wrapped, with figures in words. It knows nothing of runs.

pub mod figures;
pub mod markdown;
pub mod nearest;
pub mod plain;
pub mod width;
