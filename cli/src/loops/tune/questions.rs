//! The questions that `tune` asks before it starts.

use clap::ValueEnum as _;
use skilltune_phases::skills::target::Mode;

use crate::loops::tune::settings::Preset;
use crate::settings::values::word;
use crate::terminal::complaint::Complaint;
use crate::terminal::questions::Answers;

pub fn preset(person: &dyn Answers, suggested: Preset) -> Result<Preset, Complaint> {
    let presets = Preset::value_variants();
    let options: Vec<String> = presets.iter().copied().map(option).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let start = presets.iter().position(|&preset| preset == suggested).unwrap_or(1);
    Ok(presets[person.pick("How much may the search spend?", &options, start)?])
}

fn option(preset: Preset) -> String {
    let advice = if preset == Preset::Standard { " (recommended)" } else { "" };
    let (runs, rounds, goal) = preset.numbers();
    format!("{}: up to {runs} runs or {rounds} rounds, goal {}{advice}", word(&preset), goal.typed())
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
        assert_eq!(option(Preset::Standard), "standard: up to 48 runs or 5 rounds, goal 80 (recommended)");
        assert_eq!(option(Preset::Thorough), "thorough: up to 128 runs or 8 rounds, goal 90");
    }
}
