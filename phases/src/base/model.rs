//! The name of a model, as an agent reports it. It is untrusted text that people see.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A short text of visible ASCII characters. Any other report is not a name of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName(Box<str>);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a valid name for a model")]
pub struct NotAModel;

/// The number of calls that each model answered.
pub type Models = BTreeMap<ModelName, u32>;

const LONGEST: usize = 100;

impl ModelName {
    /// Returns `None` if the text cannot be a name. The model is then unknown.
    pub fn reported(text: &str) -> Option<Self> {
        let is_name = (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_name.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ModelName {
    type Error = NotAModel;

    fn try_from(text: String) -> Result<Self, NotAModel> {
        Self::reported(&text).ok_or(NotAModel)
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.0.into()
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_visible_word_is_a_name() {
        for name in ["claude-opus-5-5", "opus[1m]", "anthropic/claude", "gemini-3.1-pro-preview"] {
            assert_eq!(ModelName::reported(name).unwrap().as_str(), name);
        }
        let long = "m".repeat(LONGEST + 1);
        for bad in ["", "two words", "a\nb", "\u{1b}[31mred", "\u{202e}sdrawkcab", "mödel", &long] {
            assert_eq!(ModelName::reported(bad), None, "{bad:?}");
            assert!(serde_json::from_value::<ModelName>(bad.into()).is_err(), "{bad:?}");
        }
    }
}
