//! Questions on a terminal. Without a terminal nothing is asked, and every question has a default.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use inquire::{Confirm, InquireError, Select, Text};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::{one_line, pictured};

/// The source of answers: a person, or a test.
pub trait Answers {
    /// Asks for yes or no; the default is no.
    fn agree(&self, question: &str) -> Result<bool, Complaint>;
    /// Asks for one of several options and returns its index; `start` is the default.
    fn pick(&self, question: &str, options: &[&str], start: usize) -> Result<usize, Complaint>;
    /// Asks for a line of text, which may be empty.
    fn line(&self, question: &str, help: &str) -> Result<Option<String>, Complaint>;
    /// Lets the user edit this line of text.
    fn edit(&self, question: &str, text: &str) -> Result<String, Complaint>;
}

/// The person at the terminal.
#[derive(Debug)]
pub struct Person;

impl Person {
    /// Returns the person to ask, if there is a terminal.
    pub fn present(env: &Environment) -> Option<&'static dyn Answers> {
        env.is_interactive().then_some(&Self as &dyn Answers)
    }
}

impl Answers for Person {
    fn agree(&self, question: &str) -> Result<bool, Complaint> {
        let question = pictured(question);
        unless_gone(move || Confirm::new(&question).with_default(false).prompt())
    }

    fn pick(&self, question: &str, options: &[&str], start: usize) -> Result<usize, Complaint> {
        let question = pictured(question);
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        unless_gone(move || {
            let select = Select::new(&question, options).with_starting_cursor(start).without_filtering();
            let chosen = select.with_help_message("up and down to move, enter to select").raw_prompt();
            chosen.map(|choice| choice.index)
        })
    }

    fn line(&self, question: &str, help: &str) -> Result<Option<String>, Complaint> {
        let (question, help) = (question.to_owned(), help.to_owned());
        let typed = unless_gone(move || Text::new(&question).with_help_message(&help).prompt())?;
        Ok(Some(typed.trim().to_owned()).filter(|line| !line.is_empty()))
    }

    fn edit(&self, question: &str, text: &str) -> Result<String, Complaint> {
        let (question, text) = (question.to_owned(), one_line(text));
        let typed = unless_gone(move || {
            let line = Text::new(&question).with_initial_value(&text);
            line.with_help_message("enter to keep it").prompt()
        })?;
        Ok(typed.trim().to_owned())
    }
}

/// How often to check that the terminal still exists.
const LOOK: Duration = Duration::from_millis(200);

/// Asks on a separate thread: a question on a closed terminal is never answered, and reads forever.
fn unless_gone<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, InquireError> + Send + 'static,
) -> Result<T, Complaint> {
    let (tell, answers) = mpsc::channel();
    // If the answer comes too late, the receiver is gone.
    std::thread::spawn(move || drop(tell.send(ask())));
    loop {
        match answers.recv_timeout(LOOK) {
            // A failed write to a closed terminal is not our error.
            Ok(Err(_)) | Err(RecvTimeoutError::Timeout) if terminal_is_gone() => {
                return Err(Complaint::interrupted());
            }
            Ok(answer) => return answer.map_err(unanswered),
            Err(RecvTimeoutError::Disconnected) => return Err(Complaint::interrupted()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Returns whether the terminal has hung up. No events are requested, because a hang-up is always reported.
fn terminal_is_gone() -> bool {
    let stdin = std::io::stdin();
    let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
    poll(&mut terminal, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
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
    use std::collections::VecDeque;

    use super::*;

    /// Gives fixed answers and records the questions.
    #[derive(Debug)]
    pub struct Script {
        /// Part of a question, and the option to pick; other questions get the default.
        pub picks: Vec<(&'static str, usize)>,
        pub line: Option<String>,
        /// The answers to questions for a line, in order; then `line`.
        pub lines: RefCell<VecDeque<&'static str>>,
        pub agrees: bool,
        pub asked: RefCell<Vec<String>>,
    }

    impl Default for Script {
        fn default() -> Self {
            Self {
                picks: Vec::new(),
                line: None,
                lines: RefCell::default(),
                agrees: true,
                asked: RefCell::default(),
            }
        }
    }

    impl Answers for Script {
        fn agree(&self, question: &str) -> Result<bool, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            Ok(self.agrees)
        }

        fn pick(&self, question: &str, options: &[&str], start: usize) -> Result<usize, Complaint> {
            self.asked.borrow_mut().push(format!("{question} {}", options[start]));
            let picked = self.picks.iter().find(|(part, _)| question.contains(part));
            Ok(picked.map_or(start, |(_, picked)| *picked))
        }

        fn line(&self, question: &str, _: &str) -> Result<Option<String>, Complaint> {
            self.asked.borrow_mut().push(question.to_owned());
            let next = self.lines.borrow_mut().pop_front().map(str::to_owned);
            Ok(next.or_else(|| self.line.clone()).filter(|line| !line.is_empty()))
        }

        fn edit(&self, question: &str, text: &str) -> Result<String, Complaint> {
            Ok(self.line(question, "")?.unwrap_or_else(|| text.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::complaint::ErrorKind;

    #[test]
    fn an_interrupted_question_is_no_error() {
        for error in [InquireError::OperationCanceled, InquireError::OperationInterrupted] {
            assert_eq!(unanswered(error).kind, ErrorKind::Interrupted);
        }
        assert_eq!(unanswered(InquireError::NotTTY).kind, ErrorKind::Ours);
    }

    #[test]
    fn nobody_is_asked_without_a_terminal() {
        assert!(Person::present(&Environment::fake("/w", &[])).is_none());
    }
}
