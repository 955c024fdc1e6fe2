//! What `tune` asks before it begins.

use clap::ValueEnum as _;
use skilltune_phases::target::Mode;

use crate::loops::tune::settings::Preset;
use crate::settings::values::word;
use crate::terminal::complaint::Complaint;
use crate::terminal::questions::Answers;

pub fn preset(person: &dyn Answers, suggested: Preset) -> Result<Preset, Complaint> {
    let presets = Preset::value_variants();
    let options: Vec<String> = presets.iter().copied().map(option).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let start = presets.iter().position(|&preset| preset == suggested).unwrap_or(1);
    Ok(presets[person.pick("How thorough should the search be?", &options, start)?])
}

fn option(preset: Preset) -> String {
    let advice = if preset == Preset::Standard { " (recommended)" } else { "" };
    format!("{}: {} rounds, goal {}{advice}", word(&preset), preset.rounds(), preset.threshold().typed())
}

pub fn mode(person: &dyn Answers, skills: usize) -> Result<Mode, Complaint> {
    const OPTIONS: [&str; 2] = [
        "single: each skill by itself (recommended)",
        "chain: each skill works on the output of the one before",
    ];
    let question = format!("How should these {skills} skills be tuned?");
    Ok([Mode::Single, Mode::Chain][person.pick(&question, &OPTIONS, 0)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_tell_what_they_mean() {
        assert_eq!(option(Preset::Standard), "standard: 5 rounds, goal 80 (recommended)");
        assert_eq!(option(Preset::Thorough), "thorough: 8 rounds, goal 90");
    }
}
