//! Real agents in a real bubblewrap.

use serde_json::json;

use crate::scene::Scene;
use crate::whole::assert_improved;

#[test]
#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
fn a_real_agent_improves_a_skill_in_a_bubblewrap_and_a_write_outside_vanishes() {
    // One agent is confined by the system alone, the other has its own sandbox.
    for agent in ["claude", "codex:gpt-5.5-codex"] {
        let scene = Scene::new();
        if !scene.install_bubblewrap() {
            eprintln!("SKIPPED: there is no bubblewrap, on the PATH or in target/agents/bubblewrap");
            assert_eq!(std::env::var_os("CI"), None, "a machine that is to show it must not pass without it");
            return;
        }
        let (bwrap, pwned) = (scene.path("bin/bwrap"), scene.path("home/pwned"));
        let inner = format!(": > '{}' && echo written >&2; exec \"$@\"", pwned.display());
        let words = json!([
            bwrap,
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "{home}",
            "--ro-bind",
            "{prompt_folder}",
            "{prompt_folder}",
            "--bind",
            "{workspace}",
            "{workspace}",
            "--bind",
            "{temp}",
            "{temp}",
            "--chdir",
            "{workspace}",
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--die-with-parent",
            "--new-session",
            "--",
            "sh",
            "-c",
            inner,
            "sh",
        ]);
        std::fs::create_dir_all(scene.path("home/.config/skilltune")).unwrap();
        scene.write("home/.config/skilltune/skilltune.toml", &format!("[calls]\nwrap = {words}\n"));
        let ran = scene.tune("good", "good", &["--agent", agent, "--jobs", "2"]);
        assert_improved(&scene, &ran);
        assert_eq!(ran.summary["rights"]["evaluator"], "wrapper + agent", "{ran:?}");
        let stderr = scene.agents_stderr();
        assert_eq!(stderr.lines().filter(|line| *line == "written").count(), 9, "{stderr}");
        assert!(!pwned.exists());
    }
}
