//! What a child finds of folders that its call hides. Without a namespace it finds all of them, and the end says so.

use std::fs;
use std::path::PathBuf;

use skilltune_orchestrator::process::{Call, Canceller, Confinement, Ended, Hidden, How, can_confine};

use crate::stage::{Stage, guardian, is_contained, run};

const SECRET: &str = "as we wrote it";

/// Folders of ours: `ours/secret`, `ours/prompt`, and `ours/calls/{mine,other}`, each with a file in it.
struct Scene {
    stage: Stage,
    ours: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let stage = Stage::new();
        let ours = stage.path("ours");
        for call in ["mine", "other"] {
            fs::create_dir_all(ours.join("calls").join(call)).unwrap();
            fs::write(ours.join("calls").join(call).join("file"), format!("of {call}\n")).unwrap();
        }
        fs::write(ours.join("secret"), SECRET).unwrap();
        fs::write(ours.join("prompt"), "a prompt\n").unwrap();
        Self { stage, ours }
    }

    /// Returns a call of a shell in its own folder. `$1` is the hidden place.
    fn call(&self, script: &str) -> Call {
        let argv = ["/bin/sh", "-c", script, "sh", self.ours.to_str().unwrap()].map(Into::into);
        let mut call = Call { argv: argv.into(), cwd: self.ours.join("calls/mine"), ..self.stage.call(&[]) };
        call.env.push(("PATH".to_owned(), std::env::var("PATH").unwrap()));
        call
    }

    fn hiding(&self, script: &str) -> Call {
        let shown = ["calls/mine", "prompt", "missing"].map(|name| self.ours.join(name).into());
        let places = [self.ours.join("calls"), self.ours.clone(), self.stage.path("missing")];
        Call {
            hidden: Some(Hidden { places: places.map(Into::into).into(), shown: shown.into() }),
            ..self.call(script)
        }
    }

    fn stdout(&self) -> String {
        fs::read_to_string(self.stage.path("stdout")).unwrap_or_default()
    }
}

/// Runs calls one after another under the same guardian, and returns how each ended and what it printed.
fn run_all(scene: &Scene, calls: &[Call]) -> Vec<(Ended, String)> {
    let mut guardian = guardian();
    let canceller = Canceller::new().unwrap();
    let one = |call| (guardian.run(call, &canceller.cancel_token()).unwrap(), scene.stdout());
    let all = calls.iter().map(one).collect();
    guardian.close();
    all
}

#[test]
fn a_hidden_place_is_empty_but_for_what_is_shown_and_the_next_call_finds_it_as_it_was() {
    let scene = Scene::new();
    let script = "cd \"$1\" && find . | sort; cat secret";
    let contained = is_contained();
    let all = run_all(&scene, &[scene.call(script), scene.hiding(script), scene.call(script)]);
    assert_eq!(all[0].1, all[2].1);
    assert!(all[0].1.ends_with(SECRET), "{}", all[0].1);
    let found = if contained { ".\n./calls\n./calls/mine\n./calls/mine/file\n./prompt\n" } else { &all[0].1 };
    assert_eq!(all[1].1, found);
    assert_eq!([0, 1, 2].map(|nth| all[nth].0.hidden), [false, contained, false]);
    assert_eq!(scene.stage.record(), Some(all[2].0.clone()));
}

#[test]
fn what_it_writes_in_a_shown_folder_stays_and_nothing_can_be_written_beside_it() {
    let scene = Scene::new();
    let script = "cat \"$1/prompt\" ../mine/file; echo new > new; rm file; \
                  for at in \"$1\" ..; do mkdir \"$at/folder\" 2>&- || echo refused; done";
    let ended = run(&scene.hiding(script)).unwrap();
    let refused = if is_contained() { "refused\nrefused\n" } else { "" };
    assert_eq!((ended.how, scene.stdout()), (How::Exited(0), format!("a prompt\nof mine\n{refused}")));
    let mine = scene.ours.join("calls/mine");
    assert_eq!(fs::read_to_string(mine.join("new")).unwrap(), "new\n");
    assert!(!mine.join("file").exists());
    assert_eq!(scene.ours.join("folder").exists(), !is_contained());
}

#[test]
fn no_way_leads_to_what_is_hidden() {
    if !is_contained() {
        return; // Nothing is hidden.
    }
    let scene = Scene::new();
    let scripts = [
        "cat \"$1/secret\"",
        "cat ../../secret; cat ../../../ours/secret",
        "cat ../other/file ../../calls/other/file",
        "umount -l \"$1\"; cat \"$1/secret\"; umount \"$1/calls/mine\"; cd \"$1\"; cat secret",
        "unshare -m sh -c 'umount -l \"$1\"; cat \"$1/secret\"' sh \"$1\"",
        "unshare -Urm sh -c 'umount -l \"$1\"; umount \"$1\"; cat \"$1/secret\"' sh \"$1\"",
        "unshare -Urm sh -c 'mkdir all; mount --bind / all; cat \"all$1/secret\"' sh \"$1\"",
        "unshare -Urm sh -c 'mkdir all; mount --rbind / all; umount -l \"all$1\"; cat \"all$1/secret\"' sh \"$1\"",
        "nsenter --target 1 --mount cat \"$1/secret\"",
        "for root in /proc/[0-9]*/root; do cat \"$root$1/secret\"; done",
        "for up in . .. ../..; do cat /proc/[0-9]*/cwd/$up/secret /proc/[0-9]*/fd/*/$up/secret; done",
    ];
    for script in scripts {
        // A shell that runs on after each failure, and finds the file if nothing is hidden.
        let all =
            run_all(&scene, &[scene.hiding(script), scene.call(&format!("{script}; cat \"$1/secret\""))]);
        let [(ended, stdout), (_, control)] = &all[..] else { panic!("two calls") };
        assert!(ended.hidden && matches!(ended.how, How::Exited(_)), "{script}: {ended:?}");
        assert!(!stdout.contains(SECRET) && !stdout.contains("of other"), "{script}: {stdout}");
        assert!(control.contains(SECRET), "{script}: {control}");
        let _ = fs::remove_dir(scene.ours.join("calls/mine/all"));
    }
}

#[test]
fn input_output_and_record_may_be_in_a_hidden_place() {
    for writes_itself in [false, true] {
        let scene = Scene::new();
        let [stdin, stdout, record] =
            ["calls/other/file", "output", "record"].map(|name| scene.ours.join(name));
        let call = Call {
            stdin: Some(stdin),
            stdout: stdout.clone(),
            record: record.clone(),
            writes_itself,
            ..scene.hiding("cat")
        };
        let ended = run(&call).unwrap();
        assert_eq!((&ended.how, ended.hidden), (&How::Exited(0), is_contained()));
        assert_eq!(fs::read_to_string(stdout).unwrap(), "of other\n");
        assert_eq!(Ended::recorded(&record).unwrap(), Some(ended));
    }
}

#[test]
fn if_one_place_cannot_be_hidden_none_is_and_the_program_cannot_claim_it() {
    let scene = Scene::new();
    let mut call = scene.hiding("echo h >&0; pwd; cd ../.. && pwd; cat calls/other/file secret");
    let file = scene.ours.join("secret");
    call.hidden.as_mut().unwrap().places = vec![scene.ours.join("calls").into(), file.into()];
    let ended = run(&call).unwrap();
    assert!(!ended.hidden, "{ended:?}");
    let ours = fs::canonicalize(&scene.ours).unwrap();
    let ours = ours.display();
    assert_eq!(scene.stdout(), format!("{ours}/calls/mine\n{ours}\nof other\n{SECRET}"));
}

#[test]
fn a_child_may_be_confined_as_well() {
    if !can_confine() {
        return;
    }
    let scene = Scene::new();
    let mut call = scene.hiding("echo new > new && cat new; cat \"$1/secret\"; echo no > \"$1/prompt\"");
    call.confinement = Some(Confinement { writes: vec![call.cwd.clone().into()] });
    let ended = run(&call).unwrap();
    assert_eq!(ended.hidden, is_contained());
    assert_eq!(scene.stdout(), if ended.hidden { "new\n".to_owned() } else { format!("new\n{SECRET}") });
    assert_eq!(fs::read_to_string(scene.ours.join("prompt")).unwrap(), "a prompt\n");
}

#[test]
fn a_program_that_is_not_there_was_not_started() {
    let scene = Scene::new();
    let missing = Call { argv: vec![scene.stage.path("no-such-program").into()], ..scene.hiding("") };
    let ended = run(&missing).unwrap();
    assert!(matches!(&ended.how, How::NotStarted { why } if why.contains("no-such-program")), "{ended:?}");
    let ended = run(&Call { stdin: Some(scene.stage.path("missing")), ..scene.hiding("cat") }).unwrap();
    assert!(matches!(&ended.how, How::NotStarted { why } if why.contains("cannot open")), "{ended:?}");
}
