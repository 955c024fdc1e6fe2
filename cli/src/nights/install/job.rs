//! The command that a scheduler starts, and its time.

use std::path::{Path, PathBuf};

use jiff::civil::Time;
use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::Digest;

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The nightly start of one file of jobs. Its texts have no control characters, because no scheduler's file could
/// contain them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Letters, digits and dashes only, so that it can name files and objects anywhere.
    pub name: String,
    pub program: String,
    pub project: String,
    pub file: String,
    pub at: Time,
    /// The variables that skilltune needs to find programs and its folders.
    pub env: Vec<(String, String)>,
}

/// Schedulers start programs with their own environment. Another home would have other trust and other logins.
const FOLDERS: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

impl Job {
    /// Returns the start of `program` on `file`, with the folders of the user who installs it.
    pub fn new(program: &Path, file: &Path, at: Time, env: &Environment) -> Result<Self, Complaint> {
        let folders = FOLDERS.iter().filter_map(|name| {
            let value = env.vars.get(*name).filter(|value| Path::new(value).is_absolute())?;
            Some(((*name).to_owned(), value.clone()))
        });
        let vars: Vec<_> = std::iter::once(("PATH".to_owned(), path(env)?)).chain(folders).collect();
        for (name, value) in &vars {
            checked(value, name)?;
        }
        Ok(Self {
            name: name_of(file),
            program: text(program)?,
            project: text(&env.project_of(file))?,
            file: text(file)?,
            at,
            env: vars,
        })
    }

    /// Returns the command of the night.
    pub fn argv(&self) -> Vec<&str> {
        vec![&self.program, "--project", &self.project, "night", "--file", &self.file, "--scheduled"]
    }
}

/// Returns whether a job can set this variable.
pub fn could_set(name: &str) -> bool {
    name == "PATH" || FOLDERS.contains(&name)
}

/// Returns the name of a file's nightly start: it shows the project and is unique to the file.
pub fn name_of(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let words = folder.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut readable = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    // Kubernetes allows at most 52 letters.
    readable.truncate(24);
    let hash = &Digest::of(file.as_os_str().as_encoded_bytes()).short()[..8];
    let parts = ["skilltune-night", readable.trim_end_matches('-'), hash];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Returns the folders of `PATH` that mean the same wherever the night starts.
fn path(env: &Environment) -> Result<String, Complaint> {
    let given = env.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let mut folders: Vec<&str> = Vec::new();
    for folder in given.split(':').filter(|folder| Path::new(folder).is_absolute()) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        let complaint = Complaint::input("PATH has no absolute folder, so the night cannot find any agent");
        return Err(complaint.hint("set PATH as in your shell"));
    }
    Ok(folders.join(":"))
}

fn text(path: &Path) -> Result<String, Complaint> {
    let refused = |why| {
        let what = format!("a scheduler cannot start a night with the path {}", path.display());
        Complaint::input(what).caused_by(why).hint("rename the file or folder")
    };
    let text = path.to_str().ok_or_else(|| refused("it is not UTF-8"))?;
    if text.chars().any(char::is_control) {
        return Err(refused("it has a control character, such as a newline"));
    }
    Ok(text.to_owned())
}

fn checked(value: &str, name: &str) -> Result<(), Complaint> {
    if value.chars().any(char::is_control) {
        let what = format!("{name} has a control character, such as a newline");
        return Err(Complaint::input(what).hint(format!("set {name} without it")));
    }
    Ok(())
}

/// Returns whether `cargo clean` would delete the program.
pub fn is_in_build_folder(program: &Path) -> bool {
    let folders: Vec<PathBuf> = program.ancestors().skip(1).take(2).map(Path::to_owned).collect();
    let is_named = |nth: usize, names: &[&str]| {
        folders
            .get(nth)
            .and_then(|folder| folder.file_name())
            .is_some_and(|name| names.iter().any(|it| name == *it))
    };
    is_named(0, &["debug", "release"]) && is_named(1, &["target"])
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::terminal::style::Style;

    /// Text with everything that a scheduler's format could misread.
    pub const HOSTILE: &str =
        "/a b/%h%% $HOME ${X} `id` $(id) 'q' \"d\" \\ \\\\ \\n ;&|<>#!*?~=ü--> ]]> ${{ x }} @FILE@ {{y}}\\";

    pub fn job() -> Job {
        Job {
            name: "skilltune-night-project-01234567".to_owned(),
            program: "/usr/local/bin/skilltune".to_owned(),
            project: "/home/me/project".to_owned(),
            file: "/home/me/project/skilltune-night.toml".to_owned(),
            at: Time::constant(2, 30, 0, 0),
            env: vec![
                ("PATH".to_owned(), "/usr/local/bin:/usr/bin".to_owned()),
                ("HOME".to_owned(), "/home/me".to_owned()),
            ],
        }
    }

    pub fn hostile() -> Job {
        Job {
            program: HOSTILE.to_owned(),
            project: HOSTILE.to_owned(),
            file: format!("{HOSTILE}/night.toml"),
            env: vec![("PATH".to_owned(), HOSTILE.to_owned())],
            ..job()
        }
    }

    #[test]
    fn a_name_has_letters_digits_and_dashes_alone_and_differs_for_each_file() {
        let name = |file: &str| name_of(Path::new(file));
        assert_eq!(name("/home/me/My project!/night.toml"), name("/home/me/My project!/night.toml"));
        assert!(name("/home/me/My project!/night.toml").starts_with("skilltune-night-my-project-"));
        assert_ne!(name("/a/p/night.toml"), name("/b/p/night.toml"));
        for file in ["/night.toml", "/-\n%/n", "/.../n", &format!("/{}/n", "a-".repeat(99)), HOSTILE] {
            let name = name(file);
            assert!(name.len() <= 52 && !name.contains("--"), "{name}");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{name}"
            );
        }
    }

    #[test]
    fn folders_of_path_that_depend_on_where_we_are_are_left_out() {
        let path = |value: &str| super::path(&Environment::fake("/w", &[("PATH", value)]));
        assert_eq!(path("/b:bin::.:/a:/b").unwrap(), "/b:/a");
        insta::assert_snapshot!(path("bin:.").unwrap_err().render(Style::PLAIN, 80), @r"
        error: PATH has no absolute folder, so the night cannot find any agent
        hint: set PATH as in your shell
        ");
    }

    #[test]
    fn control_characters_are_refused_wherever_they_are() {
        let new = |program: &str, file: &str, vars: &[(&str, &str)]| {
            Job::new(Path::new(program), Path::new(file), Time::midnight(), &Environment::fake("/w", vars))
        };
        assert!(new("/bin/skilltune", "/p/n", &[]).is_ok());
        for refused in [
            new("/bin/skill\ntune", "/p/n", &[]),
            new("/bin/skilltune", "/p/n\r", &[]),
            new("/bin/skilltune", "/p/n", &[("XDG_STATE_HOME", "/s\u{7f}")]),
            new("/bin/skilltune", "/p/n", &[("PATH", "/a:/b\nc")]),
        ] {
            assert!(refused.unwrap_err().render(Style::PLAIN, 999).contains("control character"));
        }
    }

    #[test]
    fn a_program_of_cargos_own_folder_is_known() {
        assert!(is_in_build_folder(Path::new("/src/target/release/skilltune")));
        assert!(!is_in_build_folder(Path::new("/home/me/.cargo/bin/skilltune")));
        assert!(!is_in_build_folder(Path::new("/skilltune")));
    }
}
