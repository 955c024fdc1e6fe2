//! The arguments of `night install` and `night uninstall`.

use clap::{Args, ValueEnum};
use jiff::civil::Time;

use crate::args::night::FileArg;

#[derive(Clone, Debug, Args)]
pub struct InstallArgs {
    /// Time of day at which the night starts
    #[arg(long, value_name = "HH:MM", default_value = "02:30", value_parser = time_of_day)]
    pub at: Time,
    #[command(flatten)]
    pub file: FileArg,
    /// Print the configuration for a scheduler, and install nothing
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    pub print: Option<Printed>,
}

#[derive(Clone, Debug, Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    pub file: FileArg,
}

/// A text that `night install --print` can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// A systemd user service and its timer
    Systemd,
    /// Crontab lines
    Cron,
    /// A macOS launch agent
    Launchd,
    /// A GitHub Actions workflow with eight shards
    Github,
    /// A Kubernetes cron job with its volume
    Kubernetes,
}

fn time_of_day(text: &str) -> Result<Time, String> {
    let parsed = text.split_once(':').and_then(|(hour, minute)| {
        let is_number = |part: &str| matches!(part.len(), 1..=2) && part.bytes().all(|b| b.is_ascii_digit());
        if !is_number(hour) || minute.len() != 2 || !is_number(minute) {
            return None;
        }
        Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
    });
    parsed.ok_or_else(|| "must be a time of day from 00:00 to 23:59, such as 02:30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_has_an_hour_and_a_minute() {
        let read = |text| time_of_day(text).map(|time| (time.hour(), time.minute())).ok();
        assert_eq!(
            [read("02:30"), read("2:05"), read("23:59")],
            [Some((2, 30)), Some((2, 5)), Some((23, 59))]
        );
        for text in ["", "2", "24:00", "12:60", "2:5", "-1:00", "+2:30", "02:30:00", "02:3\u{0660}", "002:30"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
