//! `[prompts]`: files that stand in place of our own pages.

use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::prompt::Page;
use toml::de::DeValue;

use crate::settings::setting::{Range, Readable, Setting, Slot};

/// Where a page stands, below the folder of the settings that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagePath(pub RelPath);

#[derive(Clone, Debug)]
pub struct PromptSettings {
    pub execute: Setting<Option<PagePath>>,
    pub task: Setting<Option<PagePath>>,
    pub evaluate: Setting<Option<PagePath>>,
    pub improve: Setting<Option<PagePath>>,
}

impl PromptSettings {
    pub fn of(&self, page: Page) -> &Setting<Option<PagePath>> {
        match page {
            Page::Execute => &self.execute,
            Page::Task => &self.task,
            Page::Evaluate => &self.evaluate,
            Page::Improve => &self.improve,
        }
    }

    /// Every setting under its key: one that is left out here does not compile.
    pub fn slots(&mut self) -> Vec<(&'static str, &mut dyn Slot)> {
        let Self { execute, task, evaluate, improve } = self;
        vec![
            ("prompts.execute", execute),
            ("prompts.task", task),
            ("prompts.evaluate", evaluate),
            ("prompts.improve", improve),
        ]
    }
}

impl Default for PromptSettings {
    fn default() -> Self {
        let ours = || Setting::new(None);
        Self { execute: ours(), task: ours(), evaluate: ours(), improve: ours() }
    }
}

impl Readable for PagePath {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let text = value.as_str().filter(|text| !text.contains(char::is_control))?;
        RelPath::parse(text.as_bytes()).ok().map(Self)
    }

    fn must_be(_: Range) -> String {
        "a file in the folder of these settings".to_owned()
    }

    fn json(&self) -> serde_json::Value {
        self.0.as_path().display().to_string().into()
    }
}
