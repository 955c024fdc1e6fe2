//! The nightly start: the text for each scheduler, and the code that installs it.
//!
//! The texts are pure functions of one `Job`. No word of a job passes through a shell, except for the crontab line:
//! cron itself starts a shell with it, and every word of it is quoted.
//!
//! ```text
//! place -> by_systemd | by_launchd | by_cron -> systemd | launchd | cron -> job
//!    \                 \-> program                github | kubernetes   -> job
//!     \-> record -> job
//! ```

pub mod cron;
pub mod github;
pub mod job;
pub mod kubernetes;
pub mod launchd;
pub mod place;
pub mod record;
pub mod scheduled_start;
pub mod systemd;

mod by_cron;
mod by_launchd;
mod by_systemd;
mod files;
mod program;
