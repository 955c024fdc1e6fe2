//! Checks that a model proposes as commands: the user decides what to do with them, and no one else can.

use clap::ValueEnum;
use skilltune_phases::suites::checks::RunThem;

use crate::settings::origin::Origin;
use crate::settings::setting::{Setting, readable_words};
use crate::terminal::complaint::Complaint;
use crate::text::plain;

/// What to do with commands that an agent proposes as checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChecksName {
    /// Show them to you first
    Ask,
    /// Run them without asking, confined by the kernel where possible
    Run,
    /// Let the judge decide instead
    Skip,
}

impl From<ChecksName> for RunThem {
    fn from(name: ChecksName) -> Self {
        match name {
            ChecksName::Ask => Self::Ask,
            ChecksName::Run => Self::Always,
            ChecksName::Skip => Self::Never,
        }
    }
}

readable_words!(ChecksName);

/// Fails if a project's settings let commands from a model run: only the user decides that.
pub fn by_own_word(key: &str, flag: &str, setting: &Setting<ChecksName>) -> Result<RunThem, Complaint> {
    match (&setting.origin, setting.value) {
        (Origin::Project(file), ChecksName::Run) => Err(Complaint::input(format!(
            "{}: only your own settings may set `{key} = \"run\"`, which runs commands of a model without asking",
            file.display()
        ))
        .hint(format!("remove it there; pass {flag} run for one run, or set it in your own skilltune.toml"))),
        (_, checks) => Ok(checks.into()),
    }
}

/// Fails if commands would run without being shown, unless the kernel confines them or the user allows it unconfined.
pub fn confined(run: RunThem, flag: &str, wants: bool, can: bool) -> Result<RunThem, Complaint> {
    match run {
        RunThem::Always if wants && !can => {
            Err(Complaint::input(format!("cannot run the commands of a model: with {flag} run no person reviews them, and this system cannot confine them"))
                .hint(format!("pass {flag} ask to see each command first, or {flag} skip to let the judge decide"))
                .hint("or set `limits.confine = false` in your own skilltune.toml to let them write wherever you can"))
        }
        RunThem::Always | RunThem::Ask | RunThem::Never => Ok(run),
    }
}

/// Returns what happens to the commands of a run: with `--yes` no person can allow them, so the judge decides.
pub fn in_effect(run: RunThem, unattended: bool) -> RunThem {
    if unattended && run == RunThem::Ask { RunThem::Never } else { run }
}

/// Shows the commands as they would run, one per line, with quoted arguments.
pub fn shown(head: &str, confined: bool, commands: impl IntoIterator<Item = String>) -> String {
    let where_they_run = if confined {
        "each command runs in a copy of the files and can write only there; it can use the network and change the modes of \
         your files, unless skilltune itself runs in bubblewrap (`bwrap`)"
    } else {
        "each command runs in a copy of the files, but is not confined: it can write wherever you can"
    };
    let each = commands.into_iter().map(|command| format!("  {}", plain::one_line(&command)));
    std::iter::once(format!("{head}; {where_they_run}:")).chain(each).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_nothing_holds_run_unseen_only_by_a_persons_word() {
        let runs = |run, wants, can| confined(run, "--checks", wants, can).is_ok();
        assert!(runs(RunThem::Always, true, true), "the kernel holds them");
        assert!(!runs(RunThem::Always, true, false));
        assert!(runs(RunThem::Always, false, false), "limits.confine = false is such a word");
        assert!(runs(RunThem::Ask, true, false) && runs(RunThem::Never, true, false));
    }
}
