use super::samples::sample;
use super::*;
use crate::base::material::{Folder, Named};
use crate::judging::rubric;
use crate::suites::scenario::Scenario;

/// Our own pages, and how many optional parts each has.
const OURS: [(Page, &str, u32); 4] = [
    (Page::Execute, include_str!("../../../../prompts/execute.md"), 3),
    (Page::Task, include_str!("../../../../prompts/task.md"), 3),
    (Page::Evaluate, include_str!("../../../../prompts/evaluate.md"), 6),
    (Page::Improve, include_str!("../../../../prompts/improve.md"), 12),
];

/// The shortest accepted page of a judge.
const JUDGE: &str = "{{ reading }}\n\n{{ scenario }}\n\
    {% for skill in skills %}\n\n{{ skill.files }}\n{% endfor %}\n\
    {% for made in artifacts %}\n\n{{ made.files }}\n{% endfor %}\n\n\
    {% for group in dimensions %}{% for one in group.questions %}{{ one.id }}: {{ one.text }}\n{% endfor %}{% endfor %}\n\
    Repeat {{ nonce }}.\n";

fn refused(page: Page, text: &str) -> String {
    check(page, text).unwrap_err().to_string()
}

#[test]
fn our_own_pages_pass_the_check_and_say_the_same_when_they_are_a_persons() {
    for (page, text, count) in OURS {
        assert_eq!(check(page, text), Ok(()), "{page}");
        for parts in 0..1 << count {
            let values = sample(page, |part| parts & (1 << part) != 0);
            assert_eq!(
                render(page, text, &values).unwrap(),
                crate::asking::prompt::render(page.word(), &values),
                "{page}"
            );
        }
    }
}

#[test]
fn the_whole_prompt_of_the_page_of_docs_is_accepted() {
    let page = include_str!("../../../../../docs/prompts.md");
    let example = page.split("````markdown\n").nth(1).and_then(|rest| rest.split("````\n").next());
    assert_eq!(check(Page::Evaluate, example.expect("there is an example")), Ok(()));
}

#[test]
fn a_page_of_a_persons_own_is_what_is_said_and_others_stay_ours() {
    let mut prompts = Prompts::default();
    prompts.set(Page::Evaluate, JUDGE.to_owned());
    assert_eq!(check(Page::Evaluate, JUDGE), Ok(()));
    let (skill, scenario) = (Folder::default(), Scenario::new("haiku".parse().unwrap(), "Write a haiku"));
    let named = [Named { name: "poet", folder: &skill }];
    let brief = EvaluateBrief {
        skills: &named,
        scenario: &scenario,
        start: None,
        artifacts: &named,
        contract: &rubric::tune(),
        unused: &[],
        activity: &[],
        nonce: "n0nce",
        retry_error: None,
        seed: "seed",
    };
    let (own, ours) = (prompts.evaluate(&brief).unwrap(), Prompts::default().evaluate(&brief).unwrap());
    assert!(own.ends_with("\nRepeat n0nce.") && own != ours, "{own}");
    let task = TaskBrief { call: None, scenario: &scenario, input: None, position: (1, 1) };
    assert_eq!(prompts.task(&task), Prompts::default().task(&task));
    assert_eq!(prompts.pages().collect::<Vec<_>>(), [Page::Evaluate]);
}

#[test]
fn what_does_not_parse_or_names_what_is_not_there_is_told_with_its_line() {
    let unknown = format!("{JUDGE}\n{{% if rounds %}}x{{% endif %}}\n");
    let inner = JUDGE.replace("skill.files", "skill.text");
    let errors = [
        refused(Page::Evaluate, "# Judge\n{% if %}\n"),
        refused(Page::Evaluate, &unknown),
        refused(Page::Evaluate, &inner),
        refused(Page::Evaluate, "{% include 'other.md' %}"),
    ];
    insta::assert_snapshot!(errors.join("\n"), @"
    the prompt `evaluate`, line 2: syntax error: unexpected end of block
    the prompt `evaluate`, line 17: unknown variable `rounds`; known: activity, artifacts, dimensions, entries, is_chain, nonce, of_effect, reading, retry_error, scenario, skills, start, unused
    the prompt `evaluate`, line 6: undefined value: `skill.text`
    the prompt `evaluate`, line 1: cannot use `include`; a prompt has variables, comparisons, if, elif, else, endif, for, endfor, and the filters length, first, last, lower, upper, trim
    ");
}

#[test]
fn what_loses_what_a_page_needs_is_refused_with_all_that_it_needs() {
    let errors = [
        refused(Page::Evaluate, &JUDGE.replace("{{ nonce }}", "the code")),
        refused(Page::Evaluate, &JUDGE.replace("{{ nonce }}", "{% if is_chain %}{{ nonce }}{% endif %}")),
        refused(Page::Evaluate, &JUDGE.replace("{{ one.text }}", "")),
        refused(Page::Execute, "{{ files }}\n{{ scenario }}"),
        refused(Page::Task, "{{ task }}"),
        refused(Page::Task, "{{ task }}\n{% if call %}{{ call }}{% endif %}"),
        refused(Page::Improve, "{{ reading }}\n\n{{ files }}\n{% if unmet %}\n{{ unmet }}\n{% endif %}"),
    ];
    insta::assert_snapshot!(errors.join("\n"), @"
    the prompt `evaluate`: it does not always contain `nonce`; it must contain reading, scenario, skills[].files, artifacts[].files, dimensions[].questions[].id, dimensions[].questions[].text, nonce
    the prompt `evaluate`: it does not always contain `nonce`; it must contain reading, scenario, skills[].files, artifacts[].files, dimensions[].questions[].id, dimensions[].questions[].text, nonce
    the prompt `evaluate`: it does not always contain `dimensions[].questions[].text`; it must contain reading, scenario, skills[].files, artifacts[].files, dimensions[].questions[].id, dimensions[].questions[].text, nonce
    the prompt `execute`: it does not always contain `reading`; it must contain reading, files, scenario
    the prompt `task`: it does not always contain `call`; it must contain call, task
    the prompt `task`: it does not start with `call`, which calls the skill
    the prompt `improve`: it does not always contain `at`; it must contain reading, at, files, unmet
    ");
}

#[test]
fn what_is_in_a_fence_cannot_leave_it() {
    for hostile in [
        "{{ artifacts[0].files[30:] if artifacts else '' }}",
        "{{ scenario | upper }}",
        "Here: {{ scenario }}",
        "{{ scenario }} and so on",
        "{{ scenario[1:] }}",
        "{{ skills }}",
    ] {
        let error = refused(Page::Evaluate, &format!("{JUDGE}\n{hostile}\n"));
        assert!(error.contains("takes a fenced value apart"), "{hostile}: {error}");
    }
}

#[test]
fn a_page_that_comes_to_no_end_is_an_error() {
    let nested = "{% for a in scenario %}{% for b in scenario %}{% for c in scenario %}{% for d in scenario %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}";
    assert!(refused(Page::Evaluate, nested).contains("engine ran out of fuel"));
    let long = format!(
        "{{% for a in scenario %}}{{% for b in scenario %}}{}{{% endfor %}}{{% endfor %}}",
        "x".repeat(20_000)
    );
    assert!(refused(Page::Evaluate, &long).contains("write"), "{}", refused(Page::Evaluate, &long));
}

#[test]
fn the_page_of_docs_tells_all_that_each_prompt_is_given_and_has_to_show() {
    let page = include_str!("../../../../../docs/prompts.md");
    for which in Page::ALL {
        let section =
            page.split(&format!("\n## `{which}`\n")).nth(1).and_then(|rest| rest.split("\n## ").next());
        let rows = section
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut names: Vec<&str> = rows.collect();
        names.sort_unstable();
        assert_eq!(names, which.variables().iter().map(String::as_str).collect::<Vec<_>>(), "{which}");
        let least: Vec<_> = which.least().iter().map(|path| format!("`{path}`")).collect();
        let must = format!("It must contain {}.", least.join(", "));
        assert!(section.is_some_and(|section| section.contains(&must)), "{which}: {must}");
    }
}
