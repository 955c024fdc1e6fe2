//! Sample values of a page in all forms: each optional value is present in some samples and absent in others.

use serde::Serialize;
use serde_json::Value as Json;

use super::Page;
use crate::asking::prompt::{
    Asked, EvaluateBrief, ExecuteBrief, FailedChange, ImproveBrief, Missed, Neighbour, TaskBrief,
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

pub(super) fn samples(page: Page) -> Vec<Json> {
    match page {
        Page::Execute => executes(),
        Page::Task => tasks(),
        Page::Evaluate => evaluates(),
        Page::Improve => improves(),
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

fn executes() -> Vec<Json> {
    let (skill, input, scenario) = (folder("skill/second"), folder("input"), scenario());
    let upstream = Named { name: "first", folder: &input };
    let places = [((1, 1), None), ((1, 3), None), ((2, 3), Some(upstream)), ((3, 3), Some(upstream))];
    let tries = [(false, None), (true, None), (false, Some(ALIEN))];
    let each = places.into_iter().flat_map(|place| tries.map(|again| (place, again)));
    each.map(|((position, upstream), (simplified, breach))| {
        let skill = Named { name: "second", folder: &skill };
        json(execute::values(&ExecuteBrief {
            skill,
            position,
            scenario: &scenario,
            upstream,
            simplified,
            breach,
            seed: SEED,
        }))
    })
    .collect()
}

fn tasks() -> Vec<Json> {
    let (plain, scenario) = (scenario(), Scenario { input_args: "some arguments".into(), ..scenario() });
    let each = [&plain, &scenario].into_iter().flat_map(|scenario| {
        [None, Some("skill")].into_iter().flat_map(move |call| {
            let places = [(None, (1, 1)), (None, (1, 2)), (Some("input"), (2, 3)), (Some("input"), (3, 3))];
            places.map(|(input, position)| TaskBrief { call, scenario, input, position })
        })
    });
    each.map(|brief| json(task::values(&brief))).collect()
}

fn evaluates() -> Vec<Json> {
    let (contract, scenario) = (rubric::tune(), scenario());
    let names = ["first", "second", "third"];
    let texts = names.map(|name| folder(&format!("skill/{name}")));
    let made = names.map(|name| folder(&format!("artifacts/{name}")));
    let of_each = |folders| -> Vec<Named<'_>> {
        let pairs = names.iter().zip(folders);
        pairs.map(|(name, folder)| Named { name, folder }).collect()
    };
    let (skills, artifacts) = (of_each(&texts), of_each(&made));
    let each = [(1, 1), (1, 0), (2, 2), (3, 3)].into_iter();
    let each = each.flat_map(|counts| [None, Some(ALIEN)].map(|retry_error| (counts, retry_error)));
    let each = each.flat_map(|(counts, again)| [0, counts.0].map(|unused| (counts, again, unused)));
    let start = folder("start");
    let each = each.flat_map(|sample| [None, Some(&start)].map(|start| (sample, start)));
    let activity = names.map(|name| (name, ALIEN));
    let each = each.flat_map(|(sample, start)| [0, sample.0.0].map(|acted| (sample, start, acted)));
    each.map(|(((skills_shown, made), retry_error, unused), start, acted)| {
        json(evaluate::values(&EvaluateBrief {
            skills: &skills[..skills_shown],
            scenario: &scenario,
            start,
            artifacts: &artifacts[..made],
            contract: &contract,
            unused: &names[..unused],
            activity: &activity[..acted],
            nonce: "c0de0fth1scall",
            retry_error,
            seed: SEED,
        }))
    })
    .collect()
}

/// The number of an improver's optional values, each a bit of the sample's number.
const PARTS: u32 = 11;

fn improves() -> Vec<Json> {
    (0..1 << PARTS).map(|parts| improved(|part| parts & (1 << part) != 0)).collect()
}

fn improved(has: impl Fn(u32) -> bool) -> Json {
    let (contract, skill, produced) = (rubric::tune(), folder("skill/second"), folder("produced/second"));
    let asked = |nth: usize| Asked { id: contract.criteria[nth].id.clone(), question: ALIEN.into() };
    let unmet = || Missed { asked: asked(0), verdict: Verdict::Fail, evidence: ALIEN.into() };
    let unmet: Vec<Missed> = has(0).then(unmet).into_iter().collect();
    let met: Vec<Asked> = has(1).then(|| asked(1)).into_iter().collect();
    let suggestions: Vec<Suggestion> = has(2).then(suggestion).into_iter().collect();
    let tried = FailedChange { summary: ALIEN.into(), outcome: ALIEN.into() };
    let near = Neighbour { name: "near".into(), description: ALIEN.into(), files: vec!["a.md".into()] };
    json(improve::values(&ImproveBrief {
        skill: Named { name: "second", folder: &skill },
        by_outcome: has(10),
        scenarios: &[&scenario(), &scenario()],
        produced: has(9).then_some((Named { name: "second", folder: &produced }, "sample")),
        unmet: &unmet,
        unfinished: &[("sample", ALIEN)][..usize::from(has(8))],
        met: &met,
        suggestions: &suggestions,
        tried: has(3).then_some(tried).as_slice(),
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
