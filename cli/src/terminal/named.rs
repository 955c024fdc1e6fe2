//! Paths that a user types, where a repository may contain symlinks.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

impl Environment {
    /// Returns a typed path, from the current folder. Fails if a symlink of the project leads it out of the project.
    pub fn named(&self, typed: &Path) -> Result<PathBuf, Complaint> {
        let path = self.cwd.join(typed);
        require_within(&self.project_here(), &path)?;
        Ok(path)
    }
}

/// Fails if a symlink of the project leads this path out of the project: the author of the repository chose that
/// target, not the user. A path that is outside by itself is the user's own choice.
pub fn require_within(project: &Path, path: &Path) -> Result<(), Complaint> {
    let unreadable =
        |error: io::Error| Complaint::input(format!("cannot access {}", path.display())).caused_by(error);
    let project = project.canonicalize().map_err(unreadable)?;
    let mut here = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::CurDir => {}
            Component::RootDir => here.push("/"),
            Component::ParentDir => drop(here.pop()),
            Component::Normal(name) if here.join(name).is_symlink() => {
                let link = here.join(name);
                here = match link.canonicalize() {
                    Ok(target) if here.starts_with(&project) && !target.starts_with(&project) => {
                        return Err(leads_out(path, &link, &target));
                    }
                    Ok(target) => target,
                    // A dangling symlink: there is nothing to read or write.
                    Err(_) => link,
                };
            }
            Component::Normal(name) => here.push(name),
        }
    }
    Ok(())
}

fn leads_out(path: &Path, link: &Path, target: &Path) -> Complaint {
    Complaint::input(format!("cannot use {}: it leads out of the project", path.display()))
        .caused_by(format!("{} is a symlink to {}", link.display(), target.display()))
        .hint("pass the path that you mean, without the symlink, or remove the symlink")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_symlink_of_the_project_leads_no_typed_path_out_of_it() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for folder in ["project/sub/deep", "home/notes", "project/own"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        symlink("../home/notes", at("project/site")).unwrap();
        symlink("site", at("project/twice")).unwrap();
        symlink("own", at("project/inside")).unwrap();
        symlink(at("home"), at("project/sub/out")).unwrap();
        symlink("/nowhere/at/all", at("project/dangling")).unwrap();
        symlink("project", at("way")).unwrap();
        let refused = |path: &str| require_within(&at("project"), &at("project").join(path)).is_err();
        for out in [
            "site",
            "site/new/page",
            "twice",
            "sub/../site",
            "sub/out/notes",
            "inside/../site/x",
            "../project/site",
            "../way/site",
        ] {
            assert!(refused(out), "{out}");
        }
        for fine in [
            "",
            "new/page",
            "dangling",
            "inside",
            "inside/new",
            "sub/deep/..",
            "..",
            "../home/notes",
            "../way",
            "/",
        ] {
            assert!(!refused(fine), "{fine}");
        }
        let complaint = require_within(&at("project"), &at("project/twice/x")).unwrap_err();
        let (link, target) = (at("project/twice"), at("home/notes"));
        assert_eq!(complaint.causes, [format!("{} is a symlink to {}", link.display(), target.display())]);
    }
}
