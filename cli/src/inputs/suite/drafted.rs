//! Builds a new `suite.toml` from scenarios that an agent has drafted, and a scenario from a trial of a run.

use std::path::Path;

use skilltune_phases::base::id::Digest;
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::results::trials::Short;
use skilltune_phases::suites::drafts::Drafted;
use skilltune_phases::suites::scenario::Scenario;

use super::append::{HEAD, derived_id};
use super::assemble::{Assembled, assemble};
use super::case::{Case, Reading};
use super::{Format, Suite};
use crate::terminal::complaint::Complaint;
use crate::trust::file::TextFile;

/// Returns the suite, with every scenario as a draft, and its text. The text was read again and matches the drafts.
pub fn drafted(path: &Path, drafts: Vec<Drafted>) -> Result<(Suite, String), Complaint> {
    let wrong = |what: String| Complaint::ours("the drafted suite is invalid").caused_by(what);
    let base = path.parent().expect("a file is in a folder").to_owned();
    let cases = drafts.into_iter().map(case).collect();
    let Assembled { scenarios, drafts, starts, .. } =
        assemble(Reading { base, cases, notes: Vec::new() }).map_err(wrong)?;
    let suite = Suite {
        path: path.to_owned(),
        format: Format::Toml,
        file: None,
        scenarios,
        drafts,
        starts,
        notes: Vec::new(),
    };
    let written = suite.written(Format::Toml, path).files.into_iter().map(|(_, text)| text);
    let text = format!("{HEAD}\n{}", written.collect::<String>());
    let read = Suite::of_file(TextFile::drafted(path, text.clone())).map_err(|error| wrong(error.what))?;
    if read.drafts == suite.drafts && read.scenarios.is_empty() {
        Ok((read, text))
    } else {
        Err(wrong("the written suite differs from the draft".to_owned()))
    }
}

fn case(drafted: Drafted) -> Case {
    let mut case = Case::new(drafted.task);
    case.title = Some(drafted.id);
    case.is_draft = true;
    drafted.expectations.into_iter().for_each(|text| case.expect(text));
    case
}

/// Returns the scenario that tests what a trial of a run missed, and its origin.
pub fn from_trial(run: &Run, Short { judged, demands }: &Short<'_>) -> (Scenario, String) {
    let (id, trial) = (&run.plan.run, judged.trial);
    let of = &run.plan.task.scenarios[trial.scenario];
    let parts = [
        id.as_str(),
        of.id.as_str(),
        &judged.candidate.to_string(),
        &trial.ordinal.to_string(),
        &trial.era.to_string(),
    ];
    let mark = Digest::of_parts(parts.map(str::as_bytes)).hex();
    let scenario = Scenario {
        id: derived_id(&of.id, &mark[..8]),
        demands: demands.clone(),
        held_out: false,
        ..of.clone()
    };
    let round = match judged.round {
        Some(round) => format!("round {round}"),
        None => "the final comparison".to_owned(),
    };
    (scenario, format!("From run {id}: `{}` in {round}, version {}.", of.id, judged.candidate.short()))
}
