//! The examples that end each command's help.

use crate::exit;

/// The end of the program's own help.
pub(super) fn program() -> String {
    format!("{PROGRAM}\n\n{}", exit::table())
}

const PROGRAM: &str = "\
Examples:
  skilltune demo
  skilltune lint skills/writer
  skilltune tune skills/writer \"Write release notes for version 2.0\"";

pub(super) const TUNE: &str = "\
Examples:
  skilltune tune skills/writer \"Write release notes for version 2.0\"
  skilltune tune outline,writer --chain --suite suite.toml --preset thorough";

pub(super) const LINT: &str = "\
Examples:
  skilltune lint skills/writer
  skilltune lint ~/.claude/skills --fix";

pub(super) const STATUS: &str = "\
Examples:
  skilltune status
  skilltune status da29
  skilltune reflex status orders-api";

pub(super) const RESUME: &str = "\
Examples:
  skilltune resume
  skilltune resume da29 --answer apply
  skilltune resume orders-api --answer run";

pub(super) const STOP: &str = "\
Examples:
  skilltune stop
  skilltune stop orders-api \"Good enough.\"";

pub(super) const LIST: &str = "\
Examples:
  skilltune list
  skilltune list --format json";

pub(super) const HISTORY: &str = "\
Examples:
  skilltune history da29";

pub(super) const SHOW: &str = "\
Examples:
  skilltune show da29
  skilltune show da29 2        # round 2";

pub(super) const DIFF: &str = "\
Examples:
  skilltune diff
  skilltune diff da29 best";

pub(super) const APPLY: &str = "\
Examples:
  skilltune apply
  skilltune apply da29 best";

pub(super) const ROLLBACK: &str = "\
Examples:
  skilltune rollback
  skilltune rollback da29";

pub(super) const EXPORT: &str = "\
Examples:
  skilltune export da29 best writer-best";

pub(super) const REPORT: &str = "\
Examples:
  skilltune report
  skilltune report da29";

pub(super) const CLEAN: &str = "\
Examples:
  skilltune clean --dry-run
  skilltune clean --keep 3";

pub(super) const TRUST: &str = "\
Examples:
  skilltune trust .
  skilltune trust suite.toml";

pub(super) const DEMO: &str = "\
Examples:
  skilltune demo
  skilltune demo /tmp/skilltune-demo";

pub(super) const CONFIG: &str = "\
Examples:
  skilltune config show";

pub(super) const DOCTOR: &str = "\
Examples:
  skilltune doctor
  skilltune doctor --probe";

pub(super) const INIT: &str = "\
Examples:
  skilltune init
  skilltune init --agent claude --suite \"Write release notes for version 2.0\"";

pub(super) const COMPLETIONS: &str = "\
Examples:
  skilltune completions bash > ~/.local/share/bash-completion/completions/skilltune
  skilltune completions fish > ~/.config/fish/completions/skilltune.fish";

pub(super) const MAN: &str = "\
Examples:
  skilltune man | man -l -
  skilltune man --out ~/.local/share/man/man1";

pub(super) const REFLEX: &str = "\
A bare TASK means `new` and takes its options.

Examples:
  skilltune reflex \"Write the API reference of the orders service\"
  skilltune reflex status";

pub(super) const REFLEX_NEW: &str = "\
Examples:
  skilltune reflex new \"Write the API reference of the orders service\" --out docs/orders.md
  skilltune reflex new --task-file task.md --alias orders-api";
