use std::collections::BTreeSet;

use super::*;

fn criteria(template: Template) -> Criteria {
    Criteria::of(template, Weights::default(), template.thresholds())
}

/// Lists one rule per line, as the page of the original does.
fn listed(template: Template) -> String {
    let criteria = criteria(template);
    let rules = criteria.rules.iter();
    let lines: Vec<_> = rules.map(|rule| format!("{} {} {}", rule.id, rule.severity, rule.weight)).collect();
    lines.join("\n")
}

#[test]
fn the_rules_of_an_interface_are_those_of_the_original() {
    insta::assert_snapshot!(listed(Template::Api), @"
    a.correctness.endpoints fail 2
    a.correctness.schemas fail 2
    a.completeness.examples fail 2
    a.completeness.errors warn 1
    b.style.naming warn 1
    b.completeness.pagination warn 1
    b.completeness.auth fail 2
    b.quality.descriptions warn 1
    ");
}

#[test]
fn the_rules_of_code_are_those_of_the_original() {
    insta::assert_snapshot!(listed(Template::Code), @"
    a.correctness.compiles fail 2
    a.correctness.logic fail 2
    a.completeness.functions fail 2
    a.completeness.types warn 1
    b.quality.error-handling warn 1
    b.quality.logging warn 1
    b.style.conventions warn 1
    b.security.input-validation fail 2
    ");
}

#[test]
fn the_rules_of_documentation_are_those_of_the_original() {
    insta::assert_snapshot!(listed(Template::Docs), @"
    a.correctness.accuracy fail 2
    a.completeness.sections fail 2
    a.completeness.examples warn 1
    a.quality.clarity warn 1
    b.quality.structure warn 1
    b.completeness.cross-refs warn 1
    b.style.consistency warn 1
    b.quality.audience warn 1
    ");
}

#[test]
fn the_rules_of_configuration_are_those_of_the_original() {
    insta::assert_snapshot!(listed(Template::Config), @"
    a.correctness.syntax fail 2
    a.correctness.required fail 2
    a.completeness.env-vars warn 1
    a.security.no-secrets fail 2
    b.quality.defaults warn 1
    b.completeness.comments warn 1
    b.quality.portability warn 1
    b.security.permissions warn 1
    ");
}

#[test]
fn every_rule_says_in_sentences_what_holds_and_how_it_is_told() {
    for template in Template::ALL {
        let criteria = criteria(template);
        let ids: BTreeSet<_> = criteria.rules.iter().map(|rule| &rule.id).collect();
        assert_eq!(ids.len(), criteria.rules.len());
        for rule in &criteria.rules {
            for text in [&rule.description, &rule.check] {
                assert!(text.ends_with('.') && !text.contains("  ") && !text.contains('\n'), "{text}");
            }
            let breaks = rule.check.contains("rule is broken");
            assert!(breaks, "{} does not say what breaks it", rule.id);
        }
    }
}

#[test]
fn level_a_asks_for_its_own_rules_and_level_b_for_all() {
    for template in Template::ALL {
        let criteria = criteria(template);
        let own = if template == Template::Other { 0 } else { 4 };
        assert_eq!(criteria.active(Level::A).count(), own);
        assert!(criteria.active(Level::A).eq(criteria.at(Level::A)));
        assert!(criteria.active(Level::B).eq(&criteria.rules));
        for rule in criteria.at(Level::B) {
            assert!(rule.id.as_str().starts_with("b."), "{}", rule.id);
        }
    }
}

#[test]
fn prose_is_passed_with_less_than_the_others() {
    let points = |template: Template| {
        let thresholds = template.thresholds();
        (thresholds.at(Level::A).points(), thresholds.at(Level::B).points())
    };
    assert_eq!(points(Template::Docs), (75.0, 85.0));
    for template in [Template::Api, Template::Code, Template::Config] {
        assert_eq!(points(template), (80.0, 90.0));
    }
}

#[test]
fn the_id_follows_words_weights_and_thresholds() {
    let frozen = criteria(Template::Api);
    assert_eq!(frozen.id(), criteria(Template::Api).id());
    let ids: BTreeSet<_> = Template::ALL.map(|template| criteria(template).id()).into();
    assert_eq!(ids.len(), Template::ALL.len());

    let mut reworded = frozen.clone();
    reworded.rules[0].check = "Look.".into();
    assert_ne!(frozen.id(), reworded.id());

    let heavier = Criteria::of(Template::Api, Weights { info: 1, fail: 3, warn: 1 }, frozen.thresholds);
    assert_ne!(frozen.id(), heavier.id());

    let easier = Criteria::of(Template::Api, Weights::default(), Template::Docs.thresholds());
    assert_ne!(frozen.id(), easier.id());
}

#[test]
fn criteria_survive_their_journal_line() {
    let frozen = criteria(Template::Config);
    let line = serde_json::to_string(&frozen).unwrap();
    assert!(line.contains(r#""severity":"fail","weight":2,"level":"a""#), "{line}");
    let replayed: Criteria = serde_json::from_str(&line).unwrap();
    assert_eq!((&frozen, frozen.id()), (&replayed, replayed.id()));
}

#[test]
fn a_task_that_speaks_of_one_kind_of_text_is_recognised() {
    for (task, template) in [
        ("Design a REST API for bookings, with endpoints for rooms and guests", Template::Api),
        ("OpenAPI: users", Template::Api),
        ("Implement a Python function that merges two sorted lists", Template::Code),
        ("Write a README and a short tutorial for new users", Template::Docs),
        ("A docker-compose file with Postgres, in YAML", Template::Config),
        ("Nginx settings for two hosts", Template::Config),
        ("A how-to for the first day", Template::Docs),
        ("rest-api of the shop", Template::Api),
    ] {
        assert_eq!(Template::guess(task), Some(template), "{task}");
    }
}

#[test]
fn a_task_that_speaks_of_none_or_of_several_is_left_to_a_person() {
    for task in [
        "",
        "Make it better",
        "Write documentation for the API",
        "A script that reads the config",
        "encode classical",
    ] {
        assert_eq!(Template::guess(task), None, "{task}");
    }
}

#[test]
fn a_word_said_often_counts_once_and_a_majority_decides() {
    assert_eq!(Template::guess("api api api documentation guide tutorial"), Some(Template::Docs));
    assert_eq!(Template::guess("API, docs and config"), None);
}
