use super::*;

/// Returns the page's examples: the files of each section in a separate folder.
fn examples() -> Vec<(String, Folder)> {
    let page = include_str!("../../../../../docs/suites.md");
    let mut examples = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let (title, text) = section.split_once('\n').unwrap();
        let folder = Folder::new(&[]);
        let mut has_files = false;
        for block in text.split("\n```").skip(1).step_by(2) {
            let (info, body) = block.split_once('\n').unwrap();
            if let Some((_, path)) = info.split_once(' ') {
                folder.write(path, format!("{body}\n"));
                has_files = true;
            }
        }
        if has_files {
            examples.push((title.to_owned(), folder));
        }
    }
    examples
}

#[test]
fn every_example_of_the_page_is_read_as_its_section_says() {
    let mut formats = Vec::new();
    for (title, folder) in examples() {
        for file in ["cases/sales.csv", "data/sales.csv", "graders/check.py"] {
            folder.write(file, "");
        }
        let paths = ["suite.toml", "evals/evals.json", "triggers.json", "promptfooconfig.yaml", "evals"];
        let path = paths.into_iter().find(|path| folder.path(path).exists()).unwrap();
        let suite = folder.read(path);
        assert!(suite.scenarios.iter().all(|scenario| !scenario.demands.is_empty()), "{title}");
        let notes = notes(&suite).into_iter();
        let notes: Vec<String> = notes
            .filter(|note| !note.contains("draft") && !note.contains("but the folder is called"))
            .collect();
        assert_eq!(notes, [""; 0], "{title}");
        formats.push((title, suite.format));
    }
    let expected = [
        ("suite.toml", Format::Toml),
        ("evals.json", Format::Evals),
        ("Trigger sets", Format::Triggers),
        ("promptfoo", Format::Promptfoo),
        ("claude plugin eval", Format::Plugin),
    ];
    assert_eq!(formats, expected.map(|(title, format)| (title.to_owned(), format)));
}

/// The rows of the table of checks, each as a check that is read.
#[test]
fn the_table_of_checks_has_every_key() {
    let page = include_str!("../../../../../docs/suites.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let keys: Vec<String> =
        rows.filter_map(|row| Some(row.split('`').nth(1)?.split_once(" = ")?.0.to_owned())).collect();
    assert_eq!(
        keys,
        [
            "file",
            "pattern",
            "json",
            "json",
            "only_changes",
            "skill_used",
            "tool",
            "before",
            "limit",
            "command"
        ]
    );
}
