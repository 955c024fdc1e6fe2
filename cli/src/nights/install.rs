//! The nightly start: what is written for each scheduler, and the little that puts it in place.
//!
//! The texts are pure functions of one `Job`. No word of a job passes through a shell, but for the crontab line: cron
//! itself hands that to one, and every word of it is quoted.
//!
//! ```text
//! place -> by_systemd | by_launchd | by_cron -> systemd | launchd | cron -> job
//!                      \-> program                github | kubernetes   -> job
//! ```

pub mod cron;
pub mod github;
pub mod installed;
pub mod job;
pub mod kubernetes;
pub mod launchd;
pub mod place;
pub mod reading;
pub mod seen;
pub mod systemd;

mod by_cron;
mod by_launchd;
mod by_systemd;
mod files;
mod program;
