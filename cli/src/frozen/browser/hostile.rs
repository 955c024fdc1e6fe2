//! Runs whose texts try to be code: nothing of them runs, loads, leads away or becomes an element.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::judging::judgement::Finding;
use skilltune_phases::loops::tune::{Answer, Kept, Outcome, Plan, Run, Step, Trial};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::skills::edit::{Change, Danger, DangerClass, EditKind, EditReport};
use skilltune_phases::suites::checks::{Check, CheckResult, How, Times};
use skilltune_phases::suites::demand::Demand;
use tempfile::TempDir;

use super::checks::{HEIGHT, LARGEST, Look, REPORT, WIDE, data_pages, script};
use crate::frozen::run::{write_pages, write_run};
use crate::frozen::stored::parse;
use crate::frozen::{divided, stored_runs};
use crate::loops::tune::world::{failed, judged, plan, play, scored};

/// Runs of each loop with many kinds of texts.
const STORED: [&str; 10] = [
    "tune-graded",
    "tune-drafts",
    "tune-blocked",
    "tune-chain",
    "compare-regressed",
    "gan-escalated",
    "reflex-last-iteration",
    "evolve-layers",
    "review-proved",
    "expert-answered",
];

const TEXT: &str = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"><svg onload=\
    window.hacked=1>'><iframe src=http://test.invalid></iframe></style><style>*{background:url(http://test.invalid/c)}\
    </style><a href=javascript:window.hacked=1>x</a> [a](javascript:window.hacked=1) ![b](http://test.invalid/b.png) \
    **bold** `code` ``two`` <!-- {{ 7*7 }} {% raw %} &lt;b&gt; &#60;b> \u{202e}\u{2066}\u{200f}\u{1b}[31m\u{7}\u{9b}\0 \
    </td></tr></table></details></main> | cell | ${7*7} javascript:window.hacked=1";
/// A file, a skill or a scenario may have this name.
const NAME: &str = "<img src=x onerror=window.hacked=1>\"'`{{7}}\u{202e}\u{1b}<svg onload=window.hacked=1>";
/// The texts that have to be on the pages, so that something was tried.
const SHOWN: [&str; 2] = ["<script>window.hacked=1", "{{ 7*7 }}"];
const LINE: usize = 10 << 20;

/// Words for the texts of a run.
struct Words {
    text: String,
    name: String,
}

fn hostile() -> Words {
    Words { text: TEXT.to_owned(), name: NAME.to_owned() }
}

/// Returns words that are as long, and mean nothing.
fn plain() -> Words {
    let plain =
        |text: &str| text.chars().map(|c| if c.is_alphanumeric() || c == ' ' { c } else { 'x' }).collect();
    Words { text: plain(TEXT), name: plain(NAME) }
}

#[test]
fn texts_of_stored_runs_stay_texts() {
    let Some(mut look) = Look::new() else { return };
    let place = TempDir::new().unwrap();
    for (name, path) in stored_runs().into_iter().filter(|(name, _)| STORED.contains(&&**name)) {
        let (given, _) = divided(parse(&fs::read_to_string(path).unwrap()));
        let written = [hostile(), plain()].into_iter().zip(["hostile", "plain"]).map(|(words, kind)| {
            let project = place.path().join(format!("{name}-{kind}"));
            fs::create_dir(&project).unwrap();
            write_pages(&given, &project, |sentence| format!("{sentence} {}", words.text))
        });
        let written: Vec<_> = written.collect();
        compare(&mut look, &name, &written[0], &written[1]);
    }
    look.finish();
}

#[test]
fn names_files_quotes_and_long_lines_stay_texts() {
    let Some(mut look) = Look::new() else { return };
    let places = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let written = places.iter().zip([hostile(), plain()]).map(|(place, words)| written(place.path(), &words));
    let written: Vec<_> = written.collect();
    compare(&mut look, "a hostile run", &written[0], &written[1]);
    look.finish();
}

/// Opens the pages of a hostile run, and compares their elements with those of the same run with plain words.
fn compare(look: &mut Look, name: &str, hostile: &Path, plain: &Path) {
    let mut shown = String::new();
    for page in [vec![REPORT.to_owned()], data_pages(hostile)].concat() {
        let at = format!("{name}: {page}");
        let bytes = fs::metadata(hostile.join(&page)).map_or(u64::MAX, |meta| meta.len());
        if bytes > LARGEST {
            look.note(&at, [format!("it has {bytes} bytes")]);
            continue;
        }
        look.chromium.resize(WIDE, HEIGHT);
        let mut counted = |folder: &Path| -> BTreeMap<String, usize> {
            look.chromium.open(folder, &page);
            let elements = look.chromium.evaluate(&script("elements()"));
            serde_json::from_value(elements).unwrap()
        };
        let (without, with) = (counted(plain), counted(hostile));
        let more: Vec<_> = with.iter().filter(|(name, count)| without.get(*name) != Some(count)).collect();
        look.note(
            &at,
            (!more.is_empty()).then(|| format!("its text makes elements: {more:?} instead of {without:?}")),
        );
        let text = look.read("all()");
        let unseen = text.chars().filter(|&c| is_unseen(c)).take(5).collect::<Vec<_>>();
        look.note(&at, (!unseen.is_empty()).then(|| format!("it has {unseen:?}")));
        shown += &text;
        for call in ["dangers()".to_owned(), format!("use({})", json!(TEXT)), "wide()".to_owned()] {
            let found = look.read(&call);
            look.note(&at, (!found.is_empty()).then(|| format!("it has {found}")));
        }
        let hacked = look.chromium.evaluate("typeof window.hacked");
        look.note(&at, (hacked != "undefined").then(|| "its text runs".to_owned()));
        let faults = look.chromium.take_faults();
        look.note(&at, faults);
    }
    let absent = SHOWN.iter().filter(|text| !shown.contains(**text));
    look.note(name, absent.map(|text| format!("no page shows {text}")));
}

/// Whether a character has an effect that a reader does not see.
fn is_unseen(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Plays a run with these words in every text, and writes its pages.
fn written(project: &Path, words: &Words) -> PathBuf {
    let home = Home::of(project);
    home.create().unwrap();
    let objects = Objects::at(home.objects());
    let run = played(&objects, words);
    write_run(&objects, &home.run(&run.plan.run), &run)
}

fn played(objects: &Objects, words: &Words) -> Run {
    let mut rest = scored(&[50; 4], &[50; 4]);
    play(planned(objects, words), |run, step| {
        answer(objects, words, run, step).unwrap_or_else(|| rest(run, step))
    })
    .run
}

fn planned(objects: &Objects, words: &Words) -> Plan {
    let Words { text, name } = words;
    let mut plan = plan(&[name], 3);
    plan.task.target.members[0].start = files(objects, words, "start");
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.id = format!("{name}{nth}").parse().unwrap();
        scenario.description = format!("{text} {nth}");
        scenario.requirements = vec![text.clone()];
        scenario.input_args.clone_from(text);
        scenario.success_criteria.clone_from(text);
        scenario.expected = Some(text.as_str().into());
        scenario.tags = vec![text.as_str().into()];
        let demand = |nth: usize, how| Demand::new(format!("{name}{nth}").parse().unwrap(), how);
        let check = Check::File { path: name.as_str().into(), times: Times::ONCE_OR_MORE };
        let question = |nth: usize| How::Question { text: format!("{text} {nth}").into() };
        scenario.demands = vec![demand(0, question(0)), demand(1, question(1)), demand(2, How::Check(check))];
    }
    for role in [Role::EXECUTOR, Role::EVALUATOR, Role::IMPROVER] {
        let cast = plan.roles.of_mut(&role);
        (cast.agent, cast.model) = (text.clone(), Some(text.clone()));
    }
    plan
}

/// Stores a folder with hostile names and texts, and with a line of 10 MB.
fn files(objects: &Objects, Words { text, name }: &Words, what: &str) -> TreeId {
    let page = format!("---\nname: x\ndescription: {text}\n---\n\n{what}\n{text}\n").replace('\0', "");
    let line = format!("{what} {}", "x".repeat(LINE));
    let files = [("SKILL.md", page.as_bytes()), (name, page.as_bytes()), ("large.md", line.as_bytes())];
    objects.put_files(&files).unwrap()
}

/// Answers with these words. The start meets nothing, and its last trials fail; a draft meets all but one statement.
fn answer(objects: &Objects, words: &Words, run: &Run, step: &Step) -> Option<Outcome> {
    let text = words.text.as_str();
    let is_start = |skill: &TreeId| run.candidate(run.start()).is_some_and(|start| start.trees[0] == *skill);
    let outcome = match step {
        Step::Exercise { skill, trial: Trial { scenario: 2, ordinal: 1.., .. }, .. } if is_start(skill) => {
            failed(FailureKind::TimedOut, text)
        }
        Step::Exercise { skill, trial, .. } => {
            let long = if trial.scenario == 0 { "y".repeat(LINE) } else { String::new() };
            let left = files(objects, words, if is_start(skill) { "by the start" } else { "by a draft" });
            Ok(Answer::Exercised {
                artifacts: left,
                files: 3,
                skill: None,
                digest: Some(format!("{text}\n{long}").into()),
                kept: Some(Kept { left, evidence: left, began: None }),
                opened: Some(text.into()),
            })
        }
        Step::Inspect { trial, member, .. } => {
            let checks = run.plan.task.checks_of(trial.scenario, *member);
            let missed = |(check, _)| CheckResult { check, met: Some(false), details: text.into() };
            Ok(Answer::Checked(checks.map(missed).collect()))
        }
        Step::Grade { candidate, trial, .. } => Ok(graded(words, run, *candidate == run.start(), *trial)),
        Step::Improve { round, .. } => Ok(Answer::Improved {
            tree: files(objects, words, &format!("draft {round}")),
            report: Box::new(EditReport {
                summary: Some(text.into()),
                changes: vec![Change { priority: None, description: text.into(), file: Some(text.into()) }],
                skipped: vec![text.into()],
            }),
            kinds: vec![EditKind::Wording],
            dangers: vec![Danger {
                path: words.name.as_str().into(),
                line: Some(1),
                class: DangerClass::Network,
                shown: text.into(),
            }],
        }),
        _ => return None,
    };
    Some(outcome)
}

fn graded(words: &Words, run: &Run, is_start: bool, trial: Trial) -> Answer {
    let Ok(Answer::Judged(mut judgement)) = judged(run, 50) else { unreachable!("it is judged") };
    let scenario = &run.plan.task.scenarios[trial.scenario];
    let asked = scenario.demands.iter().filter(|demand| demand.how.question().is_some());
    let ids: Vec<_> = asked.map(|demand| scenario.criterion(demand)).collect();
    let long = if trial.scenario == 0 { "z".repeat(LINE) } else { String::new() };
    let evidence = format!("{}\n{long}", words.text);
    let finding = |(nth, criterion)| {
        let verdict = if is_start || nth == 1 { Verdict::Fail } else { Verdict::Pass };
        Finding { criterion, verdict, evidence: &evidence }
    };
    judgement.whole.findings = ids.iter().enumerate().map(finding).collect();
    let text: Box<str> = words.text.as_str().into();
    judgement.strengths = vec![text.clone()];
    judgement.weaknesses = vec![text.clone()];
    for suggestion in &mut judgement.suggestions {
        suggestion.target_file = text.clone();
        suggestion.description = text.clone();
        suggestion.rationale = text.clone();
        suggestion.snippet = Some(text.clone());
    }
    Answer::Judged(judgement)
}
