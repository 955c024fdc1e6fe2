//! The readers and writers of experts, with files of each format and hostile ones.

use serde_json::json;

use super::*;

fn markdown(front: &str) -> Result<Expert, ExpertError> {
    Expert::read(format!("---\n{front}---\n\nYou review.\n").as_bytes(), "stem", Format::Markdown)
}

fn codex(text: &str) -> Result<Expert, ExpertError> {
    Expert::read(text.as_bytes(), "stem", Format::Codex)
}

fn unsupported(expert: &Expert) -> Vec<&str> {
    expert.unsupported().collect()
}

#[test]
fn each_built_in_expert_has_a_page_that_says_what_to_look_at_and_how_to_answer() {
    let all = built_in();
    let reviewers: Vec<&str> =
        all.iter().filter(|one| one.kind == Kind::Reviewer).map(|one| one.name.as_str()).collect();
    assert_eq!(reviewers, ["security-reviewer", "performance-reviewer", "quality-reviewer"]);
    assert_eq!(all.len(), 12);
    assert!(![writer(), specifier()].iter().any(|one| all.contains(one)), "no list has them");
    for expert in all.iter().chain([&writer(), &specifier()]) {
        let Expert { name, persona, domain, unknown, .. } = expert;
        for heading in ["## Look first", "## Do not guess", "## Answer"] {
            assert!(persona.contains(heading), "{name} has no {heading}");
        }
        assert!(!domain.is_empty() && unknown.is_empty(), "{name}");
        assert!(expert.description.len() <= 120, "{name}: {}", expert.description.len());
        if expert.kind == Kind::Reviewer {
            for part in ["critical (", "high (", "medium (", "low (", "`path:line`", "quote", "Suggestion"] {
                assert!(persona.contains(part), "{name} does not ask for {part}");
            }
        }
    }
}

#[test]
fn a_file_of_claude_code_keeps_what_only_claude_code_does() {
    let read = markdown(
        "name: code-reviewer\ndescription: Reviews code\ntools: Read, Grep\nmodel: opus\ncolor: red\n\
         mcpServers:\n  - github\nhooks: {Stop: []}\n",
    )
    .unwrap();
    assert_eq!((read.name.as_str(), read.tier, read.kind), ("code-reviewer", Tier::Frontier, Kind::Reviewer));
    assert_eq!(read.persona, "You review.");
    assert_eq!(unsupported(&read), ["tools", "mcpServers", "hooks"]);
    assert_eq!(read.unknown["color"], json!("red"));
}

#[test]
fn a_description_with_colons_is_read_as_its_program_reads_it() {
    let read = markdown("name: a\ndescription: Use it when: \"x: y\" <example>user: hi</example>\n").unwrap();
    assert_eq!(read.description, "Use it when: \"x: y\" <example>user: hi</example>");
}

#[test]
fn a_description_of_several_lines_ends_at_the_next_known_field() {
    let examples = "Use it when: asked. Examples:\n\n<example>\nContext: a\nuser: \"b\"\n</example>\n\n\
                    <example>\nuser: \"c\"\n</example>";
    let read = markdown(&format!("name: a\nmine: x\ndescription: {examples}\n\nmodel: opus\n")).unwrap();
    assert_eq!((read.description.as_str(), read.tier), (examples, Tier::Frontier));
    assert_eq!(read.unknown.keys().collect::<Vec<_>>(), ["mine", "model"]);
    for text in
        ["Use when: x\n  and more: y", "\"Use when\" asked: yes", "[Beta] reviews: code", "*all*: now"]
    {
        assert_eq!(markdown(&format!("name: a\ndescription: {text}\n")).unwrap().description, text);
    }
}

#[test]
fn a_field_that_is_valid_keeps_its_value_beside_one_that_is_not() {
    let read = |more: &str| markdown(&format!("name: a\ndescription: b: c\n{more}\n"));
    assert_eq!(read("disable: true"), Err(ExpertError::Disabled));
    assert_eq!(read("disable: \"true\""), Err(ExpertError::Disabled));
    let read = read("model: opus  # note\ntools:\n  - Read").unwrap();
    assert_eq!((read.tier, &read.unknown["tools"]), (Tier::Frontier, &json!(["Read"])));
}

#[test]
fn an_alias_of_a_model_is_a_tier_and_a_models_own_name_is_none() {
    let tier = |model: &str| {
        let read = markdown(&format!("name: a\ndescription: d\nmodel: {model}\n")).unwrap();
        (read.tier, unsupported(&read).len())
    };
    assert_eq!(tier("Opus"), (Tier::Frontier, 0));
    assert_eq!(tier("haiku[1m]"), (Tier::Frugal, 0));
    assert_eq!(tier("claude-opus-4-5"), (Tier::Standard, 1));
}

#[test]
fn a_file_of_gestalt_has_tier_pipeline_and_domain() {
    let read = markdown(
        "name: dba\ndescription: d\ntier: frugal\npipeline: review\nrole: true\ndomain: [sql, indexes]\n",
    )
    .unwrap();
    assert_eq!((read.tier, read.kind), (Tier::Frugal, Kind::Reviewer));
    assert_eq!(read.domain, ["sql", "indexes"]);
    assert!(read.unknown.is_empty());
    let wrong = markdown("name: dba\ndescription: d\ntier: huge\n").unwrap_err();
    assert_eq!(wrong.to_string(), "its `tier` must be frugal, standard or frontier");
}

#[test]
fn files_of_opencode_have_no_name_and_those_of_gemini_may_be_remote() {
    let read = markdown("description: d\nmode: subagent\npermission: {edit: deny}\nreasoningEffort: high\n")
        .unwrap();
    assert_eq!((read.name.as_str(), unsupported(&read)), ("stem", vec!["permission", "reasoningEffort"]));
    assert_eq!(markdown("kind: local\nname: a\ndescription: d\n").unwrap().name, "a");
    for remote in [
        "kind: remote\nname: a\ndescription: d\n",
        "agent_card_url: https://example.com\nname: a\ndescription: d\n",
        "- kind: remote\n  name: a\n- agent_card_json: '{}'\n",
    ] {
        assert_eq!(markdown(remote), Err(ExpertError::Remote));
    }
    assert_eq!(markdown("- a\n"), Err(ExpertError::NoFields));
    assert_eq!(markdown("description: d\ndisable: true\n"), Err(ExpertError::Disabled));
}

#[test]
fn a_file_of_codex_is_read() {
    let read = codex(
        "name = \"explorer\"\ndescription = \"d\"\nsandbox_mode = \"read-only\"\nmodel_provider = \"x\"\n\
         nickname_candidates = [\"Ada\"]\n\
         developer_instructions = \"\"\"\nRead first.\n\"\"\"\n",
    )
    .unwrap();
    assert_eq!((read.name.as_str(), read.persona.as_str()), ("explorer", "Read first."));
    assert_eq!(unsupported(&read), ["model_provider", "sandbox_mode"]);
    assert_eq!(read.unknown["nickname_candidates"], json!(["Ada"]));
    assert_eq!(codex("description = \"d\"\n").unwrap_err(), ExpertError::Missing("developer_instructions"));
}

#[test]
fn each_format_is_written_so_that_it_reads_the_same() {
    let first = markdown(
        "name: a\ndescription: 'Says: \"no\" and ---'\ntier: frontier\ndomain: x, y\ntools: [Read]\n1 b: {c: d}\n",
    )
    .unwrap();
    let again = |to: Format| Expert::read(first.written(to).as_bytes(), "other", to).unwrap();
    let digest = first.digest;
    assert_eq!(Expert { digest, ..again(Format::Markdown) }, first);
    let codex = again(Format::Codex);
    assert_eq!(
        (codex.name, codex.description, codex.persona),
        (first.name, first.description, first.persona)
    );
    for expert in built_in() {
        let text = expert.written(Format::Codex);
        assert_eq!(Expert::read(text.as_bytes(), "", Format::Codex).unwrap().persona, expert.persona);
    }
}

#[test]
fn a_name_is_made_plain_and_leads_nowhere() {
    let named = |given: &str| markdown(&format!("name: {given:?}\ndescription: d\n")).map(|read| read.name);
    assert_eq!(named("Frontend Developer").unwrap(), "frontend-developer");
    assert_eq!(named("../../etc/passwd").unwrap(), "etc-passwd");
    assert_eq!(named("List"), Err(ExpertError::Reserved("list".to_owned())));
    for bad in ["..", "/", "- -", &"x".repeat(65)] {
        assert_eq!(named(bad), Err(ExpertError::Name), "{bad}");
    }
}

#[test]
fn hostile_files_are_refused_with_their_reason() {
    let read = |bytes: &[u8]| Expert::read(bytes, "a", Format::Markdown).unwrap_err().to_string();
    assert_eq!(read(&vec![b'x'; 10 << 20]), "it is larger than 256 KiB");
    assert_eq!(read(b"---\nname: \xff\n---\n"), "it is not UTF-8 text");
    for (c, shown) in [
        ('\x1b', "U+001B"),
        ('\r', "U+000D"),
        ('\u{ad}', "U+00AD"),
        ('\u{200b}', "U+200B"),
        ('\u{202e}', "U+202E"),
        ('\u{2063}', "U+2063"),
        ('\u{3164}', "U+3164"),
        ('\u{feff}', "U+FEFF"),
        ('\u{e0049}', "U+E0049"),
        ('\u{e0100}', "U+E0100"),
    ] {
        let file = format!("---\nname: a\n---\nright{c}left\n");
        assert_eq!(read(file.as_bytes()), format!("{shown} in line 4 is invisible"));
    }
    assert_eq!(read(b"# A page\n"), "front matter is missing: the first line must be `---`");
    assert_eq!(read(b"---\n---\nText\n"), "its front matter has no fields");
    assert_eq!(read(b"---\nname: a\ndescription: d\n---\n \n"), "it has no `persona`, or it is empty");
    assert_eq!(
        read(b"---\nname: a\nname: b\ndescription: d\n---\nx\n"),
        "its front matter is not valid YAML: line 3: duplicate mapping key `name` is not allowed here"
    );
    assert!(read(format!("---\nx: {}\n---\nx\n", "[".repeat(9_000)).as_bytes()).contains("not valid YAML"));
    assert_eq!(markdown("name: [a]\ndescription: d\n").unwrap_err().to_string(), "its `name` must be a text");
    for bad in ["=", &"a = ".repeat(9_000), &format!("a = {}", "[".repeat(9_000)), "name = 1979-05-27\n"] {
        codex(bad).unwrap_err();
    }
}

#[test]
fn emoji_line_ends_of_windows_and_a_byte_order_mark_are_no_hidden_text() {
    let file = "\u{feff}---\r\nname: a\r\ndescription: d\r\n---\r\nHi \u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}\r\n";
    Expert::read(file.as_bytes(), "a", Format::Markdown).unwrap();
}

#[test]
fn only_markdown_and_toml_files_can_be_experts() {
    let of = |name: &str| Format::of(name);
    assert_eq!(
        (of("a.md"), of("AGENT.MD"), of("b.toml")),
        (Some(Format::Markdown), Some(Format::Markdown), Some(Format::Codex))
    );
    assert_eq!((of("README.md"), of("a.txt"), of("md")), (None, None, None));
}
