//! Replays the nights of a file of jobs: the pages of each night and the trend of each job.

use std::path::Path;

use jiff::tz::TimeZone;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::json::line;
use skilltune_phases::nights::night::{Entry, Event, History, Morning};

use super::covered::of_nights;
use super::stored::Texts;
use super::{JOURNAL, PROJECT, Replayed};
use crate::nights::file::Limits;
use crate::nights::pages::PageInput;
use crate::nights::{json, junit, morning, pages, trend};

/// The folder of a project's nights, relative to the project.
const NIGHTS: &str = ".skilltune/nights/skilltune-night";

pub(super) fn replay(given: &Texts) -> Replayed {
    let entries: Vec<Entry> =
        given[JOURNAL].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut texts = Texts::new();
    // The pages of a night are written at its end; those of the last night are also stored beside the journal.
    let ends = (1..).zip(&entries).filter(|(_, entry)| matches!(entry.event, Event::Over { .. }));
    for (end, _) in ends {
        let history = History::of(&entries[..end]);
        let morning = Morning::of(&history).expect("a night has begun");
        let name = &morning.night.name;
        for (kind, text) in [("md", page(&morning)), ("json", line(&json::object(&morning, None)))] {
            texts.insert(format!("files/{NIGHTS}/mornings/{name}.{kind}"), text.clone());
            texts.insert(format!("files/{NIGHTS}/night.{kind}"), text);
        }
        texts.insert(format!("files/{NIGHTS}/junit.xml"), junit::junit(&morning, None));
        texts.insert(format!("files/{NIGHTS}/report.html"), html(&morning, &history));
    }
    let history = History::of(&entries);
    for (name, job) in history.jobs.iter().filter(|(_, job)| !job.points.is_empty()) {
        texts.insert(format!("files/{NIGHTS}/series/{name}.html"), pages::of_series(name, &history, true));
        texts.insert(format!("said/trend {name} --csv"), trend::csv(job) + "\n");
        texts.insert(format!("said/trend {name} --format json"), line(&trend::json(job)) + "\n");
    }
    Replayed { texts, covered: of_nights(&entries) }
}

/// Returns the page for a browser.
fn html(morning: &Morning<'_>, history: &History) -> String {
    let project = Path::new(PROJECT);
    let input = PageInput {
        history,
        home: &Home::of(project),
        inbox: &project.join(NIGHTS).join("inbox.toml"),
        zone: &TimeZone::UTC,
        week: Limits::default(),
        failed: None,
    };
    pages::morning(morning, input, "")
}

fn page(morning: &Morning<'_>) -> String {
    let inbox = Path::new(PROJECT).join(NIGHTS).join("inbox.toml");
    morning::page(morning, &inbox, &TimeZone::UTC, Limits::default(), None)
}
