//! The draft of an expert or a specification: the answer is its file, and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::specification::Basis;
use crate::base::answer::{OffSchema, capped, shape};
use crate::experts::{Expert, Format};

/// The expert or the specification whose file a run drafts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub name: String,
    /// The full path of the file to write; none if the draft is only printed.
    pub file: Option<String>,
    /// What a specification is drafted from; none if an expert is drafted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specification: Option<Basis>,
}

impl Draft {
    /// Returns the word for what is drafted.
    pub fn what(&self) -> &'static str {
        if self.specification.is_some() { "specification" } else { "expert" }
    }

    /// Reads the answer and returns the file in our own format.
    pub(super) fn read(&self, answer: &str) -> Result<String, OffSchema> {
        let file = without_fence(answer);
        match &self.specification {
            Some(basis) => basis.read(file),
            None => self.expert(file),
        }
    }

    /// Fields that only other programs read are dropped: a draft asks for no tools.
    fn expert(&self, file: &str) -> Result<String, OffSchema> {
        let expert = Expert::read(file.as_bytes(), &self.name, Format::Markdown).map_err(|why| {
            shape(&format!("the answer is not the file of an expert: {why}{}", start(file)))
        })?;
        if expert.name != self.name {
            return Err(shape(&format!("its `name` must be {:?}, and is {:?}", self.name, expert.name)));
        }
        Ok(Expert { unknown: Map::new(), ..expert }.written(Format::Markdown))
    }
}

/// Quotes the first line of an answer that does not begin as a file does.
fn start(answer: &str) -> String {
    let line = capped(answer.lines().next().unwrap_or_default(), 80);
    if line == "---" { String::new() } else { format!("; it begins with {line:?}") }
}

/// Returns the text within a code fence around the whole answer, or the whole answer.
fn without_fence(answer: &str) -> &str {
    let answer = answer.trim();
    let fence = &answer[..answer.len() - answer.trim_start_matches('`').len()];
    let within = answer.split_once('\n').and_then(|(_, rest)| rest.strip_suffix(fence));
    within.filter(|_| fence.len() >= 3).unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "---\nname: dba\ndescription: Knows SQL.\ntier: frontier\n---\n\nYou are a DBA.\n\n```sql\nx\n```";

    fn read(answer: &str) -> Result<String, String> {
        let draft = Draft { name: "dba".to_owned(), file: None, specification: None };
        draft.read(answer).map_err(|why| why.to_string())
    }

    #[test]
    fn the_answer_is_the_file_with_or_without_a_fence_around_it() {
        let file = read(FILE).unwrap();
        assert_eq!(
            file,
            "---\nname: \"dba\"\ndescription: \"Knows SQL.\"\ntier: \"frontier\"\n---\n\nYou are a DBA.\n\n```sql\nx\n```\n"
        );
        for fenced in [format!("```\n{FILE}\n```\n"), format!(" ````markdown\n{FILE}\n````")] {
            assert_eq!(read(&fenced), Ok(file.clone()), "{fenced}");
        }
        assert_eq!(read(&file), Ok(file.clone()), "what is written reads the same");
    }

    #[test]
    fn a_draft_has_only_fields_of_our_own() {
        let file = read(&FILE.replace("tier:", "tools: Bash\nhooks: {Stop: []}\nrole: true\ntier:")).unwrap();
        assert_eq!(file, read(FILE).unwrap());
    }

    #[test]
    fn an_answer_that_is_not_this_file_is_refused_with_the_reason() {
        for (answer, why) in [
            (
                "Here you are.\n\n".to_owned(),
                "the first line must be `---`; it begins with \"Here you are.\"",
            ),
            (format!("Here you are:\n\n{FILE}"), "the first line must be `---`"),
            (FILE.replace("name: dba", "name: dbb"), "its `name` must be \"dba\", and is \"dbb\""),
            (FILE.replace("name: dba", "name: new"), "`new` is the name of a command"),
            (FILE.replace("Knows SQL.", ""), "it has no `description`"),
            (FILE.replace("frontier", "huge"), "its `tier` must be frugal, standard or frontier"),
            ("---\nname: dba\ndescription: d\n---\n".to_owned(), "it has no `persona`"),
            ("```".to_owned(), "the first line must be `---`"),
        ] {
            let refused = read(&answer).unwrap_err();
            assert!(refused.contains(why), "{answer}: {refused}");
        }
    }
}
