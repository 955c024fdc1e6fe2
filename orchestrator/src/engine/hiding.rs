//! What a call hides from its program: our own folders, except what is of the call itself.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use skilltune_phases::runs::plan::Cast;

use super::Services;
use super::call_dir::CallDir;
use crate::process::Hidden;

/// Returns what the program finds empty. A wrapper of the user decides itself what an agent finds, and a program or a
/// file of the user that lies in our folders has to be found: then nothing is hidden.
pub(super) fn of(
    services: &Services,
    dir: &CallDir,
    cast: Option<&Cast>,
    argv: &[OsString],
) -> Option<Hidden> {
    // One folder, so that files can still be moved between the two in it.
    let shown = [dir.work_path(), dir.prompt_path(), dir.schema_path()];
    let is_possible =
        cast.is_none_or(|cast| cast.wrap.is_none()) && !names_one_in(argv, &services.own, &shown);
    let list = |paths: &[PathBuf]| paths.iter().map(OsString::from).collect();
    is_possible.then(|| Hidden { places: list(&services.own), shown: list(&shown) })
}

/// Whether an argument is a path in one of the places, and not in what is shown of them.
fn names_one_in(argv: &[OsString], places: &[PathBuf], shown: &[PathBuf]) -> bool {
    let is_in =
        |path: &Path, folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(real(folder)));
    let mut paths = argv.iter().flat_map(|argument| paths(argument)).map(real);
    paths.any(|path| is_in(&path, places) && !is_in(&path, shown))
}

/// Returns the absolute paths that an argument may be: itself, or the value of an option.
fn paths(argument: &OsStr) -> impl Iterator<Item = &Path> {
    let value = argument.to_str().and_then(|text| text.split_once('=')).map(|(_, value)| Path::new(value));
    [Some(Path::new(argument)), value].into_iter().flatten().filter(|path| path.is_absolute())
}

/// Resolves symlinks, if the path exists.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_of_the_user_in_our_folders_is_found_in_an_argument_and_what_is_shown_is_none() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["home/space", "elsewhere"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("home/agent.sh"), "").unwrap();
        symlink(at("home/agent.sh"), at("elsewhere/linked.sh")).unwrap();
        symlink(at("home"), at("alias")).unwrap();
        let named = |words: &[&str]| {
            let fill = |word: &&str| word.replace('@', root.path().to_str().unwrap()).into();
            let argv: Vec<OsString> = words.iter().map(fill).collect();
            names_one_in(&argv, &[at("alias")], &[at("home/space")])
        };
        for found in ["@/home/agent.sh", "@/alias/agent.sh", "@/elsewhere/linked.sh", "--run=@/home/agent.sh"]
        {
            assert!(named(&["sh", found]), "{found}");
        }
        let others = ["agent.sh", "@/elsewhere", "@/homes", "@/home/space", "-C=@/alias/space", "see @/home"];
        assert!(!named(&others));
    }
}
