//! Commands that only look at files or text: they show no behaviour, so they prove nothing.

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
/// Returns why a command shows no behaviour.
pub(in crate::loops) fn only_looks(argv: &[String]) -> Option<String> {
    let Some(program) = argv.first() else { return Some("it names no program".to_owned()) };
    let name = program.rsplit('/').next().unwrap_or_default();
    if LOOKERS.contains(&name) {
        return Some(format!("{name} only looks at files or text, which shows no behaviour"));
    }
    let reads_lines = LINE_READERS.contains(&name) && argv.iter().any(|word| is_line_flag(word));
    let looks = reads_lines || scripts(argv).any(|code| LOOKING.iter().any(|word| code.contains(word)));
    looks.then(|| "its script looks at files, which shows no behaviour".to_owned())
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
