//! Builds a new `suite.toml` from scenarios that an agent has drafted.

use std::path::Path;

use skilltune_phases::suites::drafts::Drafted;

use super::append::HEAD;
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
