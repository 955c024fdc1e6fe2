//! The draft of a specification. The answer is read as `evolve` reads it, and each criterion has to come from a line of a
//! document, if there are documents.

use serde::{Deserialize, Serialize};

use crate::base::answer::{OffSchema, shape};
use crate::loops::evolve::spec::{self, Criterion};

/// What a specification is drafted from, besides the task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    pub documents: Vec<Document>,
    /// Whether the agent asks a person first.
    pub asks: bool,
    /// The folder to change, if a person named one.
    pub root: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub path: String,
    pub text: String,
}

/// A name whose file is read as Markdown.
const PAGE: &str = "draft.md";
const ASSUMPTIONS: &str = "## Assumptions";

impl Basis {
    /// Returns the specification in its canonical form, and the assumptions of the agent after it.
    pub(super) fn read(&self, answer: &str) -> Result<String, OffSchema> {
        let read = spec::read(PAGE, answer);
        let spec = read.map_err(|fault| shape(&format!("the answer is not a specification: {fault}")))?;
        if let Some(fault) = spec.criteria.iter().find_map(|one| self.fault(one)) {
            return Err(shape(&fault));
        }
        let page = spec.markdown() + &assumptions(answer);
        match spec::read(PAGE, &page) {
            Ok(again) if again == spec => Ok(page),
            _ => Err(shape(&format!("write each entry of `{ASSUMPTIONS}` as a list item of plain text"))),
        }
    }

    /// Returns why a criterion does not come from a line of a document.
    fn fault(&self, Criterion { id, source, .. }: &Criterion) -> Option<String> {
        let Some(source) = source else {
            let why = format!("criterion {id} names no line of a document: add `from: FILE:LINE`");
            return (!self.documents.is_empty()).then_some(why);
        };
        let Some(document) = self.documents.iter().find(|one| one.path == *source.file) else {
            return Some(format!("criterion {id}: no document named `{}` was given", source.file));
        };
        let lines = document.text.lines().count();
        let has = usize::try_from(source.line).is_ok_and(|line| (1..=lines).contains(&line));
        (!has).then(|| {
            format!("criterion {id}: {} has {lines} lines, and no line {}", source.file, source.line)
        })
    }
}

/// Returns the section with the assumptions, which is no part of a specification.
fn assumptions(answer: &str) -> String {
    let after = answer.lines().skip_while(|line| line.trim_end() != ASSUMPTIONS).skip(1);
    let lines = after.take_while(|line| !line.starts_with('#')).filter(|line| !line.trim().is_empty());
    let lines = lines.collect::<Vec<_>>().join("\n");
    if lines.is_empty() { lines } else { format!("\n{ASSUMPTIONS}\n\n{lines}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: &str = "## Goal\n\nIt prints areas.\n\n## Acceptance criteria\n\n- A1: `area 2 3` prints 6\n  from: docs/a.md:2\n";

    fn basis(documents: &[(&str, &str)]) -> Basis {
        let one = |(path, text): &(&str, &str)| Document { path: (*path).into(), text: (*text).into() };
        Basis { documents: documents.iter().map(one).collect(), ..Basis::default() }
    }

    fn read(answer: &str) -> Result<String, String> {
        basis(&[("docs/a.md", "one\ntwo\n")]).read(answer).map_err(|why| why.to_string())
    }

    #[test]
    fn a_draft_is_written_in_its_canonical_form_with_its_assumptions() {
        assert_eq!(read(DRAFT).as_deref(), Ok(DRAFT));
        let with = format!(
            "Here it is.\n\n{DRAFT}\n## Assumptions\n\n- sides are numbers\n\n- in metres\n\n# Notes\n\nx\n"
        );
        let written = format!("{DRAFT}\n## Assumptions\n\n- sides are numbers\n- in metres\n");
        assert_eq!(read(&with).as_ref(), Ok(&written));
        assert_eq!(read(&written).as_ref(), Ok(&written), "what is written reads the same");
    }

    #[test]
    fn each_criterion_comes_from_a_line_of_a_document() {
        for (from, why) in [
            ("", "criterion A1 names no line of a document"),
            ("  from: docs/b.md:2\n", "no document named `docs/b.md` was given"),
            ("  from: docs/a.md:0\n", "docs/a.md has 2 lines, and no line 0"),
            ("  from: docs/a.md:3\n", "docs/a.md has 2 lines, and no line 3"),
        ] {
            let refused = read(&DRAFT.replace("  from: docs/a.md:2\n", from)).unwrap_err();
            assert!(refused.contains(why), "{from}: {refused}");
        }
        let free = DRAFT.replace("  from: docs/a.md:2\n", "");
        assert_eq!(basis(&[]).read(&free).as_ref(), Ok(&free), "a text has no lines to name");
        assert!(basis(&[]).read(DRAFT).is_err());
    }

    #[test]
    fn an_answer_that_is_no_specification_is_refused_with_the_reason() {
        assert!(read("Of course!").unwrap_err().contains("no goal is there"));
        let hidden = format!("{DRAFT}\n## Assumptions\n\n- none <!--\n\n```\n");
        assert!(read(&hidden).is_err());
    }
}
