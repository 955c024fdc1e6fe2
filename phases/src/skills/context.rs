//! The context cost of a skill by tier: its listing in every session, the text read when the skill is used, and its
//! references.

use serde::Serialize;

use crate::skills::lint::tokens;
use crate::skills::skill;

/// Tokens, as `lint` estimates them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Name and description, in every session.
    pub listing: usize,
    /// `SKILL.md` without its front matter.
    pub body: usize,
    /// All other text files, which the agent may or may not open.
    pub references: usize,
}

impl Context {
    /// Adds a text file of the skill.
    pub fn add(&mut self, path: &str, text: &str) {
        if path != "SKILL.md" {
            self.references += tokens(text);
            return;
        }
        let listed = skill::check(text).map(|front| tokens(&front.name) + tokens(&front.description));
        self.listing += listed.unwrap_or_default();
        self.body += tokens(skill::split(text).map_or(text, |(_, body)| body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_skill_is_counted_in_its_tier() {
        let mut context = Context::default();
        context.add("SKILL.md", "---\nname: page\ndescription: Writes one page\n---\nDo it now.\n");
        context.add("references/style.md", "Be brief.\n");
        assert_eq!(context, Context { listing: 1 + 4, body: 3, references: 3 });
        let mut broken = Context::default();
        broken.add("SKILL.md", "No front matter.");
        assert_eq!(broken, Context { listing: 0, body: 4, references: 0 });
    }
}
