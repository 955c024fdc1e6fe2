//! The size of skills in the listing in which agents look them up.

use super::front::{Front, LISTED};
use super::reading::Reading;
use super::{Diagnostic, File, Files, Rule};

/// The limit for all skills together: a hundredth of a context of 200,000 tokens.
pub const BUDGET: usize = 8000;

/// The space that some skills take in one agent's listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub skills: usize,
    pub characters: usize,
}

impl Listing {
    /// Returns the space of one skill.
    pub fn of(files: &Files) -> Self {
        Self { skills: 1, characters: characters(files) }
    }

    /// Returns a diagnostic about the folder that contains them.
    pub fn diagnostic(self, folder: &str) -> Option<Diagnostic> {
        let Self { skills, characters } = self;
        let message = format!(
            "the descriptions of {skills} skills have {characters} characters; agents list about {BUDGET}"
        );
        let diagnostic =
            Diagnostic { path: folder.to_owned(), line: None, rule: Rule::ListingBudget, message };
        (characters > BUDGET).then_some(diagnostic)
    }
}

impl std::iter::Sum for Listing {
    fn sum<I: Iterator<Item = Self>>(listings: I) -> Self {
        listings.fold(Self::default(), |sum, one| Self {
            skills: sum.skills + one.skills,
            characters: sum.characters + one.characters,
        })
    }
}

fn characters(files: &Files) -> usize {
    let main = Reading::main_of(files).map(|at| &files.files()[at]);
    let Some(front) = main.and_then(File::text).and_then(|text| Front::read(text).ok()) else {
        return 0;
    };
    let length = |key| front.text(key).map_or(0, |text| text.chars().count());
    (length("description") + length("when_to_use")).min(LISTED)
}
