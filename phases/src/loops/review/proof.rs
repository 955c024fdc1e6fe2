//! What a second agent says of a finding, and when a command proves one.

use serde::{Deserialize, Serialize};

use super::finding::{Place, normalised};
use crate::loops::shared::diagnostics::Diagnostic;
use crate::suites::checks::shell_fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Confirmed,
    Refuted,
    Uncertain,
}

/// The answer of a verifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    pub verdict: Verdict,
    pub why: Box<str>,
    /// The quote that speaks against the finding, as skilltune found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Place>,
    /// Why a refutation does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfounded: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
}

/// A command that is to show a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub argv: Vec<String>,
    /// Words that its output will have, announced before it runs.
    pub announces: Box<str>,
    /// Why it would prove nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<str>>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// The exit code, 128 and the signal that ended it, or 124 if it did not end in time; none if it did not run.
    pub exit: Option<i32>,
    /// How it ended, with the end of its output.
    pub details: Box<str>,
    /// Whether its output has the announced words.
    #[serde(default)]
    pub announced: bool,
    /// The places in its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Programs that only look at files: what they print shows no behaviour.
const LOOKERS: [&str; 51] = [
    "[",
    "ack",
    "ag",
    "awk",
    "base64",
    "bat",
    "cat",
    "cksum",
    "cmp",
    "comm",
    "cut",
    "diff",
    "du",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "file",
    "find",
    "gawk",
    "git",
    "grep",
    "head",
    "jq",
    "less",
    "ls",
    "mawk",
    "md5sum",
    "more",
    "nawk",
    "nl",
    "od",
    "printf",
    "readlink",
    "rg",
    "sed",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tail",
    "tar",
    "test",
    "tr",
    "tree",
    "true",
    "uniq",
    "wc",
    "xxd",
    "yq",
];
/// Interpreters whose flags `-n` and `-p` read files line by line.
const LINE_READERS: [&str; 2] = ["perl", "ruby"];
/// Flags with which an interpreter runs its next argument.
const INLINE: [&str; 6] = ["-c", "-e", "-E", "-r", "--eval", "-p"];
/// Words with which a script looks at files.
const LOOKING: [&str; 19] = [
    "open(",
    "read",
    "exists",
    "isfile",
    "listdir",
    "scandir",
    "os.walk",
    "glob",
    "stat(",
    "Path(",
    "inspect",
    "linecache",
    "get_data",
    "__file__",
    "File.",
    "popen",
    "subprocess",
    "system(",
    "exec",
];
const SHORTEST_WORDS: usize = 5;

impl Proposal {
    pub(super) fn new(argv: Vec<String>, announces: &str) -> Self {
        let announces: Box<str> = normalised(announces).into();
        let refused = fault(&argv, &announces).map(Into::into);
        Self { argv, announces, refused }
    }

    /// Whether the output of the command has the announced words.
    pub fn is_announced(&self, output: &str) -> bool {
        normalised(output).to_lowercase().contains(&self.announces.to_lowercase())
    }
}

/// Returns why a command would prove nothing.
fn fault(argv: &[String], announces: &str) -> Option<String> {
    if let Some(why) = shell_fault(argv) {
        return Some(why);
    }
    let Some(program) = argv.first() else { return Some("it names no program".to_owned()) };
    let name = program.rsplit('/').next().unwrap_or_default();
    if LOOKERS.contains(&name) {
        return Some(format!("{name} only looks at files or text, which shows no behaviour"));
    }
    let reads_lines = LINE_READERS.contains(&name) && argv.iter().any(|word| is_line_flag(word));
    if reads_lines || scripts(argv).any(|code| LOOKING.iter().any(|word| code.contains(word))) {
        return Some("its script looks at files, which shows no behaviour".to_owned());
    }
    if announces.chars().count() < SHORTEST_WORDS {
        return Some("it announces no words of its output".to_owned());
    }
    None
}

/// Whether a word such as `-ne` reads files line by line. `-Ilib/perl` and `-Mopen` name something.
fn is_line_flag(word: &str) -> bool {
    let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with(['-', 'I', 'M']));
    flags.is_some_and(|flags| flags.chars().all(char::is_alphanumeric) && flags.contains(['n', 'p']))
}

/// Returns the scripts among the arguments: what follows a flag, or is joined to it as in `-cCODE`.
fn scripts(argv: &[String]) -> impl Iterator<Item = &String> {
    let follows = argv.windows(2).filter(|pair| INLINE.contains(&pair[0].as_str())).map(|pair| &pair[1]);
    let joined = argv.iter().skip(1).filter(|word| word.starts_with('-') && word.contains(['(', ';', ' ']));
    follows.chain(joined)
}

impl CommandEnd {
    pub fn passed(&self) -> bool {
        self.exit == Some(0)
    }

    pub fn failed(&self) -> bool {
        self.exit.is_some_and(|code| code != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(argv: &[&str], announces: &str) -> bool {
        Proposal::new(argv.iter().map(|word| (*word).to_owned()).collect(), announces).refused.is_some()
    }

    #[test]
    fn a_command_that_only_looks_or_announces_nothing_proves_nothing() {
        assert!(!refused(&["python3", "-m", "unittest", "tests.test_div"], "ZeroDivisionError"));
        assert!(!refused(&["python3", "-c", "import calc; calc.div(1, 0)"], "ZeroDivisionError"));
        assert!(!refused(&["perl", "-Ispan", "-e", "use Calc; Calc::div(1, 0)"], "division by zero"));
        for argv in [
            &["false"][..],
            &["grep", "-q", "secret", "a.py"],
            &["/usr/bin/test", "-f", "a.py"],
            &["sh", "-c", "exit 1"],
            &["python3", "-c", "import os; os.path.exists('a.py') and exit(1)"],
            &["python3", "-cimport sys; sys.exit('a' in open('a.py').read())"],
            &["python3", "-c", "import linecache; assert 'a' in linecache.getlines('a.py')[0]"],
            &["perl", "-ne", "exit 1 if /a/", "a.py"],
            &["mawk", "/a/ { exit 1 }", "a.py"],
            &["git", "diff", "--exit-code"],
            &[],
        ] {
            assert!(refused(argv, "ZeroDivisionError"), "{argv:?}");
        }
        assert!(refused(&["pytest"], " no "));
    }

    #[test]
    fn words_are_announced_in_any_case_and_spacing() {
        let proposal = Proposal::new(vec!["pytest".to_owned()], "Zero  Division\nError");
        assert!(proposal.is_announced("E  zero division error: 3"));
        assert!(!proposal.is_announced("ZeroDivisionError"));
    }
}
