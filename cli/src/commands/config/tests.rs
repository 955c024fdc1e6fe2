use super::*;
use crate::settings::file::SettingsFile;
use crate::settings::origin::Origin;

fn rows() -> Vec<Row> {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("skilltune.toml");
    let text = "[tune]\njobs = 2\n[agents.a]\ncommand = [\"a\"]\nenv.set.TOKEN = \"s3cret\"\n";
    std::fs::write(&path, text).unwrap();
    let mut settings = Settings::default();
    let file = SettingsFile::read(&path).unwrap().unwrap();
    file.lay_upon(&mut settings, &Origin::Project("/p/skilltune.toml".into())).unwrap();
    settings.rows()
}

#[test]
fn the_table_tells_key_value_and_origin() {
    let table = table(&rows());
    let lines: Vec<&str> =
        table.lines().filter(|line| line.contains("tune.j") || line.contains("a.")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    tune.jobs                    2                      project file /p/skilltune.toml
    agents.a.command             ["a"]                  project file /p/skilltune.toml
    agents.a.output              text                   project file /p/skilltune.toml
    agents.a.timeout             -                      project file /p/skilltune.toml
    agents.a.env.pass            []                     project file /p/skilltune.toml
    agents.a.cost.usd            -                      project file /p/skilltune.toml
    agents.a.cost.input_tokens   -                      project file /p/skilltune.toml
    agents.a.cost.output_tokens  -                      project file /p/skilltune.toml
    agents.a.writes              -                      project file /p/skilltune.toml
    agents.a.verdict             evidenced              project file /p/skilltune.toml
    agents.a.env.set.TOKEN       (set)                  project file /p/skilltune.toml
    "#);
}

#[test]
fn the_json_has_an_object_a_key() {
    let rows = rows();
    let jobs = rows.iter().find(|row| row.key == "tune.jobs").unwrap();
    insta::assert_snapshot!(serde_json::to_string(jobs).unwrap(), @r#"{"key":"tune.jobs","value":2,"origin":"project_file","file":"/p/skilltune.toml"}"#);
}
