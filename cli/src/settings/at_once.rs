//! `calls.at_once`: how many calls an account takes at a time, by agent. It holds for all machines of a run together.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toml::de::DeValue;

use crate::settings::range::Range;
use crate::settings::setting::{Readable, texts};
use crate::settings::values::{AGENT_NAME, is_agent_name};

/// The most calls at a time of each agent that has such a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtOnce(pub BTreeMap<String, usize>);

impl Readable for AtOnce {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let one = |text: String| {
            let (name, number) = text.split_once('=')?;
            let number = number.parse().ok().filter(|number| *number > 0)?;
            is_agent_name(name).then(|| (name.to_owned(), number))
        };
        texts(value)?.into_iter().map(one).collect::<Option<_>>().map(Self)
    }

    fn must_be(_: Range) -> String {
        "a list of agents with a number each, such as [\"claude=4\"]".to_owned()
    }

    fn schema(_: Range) -> Json {
        json!({ "type": "array", "items": { "type": "string", "pattern": format!("{AGENT_NAME}=[1-9][0-9]*$") } })
    }

    fn json(&self) -> Json {
        self.0.iter().map(|(name, number)| format!("{name}={number}")).collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::range::ANY;

    #[test]
    fn each_agent_has_a_number_of_its_own() {
        let read =
            |texts: &[&str]| AtOnce::read(DeValue::parse(&format!("{texts:?}")).unwrap().get_ref(), ANY);
        assert_eq!(read(&["claude=4", "gemini=2"]).unwrap().0.len(), 2);
        for wrong in ["claude", "claude=0", "claude=-1", "=3", "a b=3", "claude=4=5"] {
            assert_eq!(read(&[wrong]), None, "{wrong}");
        }
    }
}
