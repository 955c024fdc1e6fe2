use serde_json::json;

use super::*;
use crate::base::material::Body;
use crate::judging::contract::Verdict;
use crate::judging::judgement::{self, Ask, Judgement, VerdictShape};
use crate::judging::rubric;
use crate::skills::lint::{File, Files};

const HEAD: &str =
    "---\nname: poet\ndescription: Writes poems. Use when somebody asks for a poem.\n---\n\n# Poet\n\n";

fn skill(body: &str, more: &[(&str, &str)]) -> Files {
    let main = [("SKILL.md", format!("{HEAD}{body}"))];
    let more = more.iter().map(|(path, text)| (*path, (*text).to_owned()));
    let files = main.into_iter().chain(more);
    let file =
        |(path, text): (&str, String)| File { path: path.into(), body: Body::Text(text), executable: false };
    Files::new("poet", files.map(file))
}

fn member(name: &str) -> Judged {
    let skill = Folder { name: name.into(), at: format!("skill/{name}") };
    Judged { skill, artifacts: Some(format!("artifacts/{name}")) }
}

fn ran(exit: Option<i32>) -> Ran {
    Ran { command: vec!["sh".into(), "run.sh".into()], exit }
}

/// Returns the engine's reading of the answer.
fn judged(members: &[(Judged, Files, Option<Ran>)]) -> Judgement {
    let contract = rubric::tune();
    let answer = judge("n0nce", &contract, members).to_string();
    let names: Vec<_> = members.iter().map(|(judged, ..)| judged.skill.name.as_str()).collect();
    let members = if names.len() > 1 { names } else { Vec::new() };
    judgement::read(
        &answer,
        &Ask {
            contract: &contract,
            nonce: "n0nce",
            members: &members,
            at_fault: &[],
            shape: VerdictShape::Evidenced,
        },
    )
    .unwrap()
}

fn verdicts(judgement: &Judgement, wanted: Verdict) -> Vec<&str> {
    let found = judgement.whole.findings.iter().filter(|finding| finding.verdict == wanted);
    found.map(|finding| finding.criterion.as_str()).collect()
}

#[test]
fn what_structure_cannot_show_stays_unverified() {
    let judgement = judged(&[(member("poet"), skill("1. Write.\n", &[]), None)]);
    assert_eq!(
        verdicts(&judgement, Verdict::Pass),
        [
            "clarity.purpose",
            "completeness.parts",
            "correctness.agreement",
            "efficiency.redundancy",
            "efficiency.context"
        ]
    );
    assert_eq!(verdicts(&judgement, Verdict::Unverified).len(), 14);
    assert!(judgement.claim.is_none(), "it claims no number of its own");
}

#[test]
fn an_error_is_a_fail_and_a_warning_a_partial() {
    let files = skill(
        "See [a](b.md).\n\n```sh\nscripts/go.sh --all\n```\n",
        &[("scripts/go.sh", "#!/bin/sh\n"), ("left.md", "x\n")],
    );
    let judgement = judged(&[(member("poet"), files, None)]);
    assert_eq!(verdicts(&judgement, Verdict::Fail), ["completeness.parts"]);
    assert_eq!(verdicts(&judgement, Verdict::Partial), ["correctness.facts", "efficiency.context"]);
    let evidence = judgement.whole.findings.iter().find(|one| one.verdict == Verdict::Fail).unwrap().evidence;
    assert!(evidence.starts_with("SKILL.md:8: ") && evidence.ends_with("(link-dangling)"), "{evidence}");
    assert_eq!(&*judgement.weaknesses[0], evidence);
}

#[test]
fn success_is_how_every_members_command_ended() {
    let success = |exits: &[Option<Ran>]| {
        let members: Vec<_> = exits
            .iter()
            .zip(["one", "two"])
            .map(|(exit, name)| (member(name), skill("1. Write.\n", &[]), exit.clone()))
            .collect();
        let judgement = judged(&members);
        let finding =
            judgement.whole.findings.iter().find(|one| one.criterion.as_str() == "effectiveness.success");
        finding.unwrap().verdict
    };
    assert_eq!(success(&[None]), Verdict::Unverified);
    assert_eq!(success(&[Some(ran(Some(0)))]), Verdict::Pass);
    assert_eq!(success(&[Some(ran(Some(1)))]), Verdict::Fail);
    assert_eq!(success(&[Some(ran(None))]), Verdict::Fail, "a signal is no success");
    assert_eq!(success(&[Some(ran(Some(0))), Some(ran(Some(0)))]), Verdict::Pass);
    assert_eq!(success(&[Some(ran(Some(0))), None]), Verdict::Fail, "a member that left nothing has not run");
}

#[test]
fn each_member_of_a_chain_is_judged_for_itself() {
    let (sound, broken) = (skill("1. Write.\n", &[]), skill("See [a](b.md).\n", &[]));
    let judgement = judged(&[(member("sound"), sound, None), (member("broken"), broken, None)]);
    let score = |name: &str| judgement.members[name].scored.composite.unwrap();
    assert!(score("sound") > score("broken"));
    assert_eq!(judgement.whole.scored.composite, Some(score("broken")), "a chain is as sound as all of it");
}

#[test]
fn what_it_cannot_repair_it_suggests() {
    let body = "Read `references/a.md`.\n\n```sh\nsh references/rules.sh\n```\n";
    let files = skill(body, &[("references/a.md", "A.\n")]);
    let judgement = judged(&[(member("poet"), files, None)]);
    assert_eq!(judgement.suggestions.len(), 1);
    assert!(judgement.suggestions[0].description.contains("references/rules.sh"));
}

fn improved(files: &Files, tried: &[&str]) -> Option<String> {
    let tried: Vec<String> = tried.iter().map(|text| (*text).to_owned()).collect();
    let improved = improve(&rubric::tune(), files, &tried)?;
    Some(improved.report["summary"].as_str().unwrap().to_owned())
}

#[test]
fn the_repair_that_gains_most_comes_first_and_none_comes_twice() {
    let files = skill(
        "See [the rules](rules.md).\n\n```sh\nscripts/go --all\n```\n",
        &[("references/rules.md", "# Rules\n\nRhyme. \n"), ("scripts/go", "#!/bin/sh\n")],
    );
    let first = improved(&files, &[]).unwrap();
    assert!(first.starts_with("link-dangling: "), "{first}");
    let second = improved(&files, &[&first]).unwrap();
    assert!(second.starts_with("script-mode: "), "{second}");
    assert_eq!(improved(&files, &[&second, &first]), None);
}

#[test]
fn one_round_makes_the_repairs_of_one_rule() {
    let files = skill("See [the rules](rules.md). \n", &[("references/rules.md", "# Rules\n\nRhyme. \n")]);
    let Improved { files, report } = improve(&rubric::tune(), &files, &[]).unwrap();
    let Body::Text(text) = &files.get("SKILL.md").unwrap().body else { panic!("no text") };
    assert!(text.ends_with("See [the rules](references/rules.md). \n"), "{text}");
    assert_eq!(report["changes"][0]["file"], "SKILL.md");
}

#[test]
fn a_repair_of_white_space_alone_stands_in_no_others_way() {
    let broken = skill("See [it](refs/it.md).\r\n", &[("references/it.md", "# It\r\n\r\nIs.  \r\n")]);
    assert!(improved(&broken, &[]).is_some_and(|summary| summary.starts_with("link-dangling")));
    let blanks = skill("See [it](references/it.md).\r\n", &[("references/it.md", "# It\r\n\r\nIs.  \r\n")]);
    assert!(
        crate::skills::lint::lint(&blanks).iter().any(|diagnostic| diagnostic.rule.id() == "line-endings")
    );
    assert_eq!(improved(&blanks, &[]), None);
}

#[test]
fn a_name_is_never_changed() {
    let files = skill("1. Write.\n", &[]);
    let elsewhere = Files::new("other", files.files().iter().cloned());
    assert!(
        crate::skills::lint::lint(&elsewhere)
            .iter()
            .any(|diagnostic| diagnostic.rule == crate::skills::lint::Rule::NameFolder)
    );
    assert_eq!(improved(&elsewhere, &[]), None);
}

#[test]
fn a_walk_tells_what_is_loaded_when_and_what_is_not() {
    let files = skill(
        "First `references/b.md`, then [a](references/a.md) and [c](c.md).\n",
        &[
            ("references/a.md", "# A\n\nSee `references/d.md`.\n"),
            ("references/b.md", "# B\n"),
            ("references/d.md", "# D\n"),
            ("zz | yy\n.dat", "x"),
        ],
    );
    insta::assert_snapshot!(walk("poet", &files), @r"
    # How an agent loads `poet`

    Nothing was run: the built-in agent only read the files. Tokens are estimated.

    | when | what | tokens | so far |
    |---|---|---:|---:|
    | always | name and description | 14 | 14 |
    | picked | SKILL.md | 19 | 33 |
    | named | references/b.md | 1 | 34 |
    | named | references/a.md | 7 | 41 |
    | mentioned by a mentioned file | references/d.md | 1 | 42 |

    ## Mentioned but missing

    - SKILL.md: broken link to `c.md`

    ## Never mentioned

    - zz \| yy .dat
    ");
}

#[test]
fn a_task_survives_its_json() {
    let task =
        Task::Evaluate { verdict_of: "n".into(), contract: rubric::tune(), members: vec![member("poet")] };
    let text = serde_json::to_string(&task).unwrap();
    assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), task);
    assert!(serde_json::from_value::<Task>(json!({"task": "evaluate"})).is_err());
}

#[test]
fn its_page_tells_which_rules_answer_which_criterion() {
    let page = include_str!("../../../../docs/offline.md");
    for line in judge::published(&rubric::tune()) {
        assert!(page.contains(&line), "docs/offline.md lacks:\n{line}");
    }
}
