//! The part of the scripted agent in a review: a reviewer, or the one that checks its findings.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// The script of a review.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Play {
    /// By a word of a reviewer's persona: its findings, or the text that it answers instead.
    pub(crate) finds: BTreeMap<String, Value>,
    /// By a word of a finding: the fields of the verdict, or the text that the verifier answers instead.
    pub(crate) verdicts: BTreeMap<String, Value>,
}

/// Whose turn a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Review,
    Verify,
}

impl Page {
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        let asks = |line: &str| prompt.contains(line);
        match () {
            () if asks("\nReview a change, as the expert described above.") => Some(Self::Review),
            () if asks("\nA reviewer reports a fault in a change.") => Some(Self::Verify),
            () => None,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Review => "reviewer".to_owned(),
            Self::Verify => "verifier".to_owned(),
        }
    }
}

pub(crate) fn answer(play: &Play, page: Page, prompt: &str) -> String {
    let code = prompt.rsplit_once("\"answer_to\": \"").and_then(|(_, rest)| rest.split_once('"'));
    let (code, _) = code.expect("a code is asked for");
    let (all, asked) = match page {
        Page::Review => (&play.finds, prompt.lines().next().unwrap_or_default()),
        Page::Verify => (&play.verdicts, between(prompt, "the finding>>>", "<<<END")),
    };
    let said = all.iter().find(|(word, _)| asked.contains(word.as_str())).map(|(_, said)| said);
    let whole = match (page, said) {
        (_, Some(Value::String(text))) => return text.replace("CODE", code),
        (Page::Review, said) => {
            json!({ "answer_to": code, "findings": said.cloned().unwrap_or_else(|| json!([])) })
        }
        (Page::Verify, said) => {
            let mut whole = json!({ "verdict": "uncertain", "why": "I cannot tell." });
            let fields = said.and_then(Value::as_object).cloned().unwrap_or_default();
            let object = whole.as_object_mut().expect("an object");
            object.extend(fields);
            object.insert("answer_to".to_owned(), code.into());
            whole
        }
    };
    whole.to_string()
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text.split_once(from).map_or("", |(_, rest)| rest);
    rest.split_once(to).map_or(rest, |(between, _)| between)
}
