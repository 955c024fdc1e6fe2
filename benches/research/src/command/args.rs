//! The arguments.

use std::ops::RangeInclusive;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, ValueEnum};
use skilltune_phases::judging::proof::Confidence;
use skilltune_research::{Law, Policy};

const WORLD: &str = "World";

const EXAMPLES: &str = "\
Examples:
  skilltune-research
  skilltune-research --policy rounds --runs 32,64 --seeds 1000
  skilltune-research --fixes 0.3 --breaks 0.5     # an improver that does more harm than good";

/// Compare search policies in a simulated world, without agents or cost
#[derive(Clone, Debug, Parser)]
#[command(after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Arguments {
    /// Search policies, comma-separated [default: all that differ in that world; lowest only in chains]
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', value_parser = policies())]
    pub(crate) policy: Vec<Policy>,
    /// Budgets: executor runs of one search, comma-separated
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [16, 32, 64, 128], value_parser = clap::value_parser!(u32).range(i64::from(Policy::FEWEST_RUNS)..=512))]
    pub(crate) runs: Vec<u32>,
    /// Number of simulated searches per policy and budget
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) seeds: u32,
    /// The first seed: use other seeds than those a policy was tuned on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first_seed: u32,
    /// Confidence of a final comparison: 0.8, 0.9 or 0.95
    #[arg(long, value_name = "SHARE", default_value_t = Confidence::default())]
    pub(crate) confidence: Confidence,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) world: WorldFlags,
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text
    #[default]
    Human,
    /// JSON object or array
    Json,
}

impl Arguments {
    pub(crate) fn checked(self) -> Result<Self, clap::Error> {
        let WorldFlags { members, broken, .. } = self.world;
        if broken > members {
            let what = format!(
                "a chain of {members} has no member {broken}\nhint: pass --members with a higher number"
            );
            return Err(Self::command().error(ErrorKind::ValueValidation, what));
        }
        Ok(self)
    }
}

/// The numbers of the simulated world.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = WORLD)]
pub(crate) struct WorldFlags {
    /// Facets that the skill has at the start, of 12
    #[arg(long, value_name = "N", default_value_t = Law::default().start, value_parser = count::<0, { Law::FACETS }>)]
    pub(crate) start: usize,
    /// Scenarios in the suite
    #[arg(long, value_name = "N", default_value_t = Law::default().pool, value_parser = count::<{ Policy::FEWEST_SCENARIOS }, 100>)]
    pub(crate) pool: usize,
    /// How often an execution shows a facet that the skill has
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().shows, value_parser = share)]
    pub(crate) shows: f64,
    /// How often an execution shows a facet that the skill lacks
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().shows_absent, value_parser = share)]
    pub(crate) shows_absent: f64,
    /// How often the judge fails a statement that is false
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().finds, value_parser = share)]
    pub(crate) finds: f64,
    /// How often the judge fails a statement that is true
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().invents, value_parser = share)]
    pub(crate) invents: f64,
    /// How much the judge's strictness varies from trial to trial, in points
    #[arg(long, value_name = "POINTS", default_value_t = Law::default().noise, value_parser = noise)]
    pub(crate) noise: f64,
    /// Points that the judge adds to a score, besides its errors; below 0 for a strict judge
    #[arg(long, value_name = "POINTS", default_value_t = Law::default().leniency, value_parser = leniency, allow_negative_numbers = true)]
    pub(crate) leniency: f64,
    /// Maximum number of weaknesses that the improver works on at once
    #[arg(long, value_name = "N", default_value_t = Law::default().edits, value_parser = count::<0, { Law::FACETS }>)]
    pub(crate) edits: usize,
    /// How often the improver fixes a weakness that it works on
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().fixes, value_parser = share)]
    pub(crate) fixes: f64,
    /// How often it breaks something else with each of these edits
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().breaks, value_parser = share)]
    pub(crate) breaks: f64,
    /// How often a second improver, which takes turns with the first, fixes a weakness [default: no second improver]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) second_fixes: Option<f64>,
    /// How often the second improver breaks something else
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) second_breaks: Option<f64>,
    /// Share of its fixes that hold only on the scenario that showed the weakness
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().overfits, value_parser = share)]
    pub(crate) overfits: f64,
    /// Members of the chain; 1 for a single skill
    #[arg(long, value_name = "N", default_value_t = Law::default().members, value_parser = count::<1, { Law::FACETS }>)]
    pub(crate) members: usize,
    /// Member that has none of its facets at the start; 0 for none
    #[arg(long, value_name = "K", default_value_t = Law::default().broken, value_parser = count::<0, { Law::FACETS }>)]
    pub(crate) broken: usize,
    /// How often a member passes on a facet that its input shows
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().hands_on, value_parser = share)]
    pub(crate) hands_on: f64,
    /// Share of facets whose statements are about the end of the chain, not about their own member
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().at_end, value_parser = share)]
    pub(crate) at_end: f64,
    /// How often the judge names the member at fault; otherwise it names any member
    #[arg(long, value_name = "SHARE", default_value_t = Law::default().names, value_parser = share)]
    pub(crate) names: f64,
}

impl WorldFlags {
    pub(crate) fn law(self) -> Law {
        let Self { start, pool, shows, shows_absent, finds, invents, .. } = self;
        let Self { noise, leniency, edits, fixes, breaks, overfits, second_fixes, second_breaks, .. } = self;
        let Self { members, broken, hands_on, at_end, names, .. } = self;
        Law {
            start,
            pool,
            shows,
            shows_absent,
            finds,
            invents,
            noise,
            leniency,
            edits,
            fixes,
            breaks,
            second_fixes,
            second_breaks,
            overfits,
            members,
            broken,
            hands_on,
            at_end,
            names,
        }
    }
}

fn policies() -> impl clap::builder::TypedValueParser<Value = Policy> {
    let names = PossibleValuesParser::new(Policy::NAMED.map(Policy::name));
    names.map(|name| Policy::named(&name).expect("only names of policies are possible"))
}

fn share(text: &str) -> Result<f64, String> {
    number(text, 0.0..=1.0)
}

fn noise(text: &str) -> Result<f64, String> {
    number(text, 0.0..=50.0)
}

fn leniency(text: &str) -> Result<f64, String> {
    number(text, -50.0..=50.0)
}

fn number(text: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("must be a number from {} to {}", range.start(), range.end()))
}

fn count<const LOW: usize, const HIGH: usize>(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (LOW..=HIGH).contains(count));
    count.ok_or_else(|| format!("must be a whole number from {LOW} to {HIGH}"))
}
