//! Scanners: programs that find faults in the files of a change without running them.
//!
//! The author of a change must not decide what is found in it, so a scanner gets no configuration from the change where it
//! has an option for that. Where it has none, `config` names the files, so that the caller can compare them first. Comments
//! in a scanned file that silence a scanner still work: a reader of the change sees them.

/// A program that finds faults in files. It is used only where it is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanner {
    pub program: &'static str,
    /// Its purpose, such as `secrets`.
    pub what: &'static str,
    /// The files of a project that change what it finds.
    pub config: &'static [&'static str],
    options: &'static [&'static str],
    scans: Scans,
}

/// The files that a scanner gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scans {
    /// The folder where it starts, with everything in it.
    Folder,
    ShellScripts,
    Python,
    Workflows,
    Dockerfiles,
}

/// The most files in one argument list.
const MOST_FILES: usize = 200;

/// Returns the scanners for these files of a change, each with its argument list. Files that the change removes do not
/// belong to them. A scanner with more files than fit into one list has several.
pub fn applicable(changed: &[&str]) -> Vec<(Scanner, Vec<String>)> {
    let lists =
        |scanner: Scanner| scanner.argument_lists(changed).into_iter().map(move |argv| (scanner, argv));
    Scanner::ALL.into_iter().flat_map(lists).collect()
}

impl Scanner {
    /// Each prints the place of a fault in a form that `diagnostics` reads.
    pub const ALL: [Self; 5] = [
        Self {
            program: "gitleaks",
            what: "secrets",
            config: &[".gitleaks.toml", ".gitleaksignore"],
            options: &["dir", "--no-banner", "--no-color", "--redact", "--verbose", "--exit-code", "1"],
            scans: Scans::Folder,
        },
        Self {
            program: "shellcheck",
            what: "shell scripts",
            config: &[],
            options: &["--norc", "--format=gcc"],
            scans: Scans::ShellScripts,
        },
        Self {
            program: "ruff",
            what: "Python",
            config: &[],
            options: &["check", "--isolated", "--no-cache", "--output-format=concise"],
            scans: Scans::Python,
        },
        Self {
            program: "actionlint",
            what: "workflows of GitHub Actions",
            config: &[".github/actionlint.yaml", ".github/actionlint.yml"],
            options: &["-no-color", "-oneline"],
            scans: Scans::Workflows,
        },
        Self {
            program: "hadolint",
            what: "Dockerfiles",
            config: &[".hadolint.yaml", ".hadolint.yml"],
            options: &["--no-color", "--format", "tty"],
            scans: Scans::Dockerfiles,
        },
    ];

    /// Returns whether the scanner has anything to do for these files.
    pub fn applies(self, changed: &[&str]) -> bool {
        changed.iter().any(|path| self.scans.has(path))
    }

    fn argument_lists(self, changed: &[&str]) -> Vec<Vec<String>> {
        let files: Vec<String> = match self.scans {
            Scans::Folder => changed.first().map(|_| ".".to_owned()).into_iter().collect(),
            Scans::ShellScripts | Scans::Python | Scans::Workflows | Scans::Dockerfiles => {
                changed.iter().filter(|path| self.scans.has(path)).map(|path| operand(path)).collect()
            }
        };
        files.chunks(MOST_FILES).map(|files| self.argv(files)).collect()
    }

    fn argv(self, files: &[String]) -> Vec<String> {
        let words = std::iter::once(self.program).chain(self.options.iter().copied());
        words.map(str::to_owned).chain(files.iter().cloned()).collect()
    }
}

impl Scans {
    fn has(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        match self {
            Self::Folder => true,
            Self::ShellScripts => matches!(extension, Some("sh" | "bash")),
            Self::Python => matches!(extension, Some("py" | "pyi")),
            Self::Workflows => {
                let is_workflow = path.strip_prefix(".github/workflows/") == Some(name);
                is_workflow && matches!(extension, Some("yml" | "yaml"))
            }
            Self::Dockerfiles => name.starts_with("Dockerfile") && extension != Some("dockerignore"),
        }
    }
}

/// Returns a path that no scanner takes for an option, or for a file with arguments.
fn operand(path: &str) -> String {
    if path.starts_with(['-', '@']) { format!("./{path}") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands for a change, one a line.
    fn commands(changed: &[&str]) -> Vec<String> {
        applicable(changed).into_iter().map(|(_, argv)| argv.join(" ")).collect()
    }

    const SECRETS: &str = "gitleaks dir --no-banner --no-color --redact --verbose --exit-code 1 .";

    #[test]
    fn each_scanner_gets_the_files_of_its_kind() {
        let changed = [
            "src/lib.rs",
            "run.sh",
            "tools/a.bash",
            "a.py",
            ".github/workflows/ci.yml",
            ".github/workflows/more/ci.yml",
            "docs/ci.yml",
            "Dockerfile",
            "images/Dockerfile.dev",
            "Dockerfile.dockerignore",
            "sh",
            ".sh/x",
        ];
        assert_eq!(
            commands(&changed),
            [
                SECRETS,
                "shellcheck --norc --format=gcc run.sh tools/a.bash",
                "ruff check --isolated --no-cache --output-format=concise a.py",
                "actionlint -no-color -oneline .github/workflows/ci.yml",
                "hadolint --no-color --format tty Dockerfile images/Dockerfile.dev",
            ]
        );
        assert_eq!(commands(&["src/lib.rs"]), [SECRETS]);
        assert_eq!(commands(&[]), [""; 0], "a change that only removes files");
    }

    #[test]
    fn a_scanner_applies_where_it_has_an_argument_list() {
        for changed in [&["a.py"][..], &["run.sh", "x"], &["Dockerfile"], &[]] {
            let with_lists: Vec<Scanner> =
                applicable(changed).into_iter().map(|(scanner, _)| scanner).collect();
            let applying: Vec<Scanner> =
                Scanner::ALL.into_iter().filter(|one| one.applies(changed)).collect();
            assert_eq!(with_lists, applying);
        }
    }

    #[test]
    fn no_file_is_taken_for_an_option() {
        let found = commands(&["--rcfile=x.sh", "@x.py", "a/-x.py"]);
        assert_eq!(found[1], "shellcheck --norc --format=gcc ./--rcfile=x.sh");
        assert!(found[2].ends_with(" ./@x.py a/-x.py"), "{found:?}");
    }

    #[test]
    fn a_large_change_is_scanned_as_a_whole() {
        let names: Vec<String> = (0..=2 * MOST_FILES).map(|number| format!("{number}.sh")).collect();
        let changed: Vec<&str> = names.iter().map(String::as_str).collect();
        let lists = applicable(&changed);
        let counts = lists.iter().skip(1).map(|(_, argv)| argv.len() - 3);
        assert_eq!(counts.collect::<Vec<_>>(), [MOST_FILES, MOST_FILES, 1]);
        let scanned: Vec<&String> = lists.iter().skip(1).flat_map(|(_, argv)| &argv[3..]).collect();
        assert_eq!(scanned, names.iter().collect::<Vec<_>>());
    }
}
