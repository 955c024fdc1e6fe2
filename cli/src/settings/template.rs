//! A settings file that tells of every setting: what was chosen is set, and all else is there as a comment.
//!
//! A line that begins with `#` and no blank is a setting with its default: without the `#` it changes nothing.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::Settings;
use super::about::about;
use super::origin::Origin;
use super::setting::Slot;

const HEAD: &str = "\
# Settings of skilltune for this project. Every setting is here with its default; take the `#` away to change it.
# `skilltune config show` tells what is in force, and where it comes from. Flags go over this file.
";

const AGENTS: &str = r#"
# An agent is any program that reads a prompt on its standard input and answers. It is named in [roles] or by --agent.
# Those described here run after `skilltune trust`; those in your own settings at once. No shell sees the command;
# {model}, {workspace} and {prompt_file} are filled in. `output` is "text", or where in a JSON answer the text stands.
# With `writes`, even an empty list, it may write nowhere but in the folders of its role and in these.
# `verdict` is how it answers as an evaluator: "evidenced", or "original" for an agent made for skill-iter-tune, whose
# bare numbers can be forged by what it reads.
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
# Dollars for a million tokens of a model whose agent tells its tokens and no money, such as gemini. What it costs is
# then estimated: budgets count it, and every sum says that it is about so much. Prices change, so none are built in.
# `cached` is for input that the service had kept from an earlier question.
#[prices."some-model"]
#input = 1.25
#output = 10
#cached = 0.3
"#;

impl Settings {
    /// The whole file; what a person chose, by flag or answer, is set in it.
    pub fn template(&self) -> String {
        let mut own = self.clone();
        let mut text = HEAD.to_owned();
        let mut open = "";
        for (key, slot) in own.slots() {
            let (table, name) = key.split_once('.').expect("every setting is in a table");
            if table != open {
                let _ = write!(text, "\n[{table}]\n");
                open = table;
            }
            let _ = write!(text, "\n# {} {}.\n", about(key), capitalised(&slot.must_be()));
            text.push_str(&assignment(name, slot));
        }
        text + AGENTS + PRICES
    }
}

fn assignment(name: &str, slot: &dyn Slot) -> String {
    let value = match slot.json() {
        // There is no word for nothing in TOML.
        Json::Null => return String::new(),
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

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Preset;
    use crate::settings::about::ABOUT;
    use crate::settings::show::Row;
    use crate::settings::tests::project;

    /// Every setting of the template as if it had been typed.
    fn switched_on(template: &str) -> String {
        let line = |line: &str| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        };
        template.lines().map(line).collect()
    }

    fn values(rows: Vec<Row>) -> Vec<(String, Json)> {
        let own =
            rows.into_iter().filter(|row| !row.key.starts_with("agents.") && !row.key.starts_with("prices."));
        own.map(|row| (row.key, row.value)).collect()
    }

    #[test]
    fn as_it_is_written_it_sets_nothing_and_switched_on_it_sets_every_default() {
        let defaults = Settings::default();
        let template = defaults.template();
        assert!(project(&template).rows().iter().all(|row| row.file.is_none()));
        let all = project(&switched_on(&template));
        assert_eq!(values(all.rows()), values(defaults.rows()));
        let set = all.rows().into_iter().filter(|row| row.origin == "project_file");
        let unset = defaults.rows().into_iter().filter(|row| row.value.is_null()).count();
        assert_eq!(values(set.collect()).len(), values(defaults.rows()).len() - unset);
    }

    #[test]
    fn the_agent_in_it_shows_every_key_that_an_agent_has() {
        let all = project(&switched_on(&Settings::default().template()));
        let rows: Vec<Row> =
            all.rows().into_iter().filter(|row| row.key.starts_with("agents.mine.")).collect();
        assert!(rows.len() >= 8, "{rows:?}");
        assert!(rows.iter().all(|row| !row.value.is_null()), "{rows:?}");
    }

    #[test]
    fn the_price_in_it_shows_every_key_that_a_price_has() {
        let all = project(&switched_on(&Settings::default().template()));
        let price = skilltune_phases::price::Price { input: 1.25, output: 10.0, cached: Some(0.3) };
        assert_eq!(all.prices(), [("some-model".to_owned(), price)].into());
    }

    #[test]
    fn every_setting_says_what_it_is_for_and_nothing_else_does() {
        let keys: Vec<&str> = Settings::default().slots().iter().map(|(key, _)| *key).collect();
        assert_eq!(ABOUT.map(|(key, _)| key).to_vec(), keys);
    }

    #[test]
    fn what_was_chosen_is_set_and_nothing_that_follows_from_it() {
        let mut chosen = Settings::default();
        chosen.set_preset(Preset::Quick, &Origin::Answer);
        chosen.roles.executor.set("mine:la\"rge".parse().ok(), Origin::Flag("--executor"));
        let template = chosen.template();
        assert!(template.contains("\npreset = \"quick\"\n") && template.contains("\n#threshold = 70\n"));
        let read = project(&template);
        assert_eq!(values(read.rows()), values(chosen.rows()));
        let set = read.rows().into_iter().filter(|row| row.origin == "project_file");
        let set: Vec<String> = set.map(|row| row.key).collect();
        assert_eq!(set, ["tune.preset", "roles.executor"]);
    }
}
