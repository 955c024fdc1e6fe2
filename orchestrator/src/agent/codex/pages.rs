//! Finds the skill pages that a shell command has printed.
//!
//! A page begins with its front matter: a command that only finds or counts pages does not print it. Only an absolute
//! path shows where a page is, since the folder of a command is unknown.

use super::super::skills::{PAGE, SkillTalk};

pub(super) fn read(command: &str, output: &str, skills: &mut SkillTalk) {
    let names = if command.contains(PAGE) { names(output) } else { Vec::new() };
    let places = places(command);
    match (names.is_empty(), places.is_empty()) {
        (true, _) => {}
        (false, true) => names.into_iter().for_each(|name| skills.loads("", name)),
        (false, false) => places.into_iter().for_each(|page| skills.reads("", page)),
    }
}

/// Returns the names in all front matters of a text, whose lines may be numbered.
fn names(output: &str) -> Vec<&str> {
    let (mut names, mut is_matter) = (Vec::new(), false);
    for line in output.lines().map(str::trim_end) {
        if line.ends_with("---") {
            is_matter = !is_matter;
        } else if let Some((before, name)) = line.split_once("name:").filter(|_| is_matter)
            && !before.contains(char::is_alphabetic)
        {
            names.push(name.trim().trim_matches(['"', '\'']));
        }
    }
    names
}

/// Returns the pages that a command names by absolute paths, each a word or a quoted string.
fn places(command: &str) -> Vec<&str> {
    let ends = command.match_indices(PAGE).map(|(at, page)| command.split_at(at + page.len()));
    ends.filter_map(|(before, after)| {
        let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '=' | '<')).next();
        let mark = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let quoted = mark.and_then(|mark| before.rsplit(mark).next());
        [word, quoted].into_iter().flatten().find(|path| path.starts_with('/') && !path.contains('*'))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATTER: &str = "---\ndescription: The name: of it.\nname: poet\n---\nRead.\n";

    /// Names and folders.
    fn skills_read(command: &str, output: &str) -> Vec<(String, Option<String>)> {
        let mut skills = SkillTalk::default();
        read(command, output, &mut skills);
        skills.used.into_iter().map(|one| (one.name, one.folder)).collect()
    }

    fn at(folder: &str) -> Vec<(String, Option<String>)> {
        vec![("poet".to_owned(), Some(folder.to_owned()))]
    }

    #[test]
    fn an_absolute_path_tells_where_it_stands() {
        for command in [
            "/bin/bash -c 'cat /w/.agents/skills/poet/SKILL.md'",
            "/bin/bash -c \"sed -n '1,200p' /w/.agents/skills/poet/SKILL.md && ls /w\"",
            "/bin/bash -c \"cat '/w/.agents/skills/poet/SKILL.md'\"",
        ] {
            assert_eq!(skills_read(command, MATTER), at("/w/.agents/skills/poet"), "{command}");
        }
        let spaced = "/bin/bash -c \"cat '/home/the poet/.agents/skills/poet/SKILL.md'\"";
        assert_eq!(skills_read(spaced, MATTER), at("/home/the poet/.agents/skills/poet"));
    }

    #[test]
    fn any_other_path_tells_a_name_alone() {
        for command in [
            "/bin/bash -c 'cat .agents/skills/poet/SKILL.md'",
            "/bin/bash -c 'cd .agents && cat skills/poet/SKILL.md'",
            "/bin/bash -c 'cat SKILL.md'",
            "/bin/bash -c 'cat /w/.agents/skills/*/SKILL.md'",
        ] {
            assert_eq!(skills_read(command, MATTER), [("poet".to_owned(), None)], "{command}");
        }
        let numbered = "     1\t---\n     2\tname: \"poet\"\n     3\t---\n";
        assert_eq!(skills_read("nl -ba SKILL.md", numbered), [("poet".to_owned(), None)]);
    }

    #[test]
    fn who_has_not_seen_its_beginning_has_not_read_it() {
        let found = "/w/.agents/skills/poet/SKILL.md";
        assert_eq!(skills_read(&format!("ls {found}"), found), []);
        assert_eq!(skills_read(&format!("wc -l {found}"), &format!("5 {found}")), []);
        assert_eq!(skills_read(&format!("cat {found}"), "cat: no such file"), []);
        assert_eq!(skills_read("cat notes.md", MATTER), [], "another page with a front matter");
    }
}
