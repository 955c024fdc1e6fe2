//! Replays the nights of a file of jobs: the pages of the last one, and the trend of each job.

use std::path::Path;

use jiff::tz::TimeZone;
use skilltune_phases::json::line;
use skilltune_phases::night::{Entry, History, Morning};

use super::covered::of_nights;
use super::stored::Texts;
use super::{JOURNAL, PROJECT, Replayed};
use crate::nights::{json, junit, morning, trend};

/// Where the nights of a project are, below it.
const NIGHTS: &str = ".skilltune/nights/skilltune-night";

pub(super) fn replay(given: &Texts) -> Replayed {
    let entries: Vec<Entry> =
        given[JOURNAL].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let history = History::of(&entries);
    let last = Morning::of(&history).expect("a night has begun");
    let inbox = Path::new(PROJECT).join(NIGHTS).join("inbox.toml");
    let page = morning::page(&last, &inbox, &TimeZone::UTC);
    let pages =
        [("night.md", page), ("night.json", line(&json::object(&last))), ("junit.xml", junit::junit(&last))];
    let mut texts: Texts = pages.map(|(name, text)| (format!("files/{NIGHTS}/{name}"), text)).into();
    for (name, job) in history.jobs.iter().filter(|(_, job)| !job.points.is_empty()) {
        texts.insert(format!("said/trend {name} --csv"), trend::csv(job) + "\n");
        texts.insert(format!("said/trend {name} --format json"), line(&trend::json(job)) + "\n");
    }
    Replayed { texts, covered: of_nights(&entries) }
}
