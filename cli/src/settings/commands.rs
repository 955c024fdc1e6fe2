//! `[commands]`: the commands that set up, lint, build and test a project.
//!
//! Only a run that starts these commands needs trust for them. So `Settings::named_commands` does not return them: what it
//! returns needs trust in every run. `skilltune trust` records and shows both.

use serde_json::Value as Json;
use skilltune_phases::loops::shared::commands::Stage;
use toml::de::DeValue;

use crate::settings::range::{ANY, Range, SECONDS};
use crate::settings::setting::{Readable, Setting, texts, texts_schema};
use crate::settings::table::{Named, options};

options! {
    /// The commands of a project.
    CommandSettings, "commands";
    setup: CommandWords = Setting::limit(ANY, CommandWords::default()),
        "Command that makes a copy of the project ready to build, such as `setup = [\"npm\", \"ci\"]`; `evolve` runs it first in each copy.";
    lint: CommandWords = Setting::limit(ANY, CommandWords::default()),
        "Command that lints the project, such as `lint = [\"cargo\", \"clippy\"]`; if empty, it is found from the manifests and shown for agreement.";
    build: CommandWords = Setting::limit(ANY, CommandWords::default()),
        "Command that builds the project; found if empty.";
    test: CommandWords = Setting::limit(ANY, CommandWords::default()),
        "Command that tests the project; found if empty.";
    seconds: u64 = Setting::limit(SECONDS, 600), "Timeout of each of these commands in seconds.";
}

impl CommandSettings {
    /// Returns the command of a stage, empty if none is set.
    pub fn of(&self, stage: Stage) -> &Setting<CommandWords> {
        match stage {
            Stage::Lint => &self.lint,
            Stage::Build => &self.build,
            Stage::Test => &self.test,
        }
    }

    /// Returns the commands that are set.
    pub fn named(&self) -> impl Iterator<Item = Named<'_>> {
        let all = [
            ("commands.setup", &self.setup),
            ("commands.lint", &self.lint),
            ("commands.build", &self.build),
            ("commands.test", &self.test),
        ];
        let named = all.map(|(key, set)| Named { key, words: &set.value.0, origin: &set.origin });
        named.into_iter().filter(|command| !command.words.is_empty())
    }
}

/// A program and its arguments; empty for none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandWords(pub Vec<String>);

/// Two commands cannot be compared, so every command other than the user's own counts as looser.
impl Readable for CommandWords {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let words = texts(value)?;
        words.first().is_none_or(|program| !program.trim().is_empty()).then_some(Self(words))
    }

    fn must_be(_: Range) -> String {
        "a list of strings, a program and its arguments".to_owned()
    }

    fn schema(_: Range) -> Json {
        texts_schema()
    }

    fn json(&self) -> Json {
        self.0.clone().into()
    }

    fn exceeds(&self, ceiling: &Self) -> bool {
        self != ceiling
    }
}

/// A value of each key that differs from its default.
#[cfg(test)]
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("commands.setup", "[\"npm\", \"ci\"]"),
        ("commands.lint", "[\"ruff\", \"check\"]"),
        ("commands.build", "[\"make\"]"),
        ("commands.test", "[\"make\", \"test\"]"),
        ("commands.seconds", "60"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::settings::{Files, project, refusal};
    use crate::trust::TrustStore;

    const LINT: &str = "[commands]\nlint = [\"sh\", \"lint.sh\"]\n";

    #[test]
    fn a_command_is_a_program_with_its_arguments() {
        for wrong in ["\"make lint\"", "[\" \", \"lint\"]", "[\"make\", 1]"] {
            let text = refusal(&format!("[commands]\nlint = {wrong}\n"));
            let must =
                "skilltune.toml:2: `commands.lint` must be a list of strings, a program and its arguments";
            assert!(text.contains(must), "{wrong}: {text}");
        }
        let none = project("[commands]\nlint = []\n");
        assert_eq!(none.commands.named().count(), 0);
    }

    #[test]
    fn they_are_named_in_the_order_in_which_they_run() {
        let settings =
            project("[commands]\ntest = [\"t\"]\nlint = [\"l\", \"x\"]\nbuild = [\"b\"]\nsetup = [\"s\"]\n");
        let named: Vec<_> =
            settings.commands.named().map(|command| (command.key, command.words.join(" "))).collect();
        let wanted = [
            ("commands.setup", "s"),
            ("commands.lint", "l x"),
            ("commands.build", "b"),
            ("commands.test", "t"),
        ];
        assert_eq!(named, wanted.map(|(key, words)| (key, words.to_owned())));
    }

    #[test]
    fn a_run_that_starts_none_of_them_needs_no_trust_for_them() {
        let files = Files::new("", LINT);
        std::fs::write(files.project().join("lint.sh"), "true").unwrap();
        let (settings, env) = (files.load(), files.env());
        assert!(settings.foreign_wishes().is_empty() && settings.named_commands().next().is_none());
        assert!(crate::casting::scripts(&settings, &env).unwrap().is_empty());
        let pinned = crate::casting::command_scripts(&settings).unwrap();
        assert_eq!(
            pinned.iter().map(|file| &file.path).collect::<Vec<_>>(),
            [&files.project().join("lint.sh")]
        );
    }

    #[test]
    fn a_project_changes_no_command_of_the_user_until_it_is_trusted() {
        let files = Files::new("[commands]\nlint = [\"own\"]\n", LINT);
        let lint = || {
            let settings = files.load();
            (
                settings.commands.lint.value.0.join(" "),
                settings.commands.lint.origin.word(),
                settings.overs().len(),
            )
        };
        assert_eq!(lint(), ("own".to_owned(), "user_file", 1));
        let file = files.load().project_file.unwrap();
        TrustStore::new(&files.env()).record(&file, &[]).unwrap();
        assert_eq!(lint(), ("sh lint.sh".to_owned(), "project_file", 1));
    }
}
