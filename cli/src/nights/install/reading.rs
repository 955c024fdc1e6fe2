//! Reads a nightly start back from the texts that a scheduler holds.
//!
//! The texts are untrusted: a person or a program may have changed them. Nothing in them is run, and a text that
//! `install` would not write for the same start is reported as changed.

pub mod cron;
pub mod launchd;
pub mod systemd;

use std::collections::BTreeMap;

use jiff::civil::Time;

use crate::nights::install::job::Job;

/// The content of a scheduler's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The start; none if the text cannot be parsed as one of ours.
    pub job: Option<Job>,
    /// Whether it is exactly the text that `install` writes.
    pub is_ours: bool,
    /// The variables that the scheduler's text sets for the night.
    pub env: BTreeMap<String, String>,
    /// Whether the timer's unit also reads variables from other files.
    pub has_more_env: bool,
}

/// Returns the start with this command, as `Job::argv` builds it.
fn job(name: &str, command: &[String], env: &[(String, String)], at: Option<Time>) -> Option<Job> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let [program, "--project", project, "night", "--file", file, "--scheduled"] = words[..] else {
        return None;
    };
    Some(Job {
        name: name.to_owned(),
        program: program.to_owned(),
        project: project.to_owned(),
        file: file.to_owned(),
        at: at?,
        env: env.to_vec(),
    })
}

/// Returns a time of day from a scheduler's hour and minute.
fn time(hour: &str, minute: &str) -> Option<Time> {
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// Splits `NAME=VALUE` into name and value.
fn variable(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nights::install::job::tests::job;
    use crate::nights::install::{cron as crontab, launchd as agent, systemd as units};

    proptest! {
        #[test]
        fn a_start_with_any_path_is_read_back_from_each_scheduler(path in "/[^\\p{Cc}]{0,40}", value in "[^\\p{Cc}]{0,40}") {
            let env = vec![("PATH".to_owned(), value)];
            let job = Job { project: path.clone(), file: path, env, ..job() };
            let [(_, service), (_, timer)] = units::units(&job).unwrap();
            let readings = [
                systemd::read(&job.name, &service, &timer, &[]),
                cron::read(&job.name, "", &crontab::block(&job).unwrap()),
                launchd::read(&job.name, &agent::plist(&job)),
            ];
            for reading in readings {
                prop_assert_eq!(reading.job.as_ref(), Some(&job));
                prop_assert!(reading.is_ours);
            }
        }

        #[test]
        fn any_text_can_be_read(text in "[ -~\\n\\t\u{e9}]{0,200}", cut in 0..600_usize) {
            let ours = crontab::block(&job()).unwrap() + &agent::plist(&job());
            let [(_, service), _] = units::units(&job()).unwrap();
            for text in [&text, &(ours[..cut.min(ours.len())].to_owned() + &text), &(service[..cut.min(service.len())].to_owned() + &text)] {
                let readings = [
                    systemd::read("n", text, text, std::slice::from_ref(text)),
                    cron::read("n", text, text),
                    launchd::read("n", text),
                ];
                prop_assert!(readings.iter().all(|reading| !reading.is_ours), "{}", text);
            }
        }
    }
}
