//! The scripted agent in a world of `skilltune-research`: it errs by the simulation's own functions, but reads and
//! writes real files.
//!
//! The skill's page states its version and coverage, and a result states what it shows. The number of earlier attempts
//! is stored next to the script.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::loops::tune::Improver;
use skilltune_research::agents::{self, Product};
use skilltune_research::{Law, Skill, World};

use crate::{evaluate, only_skill};

#[derive(Debug, Deserialize)]
pub(crate) struct Play {
    law: Law,
    seed: u64,
    times: PathBuf,
}

impl Play {
    pub(crate) fn answer(&self, role: &str, prompt: &str, call: &str) -> String {
        let world = World::new(self.law, self.seed);
        match role {
            "executor" => self.execute(&world, prompt, call),
            "evaluator" => self.judge(&world, prompt, call),
            "improver" => self.improve(&world, prompt, call, Improver::First),
            "improver-2" => self.improve(&world, prompt, call, Improver::Second),
            other => panic!("no such role: {other}"),
        }
    }

    fn execute(&self, world: &World, prompt: &str, call: &str) -> String {
        let (_, skill) = page();
        let mut tasks = world.scenarios.iter().map(|scenario| scenario.description.as_str());
        let scenario = tasks.position(|task| prompt.lines().any(|line| line == task));
        let scenario = scenario.expect("the prompt names a task of this world");
        let nth = self.times(&format!("{}-on-{scenario}", skill.version()), call);
        let product = agents::execute(world, &skill, None, scenario, nth);
        let text = serde_json::to_string(&product).expect("a product has a JSON text");
        fs::write("out.md", format!("{PRODUCT}{text}\n")).expect("the workspace can be written");
        fs::write("manifest.json", r#"{"artifacts":[{"path":"out.md"}]}"#)
            .expect("the workspace can be written");
        "done".to_owned()
    }

    fn judge(&self, world: &World, prompt: &str, call: &str) -> String {
        let mut made = fs::read_dir("artifacts").expect("what was produced is in the workspace");
        let made = made.next().expect("one skill has produced it").expect("readable").path();
        let text = fs::read_to_string(made.join("out.md")).expect("a result has its file");
        let product: Product = stated(&text, PRODUCT);
        let nth = self.times(&product.id().hex(), call);
        let verdicts = agents::judge(world, std::slice::from_ref(&product), nth);
        evaluate::judged(prompt, text.trim_end(), None, |id, line| {
            evaluate::known(line).unwrap_or_else(|| {
                let mut verdicts = verdicts.iter();
                let verdict = verdicts.find(|(asked, _)| asked.as_str() == id).map(|(_, verdict)| verdict);
                *verdict.expect("the statement is about the task of this result") == Verdict::Pass
            })
        })
    }

    fn improve(&self, world: &World, prompt: &str, call: &str, by: Improver) -> String {
        let (text, skill) = page();
        let missed = missed(prompt);
        let nth = self.times(&skill.version().hex(), call);
        let now = line(&agents::improve(world, &skill, missed.iter(), (by, nth)));
        let path = only_skill().expect("there is a skill to improve").join("SKILL.md");
        fs::write(path, text.replace(&line(&skill), &now)).expect("the copy can be written");
        "{}".to_owned()
    }

    /// Returns how often something was worked on before this call. A repeated call counts once.
    fn times(&self, of: &str, call: &str) -> u32 {
        let folder = self.times.join(of);
        fs::create_dir_all(&folder).expect("the folder of the test can be written");
        let ours = folder.join(call);
        fs::write(&ours, call).expect("the folder of the test can be written");
        let is_ours = |nth: &u32| {
            let place = folder.join(nth.to_string());
            // The link is atomic: the file is complete as soon as it exists, and only one call can create it.
            fs::hard_link(&ours, &place).is_ok()
                || fs::read_to_string(&place).is_ok_and(|other| other == call)
        };
        (0..u32::MAX).find(is_ours).expect("nothing is done so often")
    }
}

const SKILL: &str = "Skill: ";
const PRODUCT: &str = "Product: ";

/// Returns the text of the skill's page and the skill that it states.
fn page() -> (String, Skill) {
    let skill = only_skill().expect("there is a skill");
    let text = fs::read_to_string(skill.join("SKILL.md")).expect("a skill has its page");
    let skill = stated(&text, SKILL);
    (text, skill)
}

fn line(skill: &Skill) -> String {
    format!("{SKILL}{}", serde_json::to_string(skill).expect("a skill has a JSON text"))
}

fn stated<T: DeserializeOwned>(text: &str, what: &str) -> T {
    let line = text.lines().find_map(|line| line.strip_prefix(what));
    let line = line.unwrap_or_else(|| panic!("no line begins with {what:?}: {text}"));
    serde_json::from_str(line).expect("what is stated is well formed")
}

/// Returns the ids of the statements in the improver's prompt, in order: `1. scenario-3/facet-5 (fail): ...`.
fn missed(prompt: &str) -> Vec<CriterionId> {
    let (_, list) = prompt.split_once(" criteria missed>>>\n").expect("something was missed");
    let (list, _) = list.split_once("<<<END ").expect("the list ends");
    let id = |line: &str| {
        let (number, rest) = line.split_once(". ")?;
        number.parse::<usize>().ok()?;
        Some(CriterionId::new(rest.split_once(" (")?.0.to_owned()))
    };
    list.lines().filter_map(id).collect()
}
