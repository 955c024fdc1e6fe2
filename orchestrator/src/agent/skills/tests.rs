use super::*;

const SPACE: &str = "/w/space";

fn installed(called: bool) -> Installed {
    Installed { name: "poet".into(), at: ".x/skills/poet".into(), called }
}

fn came_to(talk: &SkillTalk, called: bool) -> SkillUse {
    talk.skill_use(&installed(called), Path::new(SPACE))
}

fn offering(names: &[&str]) -> SkillTalk {
    let offered = Some(names.iter().map(|&name| name.to_owned()).collect());
    SkillTalk { offered, ..SkillTalk::default() }
}

#[test]
fn a_skill_is_used_offered_or_neither() {
    let mut used = offering(&["other", "poet"]);
    assert_eq!(came_to(&used, false), SkillUse::Offered);
    used.loads("1", "poet");
    assert_eq!(came_to(&used, false), SkillUse::Used);
    used.failed("1");
    assert_eq!(came_to(&used, false), SkillUse::Offered, "it was not let load it");
    assert_eq!(came_to(&offering(&["poet-2"]), false), SkillUse::NotOffered);
    // An agent that does not report its skills offers what was installed.
    assert_eq!(came_to(&SkillTalk::default(), false), SkillUse::Offered);
}

#[test]
fn who_tells_only_what_it_refuses_offers_the_rest() {
    let refusing = |folder: &str| {
        came_to(&SkillTalk { refused: vec![folder.to_owned()], ..SkillTalk::default() }, false)
    };
    assert_eq!(refusing("/w/space/.x/skills/poet"), SkillUse::NotOffered);
    assert_eq!(refusing("/home/me/.x/skills/poet"), SkillUse::Offered);
}

#[test]
fn a_call_by_name_is_a_use_if_the_agent_knows_the_name() {
    assert_eq!(came_to(&offering(&["poet"]), true), SkillUse::Used);
    assert_eq!(came_to(&offering(&[]), true), SkillUse::NotOffered);
}

#[test]
fn another_skill_of_its_name_shadows_it_and_its_folder_tells_it_whatever_it_is_called() {
    let loaded = |name: &str, folder: &str| {
        let mut talk = offering(&["poet"]);
        talk.loads("1", name);
        talk.found_at(folder);
        came_to(&talk, false)
    };
    assert_eq!(loaded("poet", "/w/space/.x/skills/poet"), SkillUse::Used);
    assert_eq!(loaded("a-poet", "/w/space/.x/skills/poet/"), SkillUse::Used);
    assert_eq!(loaded("poet", "/home/me/.x/skills/poet"), SkillUse::Shadowed);
    assert_eq!(loaded("other", "/home/me/.x/skills/other"), SkillUse::Offered);
}

#[test]
fn who_reads_the_page_of_a_skill_uses_it() {
    let read = |file: &str| {
        let mut talk = offering(&["poet"]);
        talk.reads("1", file);
        came_to(&talk, false)
    };
    assert_eq!(read("/w/space/.x/skills/poet/SKILL.md"), SkillUse::Used);
    assert_eq!(read(".x/skills/poet/SKILL.md"), SkillUse::Used);
    assert_eq!(read("/home/me/.x/skills/poet/SKILL.md"), SkillUse::Shadowed);
    for other in ["/w/space/.x/skills/poet/more.md", "/w/space/input/poet/SKILL.md", "SKILL.md"] {
        assert_eq!(read(other), SkillUse::Offered, "{other}");
    }
}
