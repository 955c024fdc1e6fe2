use super::*;
use crate::settings::origin::Origin;
use crate::trust::file::TextFile;

fn rows() -> Vec<Row> {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("skilltune.toml");
    let text = "[calls]\njobs = 2\n[agents.a]\ncommand = [\"a\"]\nenv.set.TOKEN = \"s3cret\"\n";
    std::fs::write(&path, text).unwrap();
    let mut settings = crate::loops::default_settings();
    let file = TextFile::read(&path).unwrap().unwrap();
    settings.apply_file(&file, &Origin::Project("/p/skilltune.toml".into())).unwrap();
    settings.rows()
}

#[test]
fn the_table_tells_key_value_and_origin() {
    let table = table(&rows());
    let lines: Vec<&str> =
        table.lines().filter(|line| line.contains("calls.j") || line.contains("a.")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    calls.jobs                   2                                     project file /p/skilltune.toml
    agents.a.command             ["a"]                                 project file /p/skilltune.toml
    agents.a.output              text                                  project file /p/skilltune.toml
    agents.a.timeout             -                                     project file /p/skilltune.toml
    agents.a.env.pass            []                                    project file /p/skilltune.toml
    agents.a.cost.usd            -                                     project file /p/skilltune.toml
    agents.a.cost.input_tokens   -                                     project file /p/skilltune.toml
    agents.a.cost.output_tokens  -                                     project file /p/skilltune.toml
    agents.a.writes              -                                     project file /p/skilltune.toml
    agents.a.verdict             evidenced                             project file /p/skilltune.toml
    agents.a.env.set.TOKEN       (set)                                 project file /p/skilltune.toml
    "#);
}

#[test]
fn the_json_has_an_object_a_key() {
    let rows = rows();
    let jobs = rows.iter().find(|row| row.key == "calls.jobs").unwrap();
    insta::assert_snapshot!(serde_json::to_string(jobs).unwrap(), @r#"{"key":"calls.jobs","value":2,"origin":"project_file","file":"/p/skilltune.toml"}"#);
}
