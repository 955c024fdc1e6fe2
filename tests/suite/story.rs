//! A run with a predictable ending: cut and resumed, it must end as an undisturbed run.

use std::process::Command;

use crate::outcome::{Outcome, repeated};
use crate::scene::{Ran, Scene};

pub(crate) trait Story: Sync {
    /// Creates a new scene in which the run has not begun.
    fn scene(&self) -> Scene;

    /// Returns the command that begins the run.
    fn begin(&self, scene: &Scene) -> Command;

    /// Returns the command that resumes the run.
    fn resume(&self, scene: &Scene) -> Command;

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome;

    /// Fails unless everything holds that must hold after any ending.
    fn assert_tidy(&self, scene: &Scene, story: &str);

    /// Fails unless this run contains what the story tests.
    fn assert_telling(&self, scene: &Scene, ran: &Ran);

    /// Returns the command to continue with after a kill.
    fn go_on(&self, scene: &Scene) -> Command {
        if scene.run_folders().is_empty() { self.begin(scene) } else { self.resume(scene) }
    }

    /// Returns the outcome of an undisturbed run.
    fn whole(&self) -> Outcome {
        let scene = self.scene();
        let ran = Ran::of(self.begin(&scene).output().expect("our binary starts"));
        self.assert_telling(&scene, &ran);
        self.assert_tidy(&scene, "not cut");
        assert_eq!(repeated(&scene), 0);
        self.outcome(&scene, &ran)
    }
}
