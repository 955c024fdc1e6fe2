//! The user's own prompts: the files that settings name, read when a run is prepared.
//!
//! The judge's prompt decides what a score is worth, so a project's pages are used only once they are trusted.

use std::path::Path;

use skilltune_phases::asking::prompt::{self, Page, Prompts};

use crate::loops::tune::settings::PromptSettings;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::trust;
use crate::trust::file::TextFile;
use crate::trust::pinned::Pinned;
use crate::trust::{Consent, Named, TrustStore};

const MOST_BYTES: u64 = 256 << 10;

/// The files of the user's own pages.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    own: Vec<OwnPage>,
}

#[derive(Clone, Debug)]
struct OwnPage {
    page: Page,
    file: TextFile,
    is_projects: bool,
}

impl Pages {
    pub fn read(settings: &Settings) -> Result<Self, Complaint> {
        let mut own = Vec::new();
        for page in Page::ALL {
            let setting = settings.of::<PromptSettings>().of(page);
            let (Some(path), Some(named_in)) = (&setting.value, setting.origin.file()) else { continue };
            let folder = named_in.parent().expect("a settings file is in a folder");
            let file = read(folder, path.0.as_path()).map_err(|complaint| {
                complaint.hint(format!("{} names it as prompts.{page}", named_in.display()))
            })?;
            own.push(OwnPage { page, file, is_projects: matches!(setting.origin, Origin::Project(_)) });
        }
        Ok(Self { own })
    }

    /// Returns whether a run would use the pages that the project names, or `None` if it names none.
    pub fn trusted(settings: &Settings, env: &Environment) -> Option<bool> {
        let named = |page| matches!(settings.of::<PromptSettings>().of(page).origin, Origin::Project(_));
        let trusted = |pages: Self| pages.are_trusted(settings, env);
        Page::ALL.into_iter().any(named).then(|| Self::read(settings).is_ok_and(trusted))
    }

    /// Returns whether all pages of the project are trusted.
    pub fn are_trusted(&self, settings: &Settings, env: &Environment) -> bool {
        self.ensure_trusted(settings, env, Consent::Asked(None)).is_ok()
    }

    /// Returns the files, each with its page.
    pub fn files(&self) -> impl Iterator<Item = (Page, &TextFile)> {
        self.own.iter().map(|own| (own.page, &own.file))
    }

    /// Refuses a project's pages unless they are trusted, as its settings are.
    pub fn ensure_trusted(
        &self,
        settings: &Settings,
        env: &Environment,
        consent: Consent<'_>,
    ) -> Result<(), Complaint> {
        let theirs: Vec<&OwnPage> = self.own.iter().filter(|own| own.is_projects).collect();
        let Some(named_in) = settings.project_file.as_ref().filter(|_| !theirs.is_empty()) else {
            return Ok(());
        };
        let names: Vec<String> = theirs.iter().map(|own| own.page.word().to_owned()).collect();
        let files: Vec<Pinned> = theirs.iter().map(|own| Pinned::from(&own.file)).collect();
        trust::ensure(named_in, &files, Named::Prompts(&names), &TrustStore::new(env), consent)
    }

    /// Returns the texts of the pages after checking them.
    pub fn checked(&self) -> Result<Prompts, Complaint> {
        for OwnPage { page, file, .. } in &self.own {
            prompt::check(*page, file.text()).map_err(|faulty| {
                let line = faulty.line.map(|line| format!(":{line}")).unwrap_or_default();
                Complaint::input(format!("{}{line}: {}", file.path.display(), faulty.what))
                    .hint(format!("see docs/prompts.md for what the prompt `{page}` must contain"))
            })?;
        }
        Ok(self.texts())
    }

    /// Returns the texts without rendering them.
    pub fn texts(&self) -> Prompts {
        let mut prompts = Prompts::default();
        for OwnPage { page, file, .. } in &self.own {
            prompts.set(*page, file.text().to_owned());
        }
        prompts
    }
}

/// Reads a page in the folder of the settings that name it. No symlink may lead out of that folder.
fn read(folder: &Path, path: &Path) -> Result<TextFile, Complaint> {
    let named = folder.join(path);
    let shown = named.display();
    let unreadable = || Complaint::input(format!("cannot read the prompt {shown}"));
    let real = named.canonicalize().map_err(|error| unreadable().caused_by(error))?;
    if !real.starts_with(folder) {
        return Err(Complaint::input(format!("the prompt {shown} is outside {}", folder.display())));
    }
    if real.metadata().is_ok_and(|meta| meta.len() > MOST_BYTES) {
        return Err(Complaint::input(format!("the prompt {shown} is larger than 256 KiB")));
    }
    match TextFile::read(&real) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(unreadable()),
        Err(error) => Err(unreadable().caused_by(error.source)),
    }
}

#[cfg(test)]
mod tests;
