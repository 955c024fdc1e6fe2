use proptest::prelude::*;

use super::*;
use crate::base::id::Digest;

/// Cases, each with a run and what follows it. In a run:
/// - `50` is a judged score of 50 %, `50@a` that of a tree that has a name, `90!` the one that is done, and `red` a
///   failed structural stage;
/// - `fix`, `B`, `M`, `S`, `R`, `I` are fixes, a patch and a patch of each persona; in lower case a patch that was
///   refused or impacts nothing; with a `+` one with an approved amendment of an original criterion;
/// - `G` is the guidance of a person.
const TABLE: &[(&str, &str, &str)] = &[
    // Success and the first steps.
    ("nothing was evaluated", "", "evaluate"),
    ("success at once", "90!", "done"),
    ("a first shortfall", "50", "B"),
    ("a patch has run", "50 B", "evaluate"),
    ("success after a patch", "50 B 90!", "done"),
    ("success goes before oscillation", "50 B 60 B 52 B 90!", "done"),
    ("success goes before stagnation", "85 B 86 B 86!", "done"),
    // Flow A and its cap.
    ("red", "red", "A"),
    ("a fix has run", "red fix", "evaluate"),
    ("red after two fixes", "red fix red fix red", "A"),
    ("red after three fixes", "red fix red fix red fix red", "C multistability: hard_cap, falls back"),
    ("green after three fixes", "red fix red fix red fix 50", "B"),
    ("green after a pivot", "red fix red fix red fix red M 50", "B"),
    ("a green stage resets the fixes", "red fix red fix 50 B red fix red fix red", "A"),
    ("three fixes after it", "50 B red fix red fix red fix red", "C multistability: hard_cap, falls back"),
    ("red after a pivot", "red fix red fix red fix red M red", "C simplicity: hard_cap, falls back"),
    (
        "scores do not matter at red",
        "50 B 51 B 52 R red fix red fix red fix red",
        "C multistability: hard_cap, falls back",
    ),
    ("red after a green pivot", "red fix red fix red fix red M 50 B red", "A"),
    // Flow B and its cap.
    ("two patches that gain", "50 B 60 B 70", "B"),
    ("three patches that gain", "50 B 60 B 70 B 80", "C multistability: hard_cap"),
    ("a gain of exactly .05 is not small", "60 B 65 B 70", "B"),
    ("one small gain", "50 B 52", "B"),
    ("a small gain after a large one", "50 B 60 B 62", "B"),
    ("a large gain after a fall", "50 B 40 B 46", "B"),
    // Stagnation.
    ("gains that shrink", "50 B 53 B 54", "C invariance: diminishing_returns"),
    ("a small gain after a greater fall", "50 B 40 B 42", "C invariance: diminishing_returns"),
    ("a small gain, then none", "50 B 50.2 B 50.2", "C invariance: diminishing_returns"),
    ("no gain after one of .001", "50 B 50.1 B 50.1", "C reification: no_drift"),
    ("small gains that are equal", "50 B 53 B 56", "C reification: no_drift"),
    ("small gains that grow", "50 B 51 B 54", "C reification: no_drift"),
    ("no gains", "50 B 50 B 50", "C reification: no_drift"),
    ("falls that grow", "50 B 49 B 40", "C reification: no_drift"),
    ("stagnation goes before the cap of patches", "50 B 60 B 62 B 63", "C invariance: diminishing_returns"),
    ("a red round has no score", "50 B red fix 53 B 54", "C invariance: diminishing_returns"),
    // Oscillation.
    ("one reversal", "50 B 60 B 52", "B"),
    ("two reversals", "50 B 60 B 52 B 60", "C simplicity: oscillation"),
    ("two reversals that begin with a fall", "60 B 50 B 60 B 50", "C simplicity: oscillation"),
    ("oscillation goes before stagnation", "50 B 60 B 59 B 60", "C simplicity: oscillation"),
    ("no gain is no reversal", "50 B 60 B 60 B 50", "C reification: no_drift"),
    ("the tree of an earlier round is back", "50@a B 60@b B 70@a", "C simplicity: oscillation"),
    ("the tree of the last round", "50@a B 60@b B 70@b", "B"),
    ("always the same tree", "50@a B 60@a B 70@a", "B"),
    ("a tree is back after a fix", "50@a B red fix 60@b B 70@a", "C simplicity: oscillation"),
    // Amendments restart the series, but no cap.
    ("no stagnation over an amendment", "50 B 52 B+ 53", "B"),
    ("no tree is back over an amendment", "50@a B 60@b B+ 70@a", "B"),
    ("no reversals over an amendment", "50 B 60 B+ 52 B 60", "C multistability: hard_cap"),
    ("stagnation after an amendment", "50 B+ 52 B 53 B 54", "C reification: no_drift"),
    ("an amendment of a pivot", "50 B 60 B 52 B 60 S+ 60", "C multistability: hard_cap"),
    // The series goes on over a pivot, which counts to no cap.
    ("a pivot that gains", "50 B 51 B 52 R 60", "B"),
    ("a pivot that gains little", "50 B 51 B 52 R 54", "C multistability: no_drift"),
    ("reversals by a pivot", "50 B 60 B 70 B 80 M 70 S 75", "C invariance: oscillation"),
    // Personas in order when the matching one is used.
    ("Reification is used", "50 B 51 B 52 R 53", "C multistability: no_drift"),
    ("and Multistability", "50 B 51 B 52 R 53 M 54", "C simplicity: no_drift"),
    ("and Simplicity", "50 B 51 B 52 R 53 M 54 S 55", "C invariance: no_drift"),
    ("all four are used", "50 B 51 B 52 R 53 M 54 S 55 I 56", "hold"),
    ("Multistability is used", "50 B 60 B 70 B 80 M 81", "C simplicity: hard_cap"),
    ("Simplicity is used", "50 B 60 B 52 B 60 S 52", "C multistability: oscillation"),
    ("Invariance is used", "50 B 53 B 55 I 56", "C multistability: diminishing_returns"),
    ("the matching one is still there", "50 B 60 B 70 B 80 M 83 S 84", "C invariance: diminishing_returns"),
    // Patches that are refused or impact nothing.
    ("B that has not run", "50 b", "C multistability: hard_cap"),
    ("a pivot after it", "50 b M 60", "B"),
    ("it counts to the patches", "50 b M 60 b S 70 b I 80", "C reification: hard_cap"),
    ("a pivot that has not run", "50 b m", "C simplicity: hard_cap"),
    ("four that have not run", "50 b m s i r", "hold"),
    ("the pattern stays: oscillation", "50 B 60 B 52 B 60 s", "C multistability: oscillation"),
    ("the pattern stays: diminishing", "50 B 53 B 54 i", "C multistability: diminishing_returns"),
    ("the pattern stays: no drift", "50 B 51 B 52 r", "C multistability: no_drift"),
    ("the tree stays", "red fix red fix red fix red m", "C simplicity: hard_cap, falls back"),
    // A hold that a person answers.
    ("guidance", "50 b m s i r G", "B"),
    ("its patch has run", "50 b m s i r G B", "evaluate"),
    ("its patch has not run", "50 b m s i r G b", "hold"),
    ("it counts to no cap", "50 b m s i r G B 60 B 70", "B"),
    ("the patches that were left are used", "50 b m s i r G B 60 B 70 B 80", "hold"),
    ("a second answer", "50 b m s i r G b G B 60", "B"),
    ("a hold at red", "red fix red fix red fix red m s i r", "hold"),
    ("guidance at red", "red fix red fix red fix red m s i r G", "B, falls back"),
    ("red again", "red fix red fix red fix red m s i r G B red", "hold"),
    ("green again", "red fix red fix red fix red m s i r G B 50", "B"),
];

fn course(text: &str) -> Course {
    let mut course = Course::default();
    let mut series = 0;
    for word in text.split_whitespace() {
        let (word, is_amended) = word.strip_suffix('+').map_or((word, false), |word| (word, true));
        series += u32::from(is_amended);
        let has_run = word.chars().all(char::is_uppercase);
        let is_first = |persona: &Persona| persona.word()[..1].eq_ignore_ascii_case(word);
        let entry = match (word, Persona::ALL.into_iter().find(is_first)) {
            ("red", _) => Entry::Red,
            ("fix", _) => Entry::Fixed,
            ("G", _) => Entry::Guided,
            ("B" | "b", _) => Entry::Patched { has_run },
            (_, Some(persona)) => Entry::Pivoted { persona, has_run },
            (_, None) => judged(word, course.entries.len(), series),
        };
        course.entries.push(entry);
    }
    course
}

fn judged(word: &str, at: usize, series: u32) -> Entry {
    let (word, is_done) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let at = at.to_string();
    let (percent, name) = word.split_once('@').unwrap_or((word, at.as_str()));
    Entry::Judged { score: percent.parse::<f64>().unwrap() / 100.0, tree: tree(name), series, is_done }
}

fn tree(name: &str) -> TreeId {
    TreeId(Digest::of(name.as_bytes()))
}

fn text(action: NextAction) -> String {
    let back = |falls_back| if falls_back { ", falls back" } else { "" };
    match action {
        NextAction::Evaluate => "evaluate".to_owned(),
        NextAction::Done => "done".to_owned(),
        NextAction::Fix => "A".to_owned(),
        NextAction::Patch { falls_back } => format!("B{}", back(falls_back)),
        NextAction::Pivot { persona, pattern, falls_back } => {
            format!("C {}: {}{}", persona.word(), pattern.word(), back(falls_back))
        }
        NextAction::Hold => "hold".to_owned(),
    }
}

/// Whether the entry may follow when the action was due.
fn fits(action: NextAction, entry: Entry) -> bool {
    match (action, entry) {
        (NextAction::Evaluate, Entry::Red | Entry::Judged { .. })
        | (NextAction::Fix, Entry::Fixed)
        | (NextAction::Patch { .. }, Entry::Patched { .. })
        | (NextAction::Hold, Entry::Guided) => true,
        (NextAction::Pivot { persona: due, .. }, Entry::Pivoted { persona, .. }) => due == persona,
        _ => false,
    }
}

fn before(course: &Course, at: usize) -> Course {
    Course { entries: course.entries[..at].to_vec() }
}

#[test]
fn scripted_runs_go_on_as_the_table_says() {
    for (case, script, follows) in TABLE {
        let course = course(script);
        for (at, entry) in course.entries.iter().enumerate() {
            let due = before(&course, at).follow(&Caps::default());
            assert!(fits(due, *entry), "{case}: {} is due before {entry:?}", text(due));
        }
        assert_eq!(text(course.follow(&Caps::default())), *follows, "{case}: {script}");
    }
}

#[test]
fn the_table_reaches_each_pattern_with_its_persona_and_each_end() {
    let pairs = [
        (Pattern::HardCap, Persona::Multistability),
        (Pattern::Oscillation, Persona::Simplicity),
        (Pattern::DiminishingReturns, Persona::Invariance),
        (Pattern::NoDrift, Persona::Reification),
    ];
    for (pattern, persona) in pairs {
        let follows = text(NextAction::Pivot { persona, pattern, falls_back: false });
        assert!(TABLE.iter().any(|(.., text)| *text == follows), "{follows}");
        assert_eq!(pattern.persona(), persona);
        assert_eq!(serde_json::to_value(pattern).unwrap(), pattern.word());
        assert_eq!(serde_json::to_value(persona).unwrap(), persona.word());
    }
    for follows in ["done", "hold"] {
        assert!(TABLE.iter().any(|(.., text)| *text == follows), "{follows}");
    }
}

#[test]
fn every_cap_is_read() {
    let caps = Caps::default();
    let cases = [
        (Caps { fixes: 1, ..caps }, "red fix red", "C multistability: hard_cap, falls back"),
        (Caps { fixes: 0, ..caps }, "red", "C multistability: hard_cap, falls back"),
        (Caps { fixes: 4, ..caps }, "red fix red fix red fix red", "A"),
        (Caps { patches: 0, ..caps }, "50", "C multistability: hard_cap"),
        (Caps { patches: 4, ..caps }, "50 B 60 B 70 B 80", "B"),
        (Caps { gain: 0.2, ..caps }, "50 B 60 B 70", "C reification: no_drift"),
        (Caps { gain: 0.02, ..caps }, "50 B 53 B 56", "B"),
        (Caps { shrinking: 0.04, ..caps }, "50 B 53 B 54", "C reification: no_drift"),
    ];
    for (caps, script, follows) in cases {
        assert_eq!(text(course(script).follow(&caps)), follows, "{caps:?}: {script}");
    }
}

/// Plays a run until it is done or held. `outcome` answers an evaluation, or says whether a patch has run.
fn play(caps: &Caps, mut outcome: impl FnMut(&Course, NextAction) -> Entry) -> (Course, NextAction) {
    let mut course = Course::default();
    for _ in 0..100 {
        let due = course.follow(caps);
        if matches!(due, NextAction::Done | NextAction::Hold) {
            return (course, due);
        }
        let entry = outcome(&course, due);
        assert!(fits(due, entry), "{due:?} {entry:?}");
        course.entries.push(entry);
    }
    panic!("{course:?} does not end")
}

fn count(course: &Course, is: fn(&Entry) -> bool) -> usize {
    course.entries.iter().filter(|entry| is(entry)).count()
}

fn evaluations(course: &Course) -> usize {
    count(course, |entry| matches!(entry, Entry::Red | Entry::Judged { .. }))
}

#[test]
fn a_run_that_never_succeeds_ends_after_all_caps_and_personas() {
    let caps = Caps::default();
    // Each round is red as often as fixes allow, then green with a gain.
    let (course, end) = play(&caps, |course, due| match due {
        NextAction::Fix => Entry::Fixed,
        NextAction::Patch { .. } => Entry::Patched { has_run: true },
        NextAction::Pivot { persona, .. } => Entry::Pivoted { persona, has_run: true },
        NextAction::Evaluate if course.fixes_in_a_row() < 3 => Entry::Red,
        NextAction::Evaluate => judged(&(10 + course.entries.len()).to_string(), course.entries.len(), 0),
        NextAction::Done | NextAction::Hold => unreachable!("the run has ended"),
    });
    assert_eq!(end, NextAction::Hold);
    assert_eq!(evaluations(&course), 32, "the first, three patches and four personas, four times each");
    assert_eq!(count(&course, |entry| *entry == Entry::Fixed), 24);
    assert_eq!(count(&course, |entry| matches!(entry, Entry::Patched { .. })), 3);
    assert_eq!(count(&course, |entry| matches!(entry, Entry::Pivoted { .. })), 4);
}

fn entry() -> impl Strategy<Value = Entry> {
    let persona = prop::sample::select(Persona::ALL.to_vec());
    let score =
        prop_oneof![(0..=20_u32).prop_map(|twentieth| f64::from(twentieth) / 20.0), prop::num::f64::ANY];
    let names = prop::sample::select(vec!["a", "b", "c"]);
    let judged = (score, names, 0..2_u32, any::<bool>());
    prop_oneof![
        Just(Entry::Red),
        Just(Entry::Fixed),
        Just(Entry::Guided),
        any::<bool>().prop_map(|has_run| Entry::Patched { has_run }),
        (persona, any::<bool>()).prop_map(|(persona, has_run)| Entry::Pivoted { persona, has_run }),
        judged.prop_map(|(score, name, series, is_done)| Entry::Judged {
            score,
            tree: tree(name),
            series,
            is_done
        }),
    ]
}

proptest! {
    #[test]
    fn any_prefix_of_any_entries_has_a_next_action(
        entries in prop::collection::vec(entry(), 0..60),
        (fixes, patches, gain, shrinking) in (0..5_u32, 0..5_u32, any::<f64>(), any::<f64>()),
    ) {
        let (course, caps) = (Course { entries }, Caps { fixes, patches, gain, shrinking });
        for at in 0..=course.entries.len() {
            let course = before(&course, at);
            if let NextAction::Pivot { persona, falls_back, .. } = course.follow(&caps) {
                prop_assert_eq!(falls_back, course.is_red());
                let again = |has_run| course.entries.contains(&Entry::Pivoted { persona, has_run });
                prop_assert!(!again(true) && !again(false));
            }
        }
    }

    #[test]
    fn any_run_ends_within_its_caps(rolls in prop::collection::vec((any::<bool>(), entry()), 1..60)) {
        let mut rolls = rolls.into_iter().cycle();
        let (course, end) = play(&Caps::default(), |_, due| {
            let (has_run, rolled) = rolls.next().unwrap();
            match due {
                NextAction::Fix => Entry::Fixed,
                NextAction::Patch { .. } => Entry::Patched { has_run },
                NextAction::Pivot { persona, .. } => Entry::Pivoted { persona, has_run },
                NextAction::Evaluate if matches!(rolled, Entry::Judged { .. }) => rolled,
                NextAction::Evaluate => Entry::Red,
                NextAction::Done | NextAction::Hold => unreachable!("the run has ended"),
            }
        });
        let patches = count(&course, |entry| matches!(entry, Entry::Patched { .. }));
        let pivots = count(&course, |entry| matches!(entry, Entry::Pivoted { .. }));
        prop_assert!(evaluations(&course) <= 32 && patches <= 3 && pivots <= 4);
        prop_assert!(end == NextAction::Done || pivots == 4);
    }
}
