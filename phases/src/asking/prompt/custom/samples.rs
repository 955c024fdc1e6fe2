//! Sample values of a page, with and without its optional parts.

use serde::Serialize;
use serde_json::Value as Json;

use super::Page;
use crate::asking::prompt::{
    Asked, EarlierChange, EvaluateBrief, ExecuteBrief, ImproveBrief, Missed, Neighbour, TaskBrief,
};
use crate::asking::prompt::{evaluate, execute, improve, task};
use crate::base::delivery::Uses;
use crate::base::material::{Body, Folder, Material, Named};
use crate::judging::contract::Verdict;
use crate::judging::judgement::{Priority, Suggestion};
use crate::judging::rubric;
use crate::suites::scenario::Scenario;

/// In all text that a prompt fences, and only there.
pub(super) const ALIEN: &str = "text of somebody else";
const SEED: &str = "sample";

/// Returns the values of a page that has these of its optional parts, by their numbers.
pub(super) fn sample(page: Page, has: impl Fn(u32) -> bool) -> Json {
    match page {
        Page::Execute => executed(has),
        Page::Task => task_of(has),
        Page::Evaluate => evaluated(has),
        Page::Improve => improved(has),
    }
}

fn json(values: impl Serialize) -> Json {
    serde_json::to_value(values).expect("values have a JSON text")
}

fn folder(at: &str) -> Folder {
    let file =
        |path: &str| Material { path: path.into(), body: Body::Text(format!("{at}/{path}: {ALIEN}\n")) };
    Folder { at: at.into(), files: vec![file("SKILL.md"), file("more.md")] }
}

fn scenario() -> Scenario {
    Scenario {
        requirements: vec![ALIEN.into()],
        ..Scenario::new("sample".parse().expect("a plain name"), ALIEN)
    }
}

fn executed(has: impl Fn(u32) -> bool) -> Json {
    let (skill, input) = (folder("skill/second"), folder("input"));
    json(execute::values(&ExecuteBrief {
        skill: Named { name: "second", folder: &skill },
        position: if has(0) { (2, 3) } else { (1, 1) },
        scenario: &scenario(),
        upstream: has(0).then_some(Named { name: "first", folder: &input }),
        simplified: has(1),
        breach: has(2).then_some(ALIEN),
        seed: SEED,
    }))
}

fn task_of(has: impl Fn(u32) -> bool) -> Json {
    let input_args = if has(0) { "some arguments" } else { "" };
    json(task::values(&TaskBrief {
        call: has(1).then_some("skill"),
        scenario: &Scenario { input_args: input_args.into(), ..scenario() },
        input: has(2).then_some("input"),
        position: if has(2) { (2, 3) } else { (1, 1) },
    }))
}

fn evaluated(has: impl Fn(u32) -> bool) -> Json {
    let names = ["first", "second"];
    let [texts, made] = ["skill", "artifacts"].map(|at| names.map(|name| folder(&format!("{at}/{name}"))));
    let start = folder("start");
    let skills = [0, 1].map(|nth| Named { name: names[nth], folder: &texts[nth] });
    let artifacts = [0, 1].map(|nth| Named { name: names[nth], folder: &made[nth] });
    let members = if has(0) { 2 } else { 1 };
    let of_each = |part| if has(part) { members } else { 0 };
    json(evaluate::values(&EvaluateBrief {
        skills: &skills[..members],
        scenario: &scenario(),
        start: has(1).then_some(&start),
        artifacts: &artifacts[..of_each(2)],
        contract: &rubric::tune(),
        unused: &names[..of_each(3)],
        activity: &names.map(|name| (name, ALIEN))[..of_each(4)],
        nonce: "c0de0fth1scall",
        retry_error: has(5).then_some(ALIEN),
        seed: SEED,
    }))
}

fn improved(has: impl Fn(u32) -> bool) -> Json {
    let (contract, skill, produced) = (rubric::tune(), folder("skill/second"), folder("produced/second"));
    let asked = |nth: usize| Asked { id: contract.criteria[nth].id.clone(), question: ALIEN.into() };
    let unmet = || Missed { asked: asked(0), verdict: Verdict::Fail, evidence: ALIEN.into() };
    let unmet: Vec<Missed> = has(0).then(unmet).into_iter().collect();
    let met: Vec<Asked> = has(1).then(|| asked(1)).into_iter().collect();
    let suggestions: Vec<Suggestion> = has(2).then(suggestion).into_iter().collect();
    let change = [EarlierChange { summary: ALIEN.into(), outcome: ALIEN.into() }];
    let near = Neighbour { name: "near".into(), description: ALIEN.into(), files: vec!["a.md".into()] };
    json(improve::values(&ImproveBrief {
        skill: Named { name: "second", folder: &skill },
        opens_files: false,
        by_outcome: has(10),
        scenarios: &[&scenario(), &scenario()],
        produced: has(9).then_some((Named { name: "second", folder: &produced }, "sample")),
        unmet: &unmet,
        unfinished: &[("sample", ALIEN)][..usize::from(has(8))],
        met: &met,
        suggestions: &suggestions,
        kept: &change[..usize::from(has(11))],
        tried: &change[..usize::from(has(3))],
        before: has(4).then_some(&near),
        after: has(5).then_some(&near),
        retry_error: has(6).then_some(ALIEN),
        uses: Uses { used: 1, offered: 2 * usize::from(has(7)), ..Uses::default() },
        activity: &[("sample", ALIEN)][..usize::from(has(8))],
        seed: SEED,
    }))
}

fn suggestion() -> Suggestion {
    Suggestion {
        priority: Priority::High,
        member: None,
        target_file: "SKILL.md".into(),
        description: ALIEN.into(),
        rationale: ALIEN.into(),
        snippet: Some(ALIEN.into()),
    }
}
