//! Aliases, ids of runs and hashes.

use proptest::prelude::*;

use super::*;

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

fn alias(name: &str) -> Alias {
    Alias::parse(name).unwrap()
}

#[test]
fn a_task_is_named_by_its_first_words() {
    let named = |task: &str| Alias::of(task).to_string();
    assert_eq!(named("OpenAPI 3.1 spec + DDD notes"), "openapi-3-1-spec-ddd-notes");
    assert_eq!(named("Don't écrire: the naïve Façade"), "dont-ecrire-the-naive-facade");
    assert_eq!(named("  ../../etc/passwd  "), "etc-passwd");
    assert_eq!(named("--all of it"), "all-of-it");
    assert_eq!(named(&"word ".repeat(1000)), "word-word-word-word-word-word-word-word");
    assert_eq!(named(&"x".repeat(1000)), "x".repeat(40));
}

#[test]
fn what_the_letters_do_not_tell_a_hash_tells_apart() {
    let named = |task: &str| Alias::of(task).to_string();
    assert_eq!(named(""), "task-e3b0c442");
    assert_eq!(named("..."), format!("task-{}", short(&artifact_hash(b"..."))));
    assert_eq!(named("Go"), format!("go-{}", short(&artifact_hash(b"Go"))));
    let russian = named("Спецификация API курсов");
    assert!(russian.starts_with("api-"), "{russian}");
    assert_ne!(russian, named("Документация API курсов"));
}

#[test]
fn nothing_is_an_alias_that_could_be_a_path_an_option_or_hidden() {
    let long = "a".repeat(65);
    for bad in ["", "ab", &long, "..", "a/b", "a.b", ".abc", "-abc", "abc-", "Abc", "a b", "äbc", "abc\n"] {
        assert_eq!(Alias::parse(bad), None, "{bad:?}");
    }
    for good in ["abc", "a-b", "a--b", "123", &long[1..]] {
        assert!(Alias::parse(good).is_some(), "{good:?}");
    }
}

#[test]
fn a_run_is_named_by_task_and_time_and_tells_its_task() {
    let id = run_id(&alias("courses-api-ddd"), at("2026-02-08T02:03:04.9+01:00"));
    assert_eq!(id, "courses-api-ddd-20260208-010304");
    assert_eq!(Alias::of_run(&id), Some(alias("courses-api-ddd")));
    for odd in ["", "courses-api", "courses-20260208", "courses-2026-010304", "x-20260208-010304", "a-b-c-d"]
    {
        assert_eq!(Alias::of_run(odd), None, "{odd}");
    }
}

#[test]
fn a_taken_name_gets_a_number_and_stays_an_alias() {
    assert_eq!(alias("courses").numbered(2).as_str(), "courses-2");
    assert_eq!(alias(&"a".repeat(64)).numbered(12).as_str(), format!("{}-12", "a".repeat(61)));
}

#[test]
fn a_hash_is_the_sha_256_and_people_are_shown_how_it_begins() {
    let hash = artifact_hash(b"abc");
    assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!((short(&hash), short("odd"), short("öööööö")), ("ba7816bf", "odd", "öööö"));
}

proptest! {
    #[test]
    fn every_task_has_an_alias(task in ".{0,80}", number in any::<u32>()) {
        let alias = Alias::of(&task);
        prop_assert_eq!(Alias::parse(alias.as_str()), Some(alias.clone()));
        let numbered = alias.numbered(number);
        prop_assert_eq!(Alias::parse(numbered.as_str()), Some(numbered));
        prop_assert_eq!(Alias::of_run(&run_id(&alias, Timestamp::UNIX_EPOCH)), Some(alias));
    }
}
