//! An error as shown to the user: what failed, the causes, and what to do now.

use std::error::Error;
use std::fmt::Display;

use crate::terminal::environment::FoldersError;
use crate::terminal::exit::Exit;
use crate::terminal::style::Style;
use crate::text::plain::{one_line, pictured};
use crate::text::width::fitted;

/// Who can fix it; also decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user can fix it.
    Input,
    /// Something failed in skilltune.
    Ours,
    /// An agent gave an answer that cannot be used.
    Agent,
    /// The user's own edit was in the way, and is kept.
    Conflict,
    /// The user interrupted it; nothing is printed.
    Interrupted,
    /// A signal ended it; nothing is printed.
    Terminated,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub kind: ErrorKind,
    pub what: String,
    pub causes: Vec<String>,
    pub hints: Vec<String>,
}

impl Complaint {
    pub fn input(what: impl Display) -> Self {
        Self::new(ErrorKind::Input, what)
    }

    pub fn ours(what: impl Display) -> Self {
        Self::new(ErrorKind::Ours, what)
    }

    pub fn agent(what: impl Display) -> Self {
        Self::new(ErrorKind::Agent, what)
    }

    pub fn conflict(what: impl Display) -> Self {
        Self::new(ErrorKind::Conflict, what)
    }

    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    pub fn terminated() -> Self {
        Self::new(ErrorKind::Terminated, "terminated")
    }

    /// Builds a complaint from an error with all its sources.
    pub fn of(kind: ErrorKind, error: &dyn Error) -> Self {
        let causes = std::iter::successors(error.source(), |cause: &&dyn Error| (**cause).source());
        Self { causes: causes.map(ToString::to_string).collect(), ..Self::new(kind, error) }
    }

    #[must_use]
    pub fn caused_by(mut self, cause: impl Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    /// Reports first what succeeded before this error, so that the reader does not believe that nothing changed.
    #[must_use]
    pub fn after(mut self, what: impl Display) -> Self {
        let cause = std::mem::replace(&mut self.what, what.to_string());
        self.causes.insert(0, cause);
        self
    }

    pub fn exit(&self) -> Exit {
        match self.kind {
            ErrorKind::Input => Exit::Input,
            ErrorKind::Ours => Exit::Failed,
            ErrorKind::Agent => Exit::Unjudged,
            ErrorKind::Conflict => Exit::Ended,
            ErrorKind::Interrupted => Exit::Interrupted,
            ErrorKind::Terminated => Exit::Terminated,
        }
    }

    /// Returns what failed and the causes.
    pub fn in_one_line(&self) -> String {
        let parts = std::iter::once(&self.what).chain(&self.causes);
        parts.map(|part| one_line(part)).collect::<Vec<_>>().join(": ")
    }

    /// Renders the complaint. Names from a repository must not control the terminal.
    pub fn render(&self, style: Style, width: usize) -> String {
        let part = |label: &str, text: &str, paint: fn(Style, &str) -> String| {
            let fitted = fitted(&format!("{label} {}", pictured(text)), width);
            fitted.replacen(label, &paint(style, label), 1)
        };
        let mut parts = vec![part("error:", &self.what, Style::red)];
        parts.extend(self.causes.iter().map(|cause| part("caused by:", cause, Style::dim)));
        parts.extend(self.hints.iter().map(|hint| part("hint:", hint, Style::cyan)));
        parts.join("\n")
    }

    fn new(kind: ErrorKind, what: impl Display) -> Self {
        Self { kind, what: what.to_string(), causes: Vec::new(), hints: Vec::new() }
    }
}

impl From<FoldersError> for Complaint {
    fn from(error: FoldersError) -> Self {
        let kind = match error {
            FoldersError::Homeless(_) | FoldersError::Project { .. } => ErrorKind::Input,
            FoldersError::Cwd(_) => ErrorKind::Ours,
        };
        let hint = match error {
            FoldersError::Homeless(variable) => {
                format!("set HOME or {variable} to an absolute path, then run `skilltune doctor`")
            }
            FoldersError::Project { .. } => "pass an existing folder to --project".to_owned(),
            FoldersError::Cwd(_) => "change to an existing folder".to_owned(),
        };
        Self::of(kind, &error).hint(hint)
    }
}

/// Builds a complaint about a failure in skilltune, with its causes.
pub fn ours(error: impl std::error::Error) -> Complaint {
    Complaint::of(ErrorKind::Ours, &error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read /a")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("no such file")]
    struct Inner;

    #[test]
    fn an_error_is_shown_with_its_causes_and_hints() {
        let complaint = Complaint::of(ErrorKind::Input, &Outer(Inner)).hint("give another path");
        assert_eq!(
            complaint.render(Style::VIVID, 14),
            "\x1b[1;31merror:\x1b[0m cannot\n  read /a\n\x1b[2mcaused by:\x1b[0m no\n  such file\n\
             \x1b[36mhint:\x1b[0m give\n  another path"
        );
        insta::assert_snapshot!(complaint.render(Style::PLAIN, 80), @r"
        error: cannot read /a
        caused by: no such file
        hint: give another path
        ");
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        let text = Complaint::input("a\x1b[2Jb\r\nc").hint("\u{7}").render(Style::PLAIN, 80);
        assert_eq!(text, "error: a␛[2Jb␍\nc\nhint: ␇");
    }

    #[test]
    fn the_kind_decides_the_exit_code() {
        assert_eq!(Complaint::input("a").exit(), Exit::Input);
        assert_eq!(Complaint::ours("a").exit(), Exit::Failed);
        assert_eq!(Complaint::agent("a").exit(), Exit::Unjudged);
        assert_eq!(Complaint::interrupted().exit(), Exit::Interrupted);
    }
}
