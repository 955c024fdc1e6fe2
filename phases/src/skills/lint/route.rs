//! The order in which an agent loads a skill: its listing, its page, then each file that the text leads to.

use super::front::Front;
use super::reach::ways;
use super::reading::{Reading, body_at};
use super::{Files, tokens};

/// The token cost of loading a skill, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    pub stops: Vec<Stop>,
    /// Files that nothing leads to.
    pub unreached: Vec<String>,
}

/// One step and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    pub stage: Stage,
    /// A path, or the part of the front matter.
    pub what: String,
    pub tokens: usize,
}

/// When a part of a skill is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Always, with the names of all skills.
    Listed,
    /// When the skill is picked.
    Picked,
    /// When a loaded text names it.
    Named,
    /// When only a file that is itself only named names it.
    Nested,
}

pub fn route(files: &Files) -> Route {
    let reading = Reading::of(files);
    let Some(main) = reading.main else { return Route::default() };
    let front = reading.text(main).and_then(|text| Front::read(text).ok());
    let said = ["name", "description"]
        .map(|key| front.as_ref().and_then(|front| front.text(key)).unwrap_or_default());
    let body = reading.text(main).map_or("", |text| &text[body_at(text, true)..]);
    let mut stops = vec![
        Stop {
            stage: Stage::Listed,
            what: "name and description".to_owned(),
            tokens: tokens(&said.join(": ")),
        },
        Stop { stage: Stage::Picked, what: reading.file(main).path.clone(), tokens: tokens(body) },
    ];
    let mut unreached = Vec::new();
    for (at, depth) in ways(&reading, main) {
        let file = reading.file(at);
        let stage = match depth {
            Some(0) => continue,
            Some(1) => Stage::Named,
            Some(_) => Stage::Nested,
            None => {
                unreached.push(file.path.clone());
                continue;
            }
        };
        stops.push(Stop { stage, what: file.path.clone(), tokens: file.text().map_or(0, tokens) });
    }
    Route { stops, unreached }
}
