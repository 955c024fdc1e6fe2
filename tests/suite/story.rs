//! A run that can be told in advance: cut and resumed, it must end as it would have.

use std::process::Command;

use crate::outcome::{Outcome, repeated};
use crate::scene::{Ran, Scene};

pub(crate) trait Story: Sync {
    /// A new world in which it has not begun.
    fn scene(&self) -> Scene;

    /// The command that begins it.
    fn begin(&self, scene: &Scene) -> Command;

    /// The command that takes it up.
    fn resume(&self, scene: &Scene) -> Command;

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome;

    /// Fails unless all holds that must whenever the run has ended.
    fn assert_tidy(&self, scene: &Scene, story: &str);

    /// Fails unless this run has what the story is told for.
    fn assert_telling(&self, scene: &Scene, ran: &Ran);

    /// The command to go on with, whatever a killed one has left.
    fn go_on(&self, scene: &Scene) -> Command {
        if scene.run_folders().is_empty() { self.begin(scene) } else { self.resume(scene) }
    }

    /// How it ends when nothing happens to it.
    fn whole(&self) -> Outcome {
        let scene = self.scene();
        let ran = Ran::of(self.begin(&scene).output().expect("our binary starts"));
        self.assert_telling(&scene, &ran);
        self.assert_tidy(&scene, "not cut");
        assert_eq!(repeated(&scene), 0);
        self.outcome(&scene, &ran)
    }
}
