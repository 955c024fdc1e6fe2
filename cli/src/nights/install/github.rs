//! A workflow of GitHub Actions: the jobs in eight shards, each with its history of earlier nights, and one morning
//! page.

use crate::nights::install::job::Job;
use crate::terminal::complaint::Complaint;

const TEMPLATE: &str = include_str!("github.yml");

pub fn workflow(job: &Job) -> Result<String, Complaint> {
    let file = below_project(job)?;
    // An expression that yields these characters, because GitHub would read them as the start of an expression.
    let literal = yaml(file).replace("${{", "${{ '${{' }}");
    let at = format!("{} {}", job.at.minute(), job.at.hour());
    // The file is filled in last, so that nothing in its name is replaced.
    Ok(TEMPLATE.replace("@AT@", &at).replace("@FILE@", &literal))
}

/// Returns the path of the file in a checkout of the project.
pub fn below_project(job: &Job) -> Result<&str, Complaint> {
    let below = job.file.strip_prefix(job.project.as_str()).and_then(|path| path.strip_prefix('/'));
    below.ok_or_else(|| {
        Complaint::input(format!("{} is not in the project {}", job.file, job.project))
            .hint("move the file into the project, so that a checkout has it")
    })
}

/// Returns a YAML string; every JSON string is one.
pub fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::install::job::tests::{hostile, job};
    use crate::terminal::style::Style;

    #[test]
    fn time_and_file_are_filled_in() {
        let workflow = workflow(&job()).unwrap();
        assert!(workflow.contains("    - cron: \"30 2 * * *\" # UTC\n"), "{workflow}");
        assert!(workflow.contains("  NIGHT_FILE: \"skilltune-night.toml\"\n"), "{workflow}");
        assert!(!workflow.contains('@') || !workflow.contains("@FILE@"), "{workflow}");
    }

    #[test]
    fn a_commit_of_the_sources_is_built_once() {
        let workflow = workflow(&job()).unwrap();
        let step = |part: &str| {
            let step = workflow.split("      - ").find(|step| step.contains(part));
            step.unwrap_or_else(|| panic!("no step has {part:?}"))
        };
        assert!(step("run: cargo build").contains("&& steps.program.outputs.cache-hit != 'true'\n"));
        for cache in ["id: program\n", "name: Save the program"] {
            assert!(step(cache).contains("          path: target/release/skilltune\n"), "{cache}");
            assert!(step(cache).contains("${{ steps.sources.outputs.commit }}\n"), "{cache}");
        }
    }

    #[test]
    fn a_name_is_no_expression() {
        let job = Job { file: format!("{}/a${{{{ secrets.KEY }}}}.toml", hostile().project), ..hostile() };
        let workflow = workflow(&job).unwrap();
        assert!(workflow.contains(r#"NIGHT_FILE: "a${{ '${{' }} secrets.KEY }}.toml""#), "{workflow}");
    }

    #[test]
    fn a_file_outside_of_the_project_is_refused() {
        let job = Job { file: "/home/me/project-2/night.toml".to_owned(), ..job() };
        insta::assert_snapshot!(workflow(&job).unwrap_err().render(Style::PLAIN, 999), @r"
        error: /home/me/project-2/night.toml is not in the project /home/me/project
        hint: move the file into the project, so that a checkout has it
        ");
    }
}
