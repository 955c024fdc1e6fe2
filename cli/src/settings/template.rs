//! A settings file of a project with every setting that it may have: chosen values are set, and all others are comments.
//!
//! A line that starts with `#` and no space is a setting. With its default, removing the `#` changes nothing; a setting
//! without one has the example of its description.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::page::OWN;
use crate::settings::setting::Slot;
use crate::settings::table::Key;
use crate::text::plain::capitalised;

const HEAD: &str = "\
# skilltune settings for this project. This file lists every setting with its default, or with an example if it has none;
# remove the `#` of one to set it.
# `skilltune config show` prints the effective values and where they come from. Flags override this file.
";

const AGENTS: &str = r#"
# An agent is any program that reads a prompt from stdin and answers on stdout. Name it in [roles] or with --agent.
# Agents in this file run only after `skilltune trust`; agents in your own settings need no trust. The command runs
# without a shell; skilltune replaces {model}, {workspace} and {prompt_file}. `output` is "text", or a JSON pointer to
# the text in a JSON answer. With `writes`, even an empty list, the agent may write only to the folders of its role and
# to these paths. `verdict` is how it answers as an evaluator: "evidenced", or "original" for an agent that was made for
# skill-iter-tune. Text in the files that such an agent reads can forge its scores.
#[agents.mine]
#command = ["program", "argument", "--model={model}"]
#output = "/answer"
#timeout = 300
#env.pass = ["MY_API_KEY"]
#env.set = { MY_MODE = "quiet" }
#cost = { usd = "/cost/usd", input_tokens = "/usage/in", output_tokens = "/usage/out" }
#writes = ["~/.cache/mine"]
#verdict = "evidenced"
"#;

const PRICES: &str = r#"
# Dollars per million tokens, for agents that report tokens but no cost, such as gemini. skilltune then estimates the
# cost, counts it towards budget.usd, and marks sums with "about". Prices change, so none are built in.
# `cached` is the price of input that the service had cached. Prices in this file count only once it is trusted.
#[prices."some-model"]
#input = 1.25
#output = 10
#cached = 0.3
"#;

const WORKERS: &str = "
# Other machines can make the calls of a run. Only your own settings may describe them as [workers.NAME] and choose them with
# calls.workers, and not the settings of a project: see docs/workers.md.
";

impl Settings {
    /// Returns the whole file. It sets the values that the user chose by flag or answer.
    pub fn template(&self) -> String {
        let mut own = self.clone();
        let mut text = HEAD.to_owned();
        let mut open = "";
        let keys = own.keys().into_iter().filter(|key| !OWN.contains(&key.name));
        for Key { name, about, slot, .. } in keys {
            let (table, name) = name.split_once('.').expect("every setting is in a table");
            if table != open {
                let _ = write!(text, "\n[{table}]\n");
                open = table;
            }
            let _ = write!(text, "\n# {} {}.\n", about, capitalised(&slot.must_be()));
            text.push_str(&assignment(name, about, slot));
        }
        text + AGENTS + PRICES + WORKERS
    }
}

fn assignment(name: &str, about: &str, slot: &dyn Slot) -> String {
    let value = match slot.json() {
        // TOML has no null.
        Json::Null => {
            return example(name, about).map_or_else(String::new, |value| format!("#{name} = {value}\n"));
        }
        Json::String(text) => toml::Value::String(text).to_string(),
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float.to_string(),
            None => number.to_string(),
        },
        other @ (Json::Bool(_) | Json::Array(_) | Json::Object(_)) => other.to_string(),
    };
    let mark = match slot.origin() {
        Origin::Answer | Origin::Flag(_) => "",
        Origin::Default
        | Origin::Installed
        | Origin::User(_)
        | Origin::Project(_)
        | Origin::Run
        | Origin::Preset(..) => "#",
    };
    format!("{mark}{name} = {value}\n")
}

/// Returns the value in the example of a description, such as `usd = 5`.
fn example<'a>(name: &str, about: &'a str) -> Option<&'a str> {
    let (_, example) = about.split_once(&format!("`{name} = "))?;
    example.split('`').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::tune::settings::{Preset, TuneSettings};
    use crate::settings::Files;
    use crate::settings::show::Row;
    use crate::settings::tests::{project, switched_on};

    fn values(rows: Vec<Row>) -> Vec<(String, Json)> {
        let own =
            rows.into_iter().filter(|row| !row.key.starts_with("agents.") && !row.key.starts_with("prices."));
        own.map(|row| (row.key, row.value)).collect()
    }

    #[test]
    fn as_it_is_written_it_sets_nothing_and_switched_on_it_sets_every_default_or_an_example() {
        let defaults = crate::loops::default_settings();
        let template = defaults.template();
        assert!(project(&template).rows().iter().all(|row| row.file.is_none()));
        let set = project(&switched_on(&template)).rows();
        let set = values(set.into_iter().filter(|row| row.origin == "project_file").collect());
        let defaults = values(defaults.rows());
        let defaults: Vec<_> = defaults.into_iter().filter(|(key, _)| !OWN.contains(&key.as_str())).collect();
        assert_eq!(set.len(), defaults.len());
        for (set, default) in set.iter().zip(&defaults) {
            assert!(set == default || (set.0 == default.0 && default.1.is_null()), "{set:?}");
        }
    }

    #[test]
    fn the_agent_in_it_shows_every_key_that_an_agent_has() {
        let all = project(&switched_on(&crate::loops::default_settings().template()));
        let rows: Vec<Row> =
            all.rows().into_iter().filter(|row| row.key.starts_with("agents.mine.")).collect();
        assert!(rows.len() >= 8, "{rows:?}");
        assert!(rows.iter().all(|row| !row.value.is_null()), "{rows:?}");
    }

    #[test]
    fn the_price_in_it_shows_every_key_that_a_price_has() {
        let all = Files::new(&switched_on(&crate::loops::default_settings().template()), "").load();
        let price = skilltune_phases::runs::price::Price { input: 1.25, output: 10.0, cached: Some(0.3) };
        assert_eq!(all.prices(), [("some-model".to_owned(), price)].into());
    }

    #[test]
    fn what_was_chosen_is_set_and_nothing_that_follows_from_it() {
        let mut chosen = crate::loops::default_settings();
        chosen.of_mut::<TuneSettings>().set_preset(Preset::Quick, &Origin::Answer);
        chosen.roles.executor.set("mine:la\"rge".parse().ok(), Origin::Flag("--executor"));
        let template = chosen.template();
        assert!(template.contains("\npreset = \"quick\"\n") && template.contains("\n#threshold = 70\n"));
        let read = project(&template);
        assert_eq!(values(read.rows()), values(chosen.rows()));
        let set = read.rows().into_iter().filter(|row| row.origin == "project_file");
        let set: Vec<String> = set.map(|row| row.key).collect();
        assert_eq!(set, ["roles.executor", "tune.preset"]);
    }
}
