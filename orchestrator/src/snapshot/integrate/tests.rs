use super::super::census::LossKind;
use super::super::manifest::Node;
use super::super::path::RelPath;
use super::super::trees::Place;
use super::*;

mod random;

/// Stores files. The text has a line for each word.
fn of_words(place: &Place, files: &[(&str, &str)]) -> TreeId {
    let text = |words: &str| words.split_whitespace().flat_map(|word| [word, "\n"]).collect::<String>();
    let files: Vec<(&str, String)> = files.iter().map(|(path, words)| (*path, text(words))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    place.objects.put_files(&files).unwrap()
}

fn words_of(place: &Place, tree: TreeId) -> Vec<(String, String)> {
    let manifest = place.objects.manifest(tree).unwrap();
    let file = |entry: &super::super::manifest::Entry| {
        let Node::File { blob, .. } = &entry.node else { panic!("the tests have only files") };
        let text = String::from_utf8(place.objects.read(*blob).unwrap()).unwrap();
        (entry.path.to_string(), text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    manifest.entries().iter().map(file).collect()
}

fn work(task: usize, from: TreeId, made: TreeId) -> Work {
    Work { task, from, made, replaces: Vec::new() }
}

/// Returns for each file in which the last work deletes lines of others: the path, the tasks, and the first line.
fn deletions(place: &Place, versions: &[TreeId], made: TreeId) -> Vec<(String, Vec<usize>, String)> {
    let chain = versions.windows(2).enumerate();
    let chain: Vec<Accepted> =
        chain.map(|(task, pair)| Accepted { task, before: pair[0], after: pair[1] }).collect();
    let from = *versions.last().unwrap();
    let all = deleted_lines(&place.objects, &chain, from, made, &|_| false).unwrap();
    all.into_iter().map(|one| (one.path.to_string(), one.tasks, one.line.into())).collect()
}

/// The same for versions of one file.
fn deletions_of(versions: &[&str]) -> Vec<(String, Vec<usize>, String)> {
    let place = Place::new();
    let trees: Vec<TreeId> = versions.iter().map(|words| of_words(&place, &[("f", words)])).collect();
    let (made, before) = trees.split_last().unwrap();
    deletions(&place, before, *made)
}

fn of_f(tasks: &[usize], line: &str) -> Vec<(String, Vec<usize>, String)> {
    vec![("f".to_owned(), tasks.to_vec(), line.to_owned())]
}

#[test]
fn works_are_merged_in_order_and_a_conflict_leaves_the_tree_as_it_was() {
    let place = Place::new();
    let base = of_words(&place, &[("f", "1 2 3 4 5"), ("g", "1")]);
    let made = [
        of_words(&place, &[("f", "one 2 3 4 5"), ("g", "1")]),
        of_words(&place, &[("f", "eins 2 3 4 5"), ("g", "1 two")]),
        of_words(&place, &[("f", "1 2 3 4 five"), ("g", "1")]),
    ];
    let works = [work(7, base, made[0]), work(8, base, made[1]), work(9, base, made[2])];
    let integrated = integrate(&place.objects, base, &works, &[]).unwrap();
    let [WorkResult::Accepted(first), WorkResult::Refused(refusal), WorkResult::Accepted(last)] =
        &integrated.works[..]
    else {
        panic!("{integrated:?}")
    };
    assert_eq!(*first, Accepted { task: 7, before: base, after: made[0] });
    assert_eq!(*last, Accepted { task: 9, before: made[0], after: integrated.tree });
    let whole =
        [("f", "one 2 3 4 five"), ("g", "1")].map(|(path, words)| (path.to_owned(), words.to_owned()));
    assert_eq!(words_of(&place, integrated.tree), whole);
    assert_eq!(
        refusal.sentence(|task| task.to_string()),
        "it conflicts with work that was accepted before it: f (both changed the same lines)"
    );
}

#[test]
fn a_work_deletes_lines_of_another_task_only_if_it_may() {
    let place = Place::new();
    let base = of_words(&place, &[("f", "1 2 3")]);
    let first = of_words(&place, &[("f", "1 2 3 fn one }")]);
    let made = of_words(&place, &[("f", "1 2 3")]);
    let earlier = [Accepted { task: 1, before: base, after: first }];
    let result = |work: Work| {
        let integrated = integrate(&place.objects, first, &[work], &earlier).unwrap();
        integrated.works.into_iter().next().unwrap()
    };
    let WorkResult::Refused(refusal) = result(work(2, first, made)) else { panic!("it may not") };
    assert_eq!(
        refusal.sentence(|task| format!("task-{task}")),
        r#"it deletes lines that other tasks added: f ("fn" of task-1)"#
    );
    let accepted = |task| WorkResult::Accepted(Accepted { task, before: first, after: made });
    assert_eq!(result(Work { replaces: vec![1], ..work(2, first, made) }), accepted(2));
    assert_eq!(result(work(1, first, made)), accepted(1));
}

/// The second work of one call started from the result of the first one.
#[test]
fn lines_that_were_accepted_in_the_same_call_are_known() {
    let place = Place::new();
    let [base, first] = ["1 2", "1 new 2"].map(|words| of_words(&place, &[("f", words)]));
    let works = [work(0, base, first), work(1, first, base)];
    let integrated = integrate(&place.objects, base, &works, &[]).unwrap();
    assert_eq!(integrated.tree, first);
    assert!(
        matches!(&integrated.works[1], WorkResult::Refused(Refusal::Deletes(files)) if files[0].tasks == [0])
    );
}

#[test]
fn a_deleted_line_belongs_to_the_task_that_added_it() {
    let none: Vec<(String, Vec<usize>, String)> = Vec::new();
    assert_eq!(deletions_of(&["1 2 3", "1 2 3 a", "1 2 a"]), none, "a line of the base");
    assert_eq!(deletions_of(&["1 2", "1 a 2", "1 2"]), of_f(&[0], "a"));
    assert_eq!(deletions_of(&["1 2", "1 a 2", "1 a b 2", "x 1 a b 2", "x 1 a 2"]), of_f(&[1], "b"));
    assert_eq!(deletions_of(&["1 2", "1 a 2", "1 a 2 b", "1 2"]), of_f(&[0, 1], "a"));
    assert_eq!(deletions_of(&["1 2", "1 a 2", "1 A 2"]), of_f(&[0], "a"), "an edit deletes, too");
    assert_eq!(deletions_of(&["1 2", "1 a } 2", "1 a 2"]), none, "punctuation");
    assert_eq!(deletions_of(&["1 2", "1 a b 2", "1 2 a b"]), none, "a move");
    assert_eq!(deletions_of(&["1 2", "1 a 2", "1 2", "1 a 2", "1 2"]), of_f(&[2], "a"), "the last one");
}

#[test]
fn lines_are_followed_through_renames_and_removals() {
    let place = Place::new();
    let tree = |path: &str, words: &str| of_words(&place, &[(path, words)]);
    let base = tree("f", "1 2 3 4 5");
    let with_a = tree("f", "1 2 a 3 4 5");
    let renamed = tree("new", "1 2 a 3 4 5 b");
    let gone = of_words(&place, &[("other", "x")]);
    let chain = [base, with_a, renamed];
    let of_new = |tasks: &[usize], line: &str| vec![("new".to_owned(), tasks.to_vec(), line.to_owned())];
    assert_eq!(deletions(&place, &chain, tree("new", "1 2 3 4 5 b")), of_new(&[0], "a"));
    assert_eq!(deletions(&place, &chain, tree("new", "1 2 a 3 4 5")), of_new(&[1], "b"));
    assert_eq!(deletions(&place, &chain, gone), of_new(&[0, 1], "a"));
    assert_eq!(deletions(&place, &chain, tree("f", "1 2 a 3 4 5 b")), []);
    assert_eq!(deletions(&place, &chain, tree("f", "1 2 3 4 5 b")), of_new(&[0], "a"));
}

#[test]
fn a_work_that_started_early_deletes_no_line_that_came_later() {
    let place = Place::new();
    let [base, first, second] = ["1 2", "1 2 a", "b 1 2 a"].map(|words| of_words(&place, &[("f", words)]));
    let chain = [
        Accepted { task: 0, before: base, after: first },
        Accepted { task: 1, before: first, after: second },
    ];
    let tasks = |from, words: &str| -> Vec<Vec<usize>> {
        let made = of_words(&place, &[("f", words)]);
        let all = deleted_lines(&place.objects, &chain, from, made, &|_| false).unwrap();
        all.into_iter().map(|one| one.tasks).collect()
    };
    assert_eq!(tasks(base, "2"), Vec::<Vec<usize>>::new());
    assert_eq!(tasks(first, "1 2"), [[0]]);
    assert_eq!(tasks(second, "1 2"), [[0, 1]]);
    // A tree that is in no step: a person edited it meanwhile.
    assert_eq!(tasks(of_words(&place, &[("f", "b 1 2 a person")]), "1 2 a"), [[1]]);
}

#[test]
fn a_binary_counts_as_one_line() {
    let place = Place::new();
    let tree = |bytes: &[u8]| place.objects.put_files(&[("f", bytes)]).unwrap();
    let found = deletions(&place, &[tree(b"\0a"), tree(b"\0b")], tree(b"\0c"));
    assert_eq!(
        found.iter().map(|(path, tasks, _)| (&**path, &**tasks)).collect::<Vec<_>>(),
        [("f", &[0][..])]
    );
    assert_eq!(deletions(&place, &[tree(b"\0a"), tree(b"b")], tree(b"\0c")), of_f(&[0], "b"));
    assert_eq!(deletions(&place, &[tree(b"\0a")], tree(b"\0c")), []);
}

#[test]
fn a_reason_lists_the_first_files_and_counts_the_others() {
    let loss = |at: usize| Loss {
        path: RelPath::parse(format!("f{at}").as_bytes()).unwrap(),
        kind: LossKind::Line("x".into()),
    };
    let sentence = |count| Refusal::Lost((0..count).map(loss).collect()).sentence(|task| task.to_string());
    assert_eq!(sentence(1), r#"the merge with it is not complete: f0 lost the line "x""#);
    assert!(sentence(23).ends_with(r#"f19 lost the line "x", and 3 more"#));
}
