//! What is asked on a terminal. Nothing is asked anywhere else, and everything has a default.

use std::fmt;

use inquire::{Confirm, CustomType, InquireError, Select, Text};
use skilltune_phases::loops::tune::{Choice as Answer, Hold};
use skilltune_phases::offline;
use skilltune_phases::role::Role;
use skilltune_phases::target::Mode;

use crate::settings::values::Preset;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::pictured;

/// Who answers: a person, or a test in their place.
pub trait Answers {
    fn preset(&self, suggested: Preset) -> Result<Preset, Complaint>;
    fn mode(&self, skills: usize) -> Result<Mode, Complaint>;
    /// One of the agents for a role, or none yet.
    fn agent(&self, role: Role, known: &[String]) -> Result<Option<String>, Complaint>;
    /// A task to try skills on, or none yet.
    fn task(&self) -> Result<Option<String>, Complaint>;
    /// A question that a run asks.
    fn hold(&self, question: &str, hold: Hold) -> Result<Answer, Complaint>;
    /// A yes or no, whose default is no.
    fn agree(&self, question: &str) -> Result<bool, Complaint>;
    /// The place of one of several options; the first is the default.
    fn pick(&self, question: &str, options: &[&str]) -> Result<usize, Complaint>;
    fn number(&self, question: &str, default: u64) -> Result<u64, Complaint>;
    /// A line of text, or none.
    fn line(&self, question: &str, help: &str) -> Result<Option<String>, Complaint>;
}

/// The person at the terminal.
#[derive(Debug)]
pub struct Person;

impl Person {
    /// Somebody to ask, if anybody is there.
    pub fn present(around: &Environment) -> Option<&'static dyn Answers> {
        around.is_interactive().then_some(&Self as &dyn Answers)
    }
}

impl Answers for Person {
    fn preset(&self, suggested: Preset) -> Result<Preset, Complaint> {
        let presets = [Preset::Quick, Preset::Standard, Preset::Thorough];
        let start = presets.iter().position(|preset| *preset == suggested).unwrap_or(1);
        choose("How thorough should the search be?", presets.map(preset_option).into(), start)
    }

    fn mode(&self, skills: usize) -> Result<Mode, Complaint> {
        let question = format!("How should these {skills} skills be tuned?");
        let single =
            Choice { text: "single: each skill by itself (recommended)".to_owned(), value: Mode::Single };
        let chain = "chain: each skill works on the output of the one before".to_owned();
        choose(&question, vec![single, Choice { text: chain, value: Mode::Chain }], 0)
    }

    fn agent(&self, role: Role, known: &[String]) -> Result<Option<String>, Complaint> {
        let about = |name: &str| match name {
            offline::NAME => format!("{name}: built in, no model, checks structure only"),
            name => name.to_owned(),
        };
        let named = known.iter().map(|name| Choice { text: about(name), value: Some(name.clone()) });
        let nobody = Choice { text: "none yet".to_owned(), value: None };
        choose(&format!("Which agent is the {}?", role.word()), named.chain([nobody]).collect(), 0)
    }

    fn task(&self) -> Result<Option<String>, Complaint> {
        self.line("Which task should skills be tried on?", "becomes suite.toml; leave empty to skip")
    }

    fn hold(&self, question: &str, hold: Hold) -> Result<Answer, Complaint> {
        let choices = hold.options().iter().map(|&value| Choice { text: value.word().to_owned(), value });
        let start = hold.options().iter().position(|&choice| choice == hold.default_choice()).unwrap_or(0);
        choose(question, choices.collect(), start)
    }

    fn agree(&self, question: &str) -> Result<bool, Complaint> {
        Confirm::new(&pictured(question)).with_default(false).prompt().map_err(unanswered)
    }

    fn pick(&self, question: &str, options: &[&str]) -> Result<usize, Complaint> {
        let choices =
            options.iter().enumerate().map(|(value, text)| Choice { text: (*text).to_owned(), value });
        choose(question, choices.collect(), 0)
    }

    fn number(&self, question: &str, default: u64) -> Result<u64, Complaint> {
        CustomType::new(question).with_default(default).prompt().map_err(unanswered)
    }

    fn line(&self, question: &str, help: &str) -> Result<Option<String>, Complaint> {
        let told = Text::new(question).with_help_message(help).prompt().map_err(unanswered)?;
        Ok(Some(told.trim().to_owned()).filter(|line| !line.is_empty()))
    }
}

/// Where the answer to a run's question comes from.
#[derive(Clone, Copy, Debug)]
pub enum AnswerFrom<T> {
    /// The person at the terminal.
    Terminal,
    /// A flag.
    Given(T),
    /// The declared default.
    Default,
    /// Nobody is there: the run waits.
    Nobody,
}

impl<T> AnswerFrom<T> {
    pub fn of(given: Option<T>, yes: bool, around: &Environment) -> Self {
        match given {
            Some(given) => Self::Given(given),
            None if yes => Self::Default,
            None if around.is_interactive() => Self::Terminal,
            None => Self::Nobody,
        }
    }
}

struct Choice<T> {
    text: String,
    value: T,
}

impl<T> fmt::Display for Choice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn preset_option(preset: Preset) -> Choice<Preset> {
    let advice = if preset == Preset::Standard { " (recommended)" } else { "" };
    let (rounds, threshold) = (preset.rounds(), preset.threshold());
    let text =
        format!("{}: {rounds} rounds, goal {threshold}{advice}", crate::settings::values::word(&preset));
    Choice { text, value: preset }
}

fn choose<T>(question: &str, choices: Vec<Choice<T>>, start: usize) -> Result<T, Complaint> {
    let question = pictured(question);
    let select = Select::new(&question, choices).with_starting_cursor(start).without_filtering();
    let chosen = select.with_help_message("up and down to move, enter to select").prompt();
    chosen.map(|choice| choice.value).map_err(unanswered)
}

fn unanswered(error: InquireError) -> Complaint {
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => Complaint::interrupted(),
        InquireError::NotTTY
        | InquireError::InvalidConfiguration(_)
        | InquireError::IO(_)
        | InquireError::Custom(_) => Complaint::ours("cannot ask on this terminal")
            .caused_by(error)
            .hint("pass the flags, or --yes to use the defaults"),
    }
}

#[cfg(test)]
pub mod scripted {
    use std::cell::RefCell;

    use super::*;

    /// Gives fixed answers and remembers what was asked.
    #[derive(Debug)]
    pub struct Script {
        pub preset: Preset,
        pub mode: Mode,
        pub agent: Option<String>,
        pub task: Option<String>,
        pub agrees: bool,
        pub asked: RefCell<Vec<String>>,
    }

    impl Default for Script {
        fn default() -> Self {
            Self {
                preset: Preset::Quick,
                mode: Mode::Chain,
                agent: None,
                task: None,
                agrees: true,
                asked: RefCell::default(),
            }
        }
    }

    impl Answers for Script {
        fn preset(&self, suggested: Preset) -> Result<Preset, Complaint> {
            self.asked.borrow_mut().push(format!("preset, {suggested:?}"));
            Ok(self.preset)
        }

        fn mode(&self, skills: usize) -> Result<Mode, Complaint> {
            self.asked.borrow_mut().push(format!("mode, {skills}"));
            Ok(self.mode)
        }

        fn agent(&self, role: Role, known: &[String]) -> Result<Option<String>, Complaint> {
            self.asked.borrow_mut().push(format!("{} of {}", role.word(), known.join(", ")));
            Ok(self.agent.clone())
        }

        fn task(&self) -> Result<Option<String>, Complaint> {
            self.asked.borrow_mut().push("task".to_owned());
            Ok(self.task.clone())
        }

        fn hold(&self, question: &str, hold: Hold) -> Result<Answer, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            Ok(hold.default_choice())
        }

        fn agree(&self, question: &str) -> Result<bool, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            Ok(self.agrees)
        }

        fn pick(&self, question: &str, _: &[&str]) -> Result<usize, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            Ok(0)
        }

        fn number(&self, question: &str, default: u64) -> Result<u64, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            Ok(default)
        }

        fn line(&self, question: &str, _: &str) -> Result<Option<String>, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::complaint::Kind;

    #[test]
    fn an_interrupted_question_is_no_error() {
        for error in [InquireError::OperationCanceled, InquireError::OperationInterrupted] {
            assert_eq!(unanswered(error).kind, Kind::Interrupted);
        }
        assert_eq!(unanswered(InquireError::NotTTY).kind, Kind::Ours);
    }

    #[test]
    fn options_tell_what_they_mean() {
        assert_eq!(preset_option(Preset::Standard).to_string(), "standard: 5 rounds, goal 80 (recommended)");
        assert_eq!(preset_option(Preset::Thorough).to_string(), "thorough: 8 rounds, goal 90");
    }

    #[test]
    fn nobody_is_asked_without_a_terminal() {
        assert!(Person::present(&Environment::fake("/w", &[])).is_none());
    }
}
