//! Skills that only a person can call: an executor that must find skills by itself never uses them.

use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::role::Role;
use skilltune_phases::skills::skill;

use crate::loops::tune::invocation::Invocation;
use crate::loops::tune::versions::Version;
use crate::terminal::complaint::Complaint;

/// The part that an agent reads before it loads the skill is at the start of the page.
const MOST: u64 = 1 << 20;

/// Refuses a run in which no trial could use the skill. Among the agents that find skills by themselves, only those
/// that can also call a skill by name know the key.
pub fn refuse_uncallable(invocation: &Invocation) -> Result<(), Complaint> {
    let Delivery::Installed { .. } = invocation.delivery else { return Ok(()) };
    let agent = &invocation.common.casting.of(&Role::EXECUTOR).agent;
    if !agent.skills().is_some_and(|skills| skills.by_name) {
        return Ok(());
    }
    for (name, page) in invocation.versions.iter().filter_map(page) {
        if skill::is_for_people_only(&page) {
            return Err(Complaint::input(format!(
                "no trial would use the skill {name}: its front matter says `disable-model-invocation: true`"
            ))
            .caused_by(format!(
                "{} loads such a skill only where the prompt calls it by its name",
                agent.name
            ))
            .hint("pass --delivery slash to call it by its name"));
        }
    }
    Ok(())
}

/// Returns name and page of a version. An unreadable page is refused elsewhere.
fn page(version: &Version) -> Option<(String, String)> {
    match version {
        Version::Nothing => None,
        Version::Folder(skill) => {
            let bytes = SafePath::below(&skill.path, "SKILL.md").read(MOST).ok()??;
            Some((skill.name.clone(), String::from_utf8(bytes).ok()?))
        }
        Version::Candidate { name, page, .. } => Some((name.clone(), page.clone())),
        Version::Revision { name, files } => {
            let page = std::str::from_utf8(files.top("SKILL.md")?).ok()?;
            Some((name.clone(), page.to_owned()))
        }
    }
}
