//! The model's answers in a run of `evolve`: it writes oracles for a small project, divides the work into three tasks, does
//! each with the tools of its agent, runs the tests of the project, and judges what it has read.

use serde_json::{Value, json};

use super::pages::{bound, code, fenced, listed};
use super::{Talk, Turn};

const SPLIT: &str = "# Split a goal into statements";
const CLASSIFY: &str = "# Classify the criteria of a specification";
const NAMES: &str = "# Name what a change has to provide";
const ORACLE: &str = "# Say how a machine tells that a criterion is met";
const DIVIDE: &str = "# Divide work into tasks";
const GROUP: &str = "# Group tasks by what they are about";
const MATCH: &str = "# Choose experts for tasks";
const ADVISE: &str = "Advise it, as the expert described above.";
const AGREE: &str = "# Make one advice of several";
pub(crate) const WORK: &str = "# Do one task of a larger change";
const DRIFT: &str = "# Look for drift from a specification";
const JUDGE: &str = "# Judge whether a project meets its specification";

/// What an executor says once the tests have passed, and what the shell prints then.
pub(crate) const DONE: &str = "It is written, and the tests pass.";
pub(crate) const PASSED: &str = "passed with 42";
/// What the experts agree on.
pub(crate) const AGREED: &str = "Check the sides before anything else.";

/// The titles of the tasks that are done side by side.
const BESIDE: [&str; 2] = ["Compute an area", "Compute a perimeter"];

/// What an executor does with one tool of its agent. The paths are those of the project.
enum Deed {
    Write(&'static str, &'static str),
    Read(&'static str),
    Edit(&'static str, &'static str, &'static str),
    Test,
}

/// A command that fails by an assertion until a criterion is met.
struct Oracle {
    criterion: &'static str,
    argv: &'static [&'static str],
    /// The path and the text of its own file.
    file: (&'static str, &'static str),
    uses_names: bool,
}

/// A small project, and the work on it.
pub(crate) struct Project {
    /// The words by which a page is about it.
    goal: [&'static str; 2],
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) test: &'static [&'static str],
    /// A folder of what tests leave behind: in one project git ignores it, in the other skilltune does.
    litter: &'static str,
    /// The command that decides the first criterion.
    check: &'static [&'static str],
    /// The names that the work has to provide, and files that have them without behaviour.
    pub(crate) names: &'static str,
    stub: &'static [(&'static str, &'static str)],
    /// Those of the criteria without a check.
    oracles: [Oracle; 2],
    works: [(&'static str, &'static [Deed]); 3],
    /// The line that shows each criterion.
    shown: [(&'static str, &'static str); 3],
    /// A line that prints less than the one that shows the last criterion.
    less: &'static str,
}

pub(crate) const PYTHON: Project = Project {
    goal: [
        "The Python package `shapes` computes the area and the perimeter of a rectangle.",
        "Its command prints both.",
    ],
    files: &[
        ("README.md", "# Shapes\n\nSides are positive.\n"),
        ("notes.txt", "one\n"),
        (
            "skilltune.toml",
            "[commands]\ntest = [\"python3\", \"-m\", \"unittest\", \"discover\", \"-s\", \"tests\", \"-t\", \".\"]\n",
        ),
        ("shapes/__init__.py", ""),
        (
            "shapes/sides.py",
            "def check(*sides):\n    if min(sides) <= 0:\n        raise ValueError(\"a side is positive\")\n",
        ),
        ("tests/__init__.py", ""),
        (
            "tests/test_sides.py",
            "import unittest\n\nfrom shapes.sides import check\n\n\nclass Sides(unittest.TestCase):\n    def test_positive(self):\n        with self.assertRaises(ValueError):\n            check(1, 0)\n",
        ),
    ],
    test: &["python3", "-m", "unittest", "discover", "-s", "tests", "-t", "."],
    litter: "shapes/__pycache__",
    check: &["python3", "-m", "unittest", "tests.test_area"],
    names: "",
    stub: &[],
    oracles: [
        Oracle {
            criterion: "A2",
            argv: &["python3", "oracle_perimeter.py"],
            file: (
                "oracle_perimeter.py",
                "import subprocess\nimport sys\n\nfor width, height, perimeter in [(2, 3, \"10\"), (4, 5, \"18\")]:\n    command = [sys.executable, \"-m\", \"shapes\", str(width), str(height)]\n    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.split()\n    assert printed[-1:] == [perimeter], f\"SKILLTUNE_RED: {printed}\"\nprint(\"SKILLTUNE_GREEN\")\n",
            ),
            uses_names: false,
        },
        Oracle {
            criterion: "A3",
            argv: &["python3", "oracle_command.py"],
            file: (
                "oracle_command.py",
                "import subprocess\nimport sys\n\nfor width, height, both in [(2, 3, \"6 10\\n\"), (4, 5, \"20 18\\n\")]:\n    command = [sys.executable, \"-m\", \"shapes\", str(width), str(height)]\n    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout\n    assert printed == both, f\"SKILLTUNE_RED: {printed!r}\"\nprint(\"SKILLTUNE_GREEN\")\n",
            ),
            uses_names: false,
        },
    ],
    works: [
        (
            "area",
            &[
                Deed::Write(
                    "shapes/area.py",
                    "from shapes.sides import check\n\n\ndef area(width, height):\n    check(width, height)\n    return width * height\n",
                ),
                Deed::Write(
                    "tests/test_area.py",
                    "import unittest\n\nfrom shapes.area import area\n\n\nclass Area(unittest.TestCase):\n    def test_area(self):\n        self.assertEqual(area(2, 3), 6)\n",
                ),
                Deed::Test,
            ],
        ),
        (
            "perimeter",
            &[
                Deed::Write(
                    "shapes/perimeter.py",
                    "from shapes.sides import check\n\n\ndef perimeter(width, height):\n    check(width, height)\n    return 2 * (width + height)\n",
                ),
                Deed::Write(
                    "tests/test_perimeter.py",
                    "import unittest\n\nfrom shapes.perimeter import perimeter\n\n\nclass Perimeter(unittest.TestCase):\n    def test_perimeter(self):\n        self.assertEqual(perimeter(2, 3), 10)\n",
                ),
                Deed::Test,
            ],
        ),
        (
            "command",
            &[
                Deed::Write(
                    "shapes/__main__.py",
                    "import sys\n\nfrom shapes.area import area\nfrom shapes.perimeter import perimeter\n\nsides = [int(side) for side in sys.argv[1:]]\nprint(area(*sides), perimeter(*sides))\n",
                ),
                Deed::Write(
                    "tests/test_command.py",
                    "import subprocess\nimport sys\nimport unittest\n\n\nclass Command(unittest.TestCase):\n    def test_both(self):\n        command = [sys.executable, \"-m\", \"shapes\", \"2\", \"3\"]\n        self.assertEqual(subprocess.check_output(command, text=True), \"6 10\\n\")\n",
                ),
                Deed::Read("README.md"),
                Deed::Edit(
                    "README.md",
                    "Sides are positive.",
                    "Sides are positive.\n\n    python3 -m shapes 2 3",
                ),
                Deed::Test,
            ],
        ),
    ],
    shown: [
        ("shapes/area.py", "return width * height"),
        ("shapes/perimeter.py", "return 2 * (width + height)"),
        ("shapes/__main__.py", "print(area(*sides), perimeter(*sides))"),
    ],
    less: "print(perimeter(*sides))",
};

pub(crate) const RUST: Project = Project {
    goal: [
        "The Rust crate `shapes` computes the area and the perimeter of a rectangle.",
        "Its command prints both.",
    ],
    files: &[
        ("README.md", "# Shapes\n\nSides are positive.\n"),
        ("notes.txt", "one\n"),
        ("skilltune.toml", "[commands]\ntest = [\"cargo\", \"test\", \"--offline\", \"--locked\"]\n"),
        (".gitignore", "/target\n"),
        ("Cargo.toml", "[package]\nname = \"shapes\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"shapes\"\nversion = \"0.1.0\"\n"),
        (
            "src/lib.rs",
            "pub mod area;\npub mod perimeter;\n\npub fn check(sides: [i64; 2]) {\n    assert!(sides.iter().all(|side| *side > 0), \"a side is positive\");\n}\n",
        ),
        ("src/area.rs", "//! Areas.\n"),
        ("src/perimeter.rs", "//! Perimeters.\n"),
        (
            "tests/sides.rs",
            "#[test]\n#[should_panic]\nfn sides_are_positive() {\n    shapes::check([1, 0]);\n}\n",
        ),
    ],
    test: &["cargo", "test", "--offline", "--locked"],
    litter: "target",
    check: &["cargo", "test", "--offline", "--locked", "--test", "area"],
    names: "src/perimeter.rs: pub fn perimeter(width: i64, height: i64) -> i64",
    stub: &[("src/perimeter.rs", "//! Perimeters.\n\npub fn perimeter(_: i64, _: i64) -> i64 {\n    0\n}\n")],
    oracles: [
        Oracle {
            criterion: "A2",
            argv: &[
                "cargo",
                "test",
                "--offline",
                "--locked",
                "--test",
                "oracle_perimeter",
                "--",
                "--nocapture",
            ],
            file: (
                "tests/oracle_perimeter.rs",
                "use shapes::perimeter::perimeter;\n\n#[test]\nfn each_side_is_there_twice() {\n    for (width, height, expected) in [(2, 3, 10), (4, 5, 18)] {\n        assert_eq!(perimeter(width, height), expected, \"SKILLTUNE_RED\");\n    }\n    println!(\"SKILLTUNE_GREEN\");\n}\n",
            ),
            uses_names: true,
        },
        Oracle {
            criterion: "A3",
            argv: &["sh", "oracle_command.sh"],
            file: (
                "oracle_command.sh",
                "both() {\n    printed=$(cargo run --quiet --offline --locked -- \"$1\" \"$2\")\n    if [ \"$printed\" != \"$3\" ]; then\n        echo \"SKILLTUNE_RED: $printed\"\n        exit 1\n    fi\n}\n\nboth 2 3 '6 10'\nboth 4 5 '20 18'\necho SKILLTUNE_GREEN\n",
            ),
            uses_names: false,
        },
    ],
    works: [
        (
            "area",
            &[
                Deed::Edit(
                    "src/area.rs",
                    "//! Areas.",
                    "//! Areas.\n\npub fn area(width: i64, height: i64) -> i64 {\n    crate::check([width, height]);\n    width * height\n}",
                ),
                Deed::Write(
                    "tests/area.rs",
                    "#[test]\nfn an_area() {\n    assert_eq!(shapes::area::area(2, 3), 6);\n}\n",
                ),
                Deed::Test,
            ],
        ),
        (
            "perimeter",
            &[
                Deed::Edit(
                    "src/perimeter.rs",
                    "//! Perimeters.",
                    "//! Perimeters.\n\npub fn perimeter(width: i64, height: i64) -> i64 {\n    crate::check([width, height]);\n    2 * (width + height)\n}",
                ),
                Deed::Write(
                    "tests/perimeter.rs",
                    "#[test]\nfn a_perimeter() {\n    assert_eq!(shapes::perimeter::perimeter(2, 3), 10);\n}\n",
                ),
                Deed::Test,
            ],
        ),
        (
            "command",
            &[
                Deed::Write(
                    "src/main.rs",
                    "use shapes::{area::area, perimeter::perimeter};\n\nfn main() {\n    let sides: Vec<i64> = std::env::args().skip(1).map(|side| side.parse().unwrap()).collect();\n    println!(\"{} {}\", area(sides[0], sides[1]), perimeter(sides[0], sides[1]));\n}\n",
                ),
                Deed::Write(
                    "tests/command.rs",
                    "use std::process::Command;\n\n#[test]\nfn both_are_printed() {\n    let output = Command::new(env!(\"CARGO_BIN_EXE_shapes\")).args([\"2\", \"3\"]).output().unwrap();\n    assert_eq!(output.stdout, b\"6 10\\n\");\n}\n",
                ),
                Deed::Read("README.md"),
                Deed::Edit("README.md", "Sides are positive.", "Sides are positive.\n\n    cargo run 2 3"),
                Deed::Test,
            ],
        ),
    ],
    shown: [
        ("src/area.rs", "width * height"),
        ("src/perimeter.rs", "2 * (width + height)"),
        ("src/main.rs", "println!(\"{} {}\", area(sides[0], sides[1]), perimeter(sides[0], sides[1]));"),
    ],
    less: "println!(\"{}\", perimeter(sides[0], sides[1]));",
};

impl Project {
    /// Returns the specification of the work.
    pub(crate) fn specification(&self) -> String {
        format!(
            "## Goal\n\n{} {}\n\n## Constraints\n\n- K1: nothing is installed\n\n## Acceptance criteria\n\n\
             - A1 (critical): a rectangle of 2 and 3 has the area 6\n  check: {}\n\
             - A2: a rectangle of 2 and 3 has the perimeter 10\n- A3 (low): the command prints both\n",
            self.goal[0],
            self.goal[1],
            json!(self.check),
        )
    }

    /// Returns the files that each task changes, in the order of the tasks.
    pub(crate) fn changed(&self) -> Vec<Vec<&'static str>> {
        let path = |deed: &Deed| match deed {
            Deed::Write(path, _) | Deed::Edit(path, ..) => Some(*path),
            Deed::Read(_) | Deed::Test => None,
        };
        self.works.iter().map(|(_, deeds)| deeds.iter().filter_map(path).collect()).collect()
    }

    /// Returns the files of the branch that hold the receipts and what they rest on, in order.
    pub(crate) fn evidence(&self) -> Vec<String> {
        let oracles = self.oracles.iter().map(|one| format!("oracles/{}/{}", one.criterion, one.file.0));
        let texts = ["receipts.json", "spec.md"].map(str::to_owned);
        let stub = self.stub.iter().map(|(path, _)| format!("stub/{path}"));
        oracles.chain(texts).chain(stub).map(|path| format!(".evolve/shapes/{path}")).collect()
    }

    /// Returns a file of the change, a line of it that the last criterion needs, and a line in its place that does less.
    pub(crate) fn taken_back(&self) -> [&'static str; 3] {
        let (path, line) = self.shown[2];
        [path, line, self.less]
    }

    /// Returns how often each tool is used: writes, edits, reads, commands.
    pub(crate) fn uses(&self) -> [u64; 4] {
        let mut uses = [0; 4];
        for deed in self.works.iter().flat_map(|(_, deeds)| deeds.iter()) {
            uses[match deed {
                Deed::Write(..) => 0,
                Deed::Edit(..) => 1,
                Deed::Read(_) => 2,
                Deed::Test => 3,
            }] += 1;
        }
        uses
    }

    fn tasks(&self) -> Vec<Value> {
        let after: [&[&str]; 3] = [&[], &[], &["area", "perimeter"]];
        let parts = BESIDE.into_iter().chain(["Print both"]).zip(self.changed()).zip(after).zip(1..);
        let tasks = parts.zip(&self.works).map(|((((title, touches), after), number), (id, _))| {
            json!({
                "id": id, "title": title, "description": format!("{title}, with a test."), "covers": [format!("A{number}")],
                "after": after, "touches": touches, "replaces": [],
            })
        });
        tasks.collect()
    }
}

/// Returns the parts of the request that must arrive before this one is answered: two tasks are done side by side.
pub(super) fn beside(body: &str) -> Option<[&'static str; 2]> {
    let is_work = body.contains(WORK);
    let other = match BESIDE.map(|title| is_work && body.contains(title)) {
        [true, false] => BESIDE[1],
        [false, true] => BESIDE[0],
        _ => return None,
    };
    Some([WORK, other])
}

/// Returns the model's turn, or `None` if the page is none of these.
pub(super) fn turn(talk: &Talk, space: &str) -> Option<Turn> {
    let words = talk.words.as_str();
    let project = [PYTHON, RUST].into_iter().find(|project| words.contains(project.goal[0]))?;
    let answer = if words.contains(SPLIT) {
        bound(words, "statements", project.goal.map(|part| json!(part)))
    } else if words.contains(CLASSIFY) {
        let class = |(id, priority): (&str, &str)| json!({ "id": id, "class": "essential", "priority": priority, "why": "it is asked for" });
        bound(words, "criteria", [("A1", "critical"), ("A2", "high"), ("A3", "low")].map(class))
    } else if words.contains(NAMES) {
        let mut names = bound(words, "stub", project.stub.iter().map(own_file));
        names["note"] = project.names.into();
        names
    } else if words.contains(ORACLE) {
        oracle(&project, words)
    } else if words.contains(DIVIDE) {
        bound(words, "tasks", project.tasks())
    } else if words.contains(GROUP) {
        let tasks = project.works.map(|(id, _)| id);
        bound(words, "groups", [json!({ "name": "shapes", "domain": "geometry", "tasks": tasks })])
    } else if words.contains(MATCH) {
        bound(words, "relevant", relevant(words))
    } else if words.contains(ADVISE) {
        json!({ "answer_to": code(words, "answer_to"), "perspective": "Look at `check` first.", "confidence": 0.75 })
    } else if words.contains(AGREE) {
        json!({ "answer_to": code(words, "answer_to"), "consensus": AGREED, "conflicts": [] })
    } else if words.contains(WORK) {
        return Some(work(&project, talk, space));
    } else if words.contains(DRIFT) {
        bound(words, "drift", [])
    } else if words.contains(JUDGE) {
        return Some(judge(&project, talk, space));
    } else {
        return None;
    };
    Some(Turn::Text(answer.to_string()))
}

fn own_file((path, text): &(&str, &str)) -> Value {
    json!({ "path": path, "text": text })
}

/// Says how a machine tells that a criterion is met.
fn oracle(project: &Project, words: &str) -> Value {
    let due = fenced(words, "the criterion").split_once(": ").map_or("", |(id, _)| id.trim());
    let known = project.oracles.iter().find(|one| one.criterion == due);
    let Some(Oracle { argv, file, uses_names, .. }) = known else { return Value::Null };
    let mut answer = bound(words, "files", [own_file(file)]);
    answer["argv"] = json!(argv);
    answer["uses_names"] = json!(uses_names);
    answer["shows"] = json!("It holds for two rectangles.");
    answer["why_not"] = json!("");
    answer
}

/// Finds two experts relevant to the last task.
fn relevant(words: &str) -> Vec<Value> {
    let names = listed(words, "the experts").into_iter().take(2).map(|name| name.trim_end_matches(':'));
    let one = |name| json!({ "task": "command", "expert": name, "domains": ["shapes"], "relevance": 0.9, "why": "it prints" });
    names.map(one).collect()
}

fn work(project: &Project, talk: &Talk, space: &str) -> Turn {
    let due = fenced(&talk.words, "the task").split_once(": ").map_or("", |(id, _)| id.trim());
    let at = |path: &str| format!("{space}/project/{path}");
    let deeds = project.works.iter().find(|(id, _)| *id == due).map_or(&[][..], |(_, deeds)| deeds);
    match deeds.get(talk.results) {
        Some(Deed::Write(path, content)) => Turn::Write { path: at(path), content: (*content).to_owned() },
        Some(Deed::Read(path)) => Turn::Read { path: at(path) },
        Some(Deed::Edit(path, old, new)) => {
            Turn::Edit { path: at(path), old: (*old).to_owned(), new: (*new).to_owned() }
        }
        Some(Deed::Test) => {
            let (test, litter) = (project.test.join(" "), project.litter);
            // What git says shows in the log, and nothing but a shell computes the number.
            let command = format!(
                "cd '{space}/project' && git status --porcelain --untracked-files=all && {test} 2>&1 && \
                 mkdir -p {litter} && touch {litter}/left && echo \"passed with $((6 * 7))\""
            );
            Turn::Shell { command }
        }
        None if talk.body.contains(PASSED) => Turn::Text(DONE.to_owned()),
        None => Turn::Text("The tests do not pass.".to_owned()),
    }
}

/// Judges after a look at the last file. What needs it holds only if the agent has shown it.
fn judge(project: &Project, talk: &Talk, space: &str) -> Turn {
    let words = talk.words.as_str();
    let [_, _, (path, quote)] = project.shown;
    if talk.results == 0 {
        return Turn::Read { path: format!("{space}/project/{path}") };
    }
    let quoted = json!(quote).to_string();
    let is_read = talk.body.contains(quoted.trim_matches('"'));
    let verdict = |id: &str| {
        let (path, quote) = match id {
            "A1" => project.shown[0],
            "A2" | "G1" => project.shown[1],
            "A3" | "G2" if is_read => project.shown[2],
            _ => ("", ""),
        };
        let holds = if quote.is_empty() && !id.starts_with('K') { "not_shown" } else { "yes" };
        json!({ "id": id, "holds": holds, "path": path, "line": 1, "quote": quote, "gaps": [] })
    };
    let each = |label: &str| -> Vec<Value> {
        listed(words, label).into_iter().map(|id| verdict(id.trim_end_matches(':'))).collect()
    };
    let mut answer = bound(words, "criteria", each("criteria"));
    answer["constraints"] = each("constraints").into();
    answer["statements"] = each("what the goal says").into();
    answer["recommendations"] = json!([]);
    Turn::Text(answer.to_string())
}
