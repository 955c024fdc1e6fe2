//! Places the files of a foreign suite in the workspace: where the task says they are.

use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::skills::edit::acts_by_itself;

use super::files::inside;

/// Returns the path that a task names for a file or a folder, or else its path in the suite. None if that leads out of
/// the workspace, or to a file that agents, editors or shells read by themselves.
pub(super) fn place(task: &str, listed: &str, is_folder: bool) -> Option<RelPath> {
    let listed = inside(listed)?;
    let name = listed.name().to_str()?;
    let named = mentions(task, name).filter(|path| !is_folder || path.contains('/'));
    let mut places: Vec<RelPath> = named.filter(|path| !path.starts_with('~')).filter_map(inside).collect();
    // Of several paths, the one that matches the listed path best.
    places.sort_by_key(|place| !place.as_path().ends_with(listed.as_path()));
    places.into_iter().chain([listed]).find(|place| !acts_by_itself(&place.to_string()))
}

/// Returns the paths in a text that end with a name.
pub(super) fn mentions<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-~+@%".contains(letter);
    let ends = text.match_indices(name).map(|(at, name)| (at, at + name.len())).collect::<Vec<_>>();
    ends.into_iter().filter_map(move |(at, end)| {
        let mut after = text[end..].chars();
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(|next| next.is_ascii_alphanumeric()),
            Some(next) => next.is_alphanumeric() && next.is_ascii() || matches!(next, '_' | '-'),
            None => false,
        };
        let begin = text[..at]
            .rfind(|letter| !is_part(letter))
            .map_or(0, |before| before + text[before..].chars().next().map_or(0, char::len_utf8));
        let path = &text[begin..end];
        let has_name = path.len() == name.len() || path[..path.len() - name.len()].ends_with('/');
        // A folder's path may end with a slash.
        let path = if text[end..].starts_with('/') { &text[begin..=end] } else { path };
        (!goes_on && has_name).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(task: &str, listed: &str) -> Option<String> {
        place(task, listed, false).map(|place| place.to_string())
    }

    #[test]
    fn a_file_is_placed_where_the_task_names_it() {
        let file = "evals/files/page.html";
        for (task, place) in [
            ("Audit evals/files/page.html at 1440 px.", "evals/files/page.html"),
            ("I have a page at `site/page.html`.", "site/page.html"),
            ("Audit page.html, then ./site/page.html", "page.html"),
            ("Compare page.html with evals/files/page.html", "evals/files/page.html"),
            ("将 site/page.html 翻译", "site/page.html"),
            ("Audit the page", "evals/files/page.html"),
            ("Audit other-page.html and page.html.bak", "evals/files/page.html"),
        ] {
            assert_eq!(placed(task, file).as_deref(), Some(place), "{task}");
        }
    }

    #[test]
    fn no_place_leads_out_of_the_workspace_or_acts_by_itself() {
        for task in ["See /etc/page.html", "See ~/page.html", "See ../page.html", "https://host/x/page.html"]
        {
            assert_eq!(placed(task, "a/page.html").as_deref(), Some("a/page.html"), "{task}");
        }
        assert_eq!(
            placed("Read .claude/settings.json", "data/settings.json").as_deref(),
            Some("data/settings.json")
        );
        assert_eq!(placed("Read it", "data/.claude/settings.json"), None);
        assert_eq!(placed("Read it", "../settings.json"), None);
    }

    #[test]
    fn a_folder_is_named_with_a_slash() {
        let placed = |task| place(task, "evals/files/project", true).map(|place| place.to_string());
        assert_eq!(placed("My project is slow").as_deref(), Some("evals/files/project"));
        assert_eq!(placed("Look into project/ and say why").as_deref(), Some("project"));
        assert_eq!(placed("Look into work/project").as_deref(), Some("work/project"));
    }
}
