//! Which rounds a run plays, by its options.

use anyhow::Result;
use app::strategies::Entry;
use loadtest::deployment::Deployment;
use loadtest::plan::soak::{self, Soak};
use loadtest::plan::{self, Round, Wanted};
use loadtest::sale::Load;
use loadtest::shop::catalogue::Strategy;
use loadtest::threats::{self, Threat};

use crate::exit::Usage;
use crate::options::RunOptions;
use crate::selection::select;

/// Instance counts of a run that names none; a third instance shows nothing that two do not, only more of it.
const INSTANCES: [usize; 2] = [1, 2];

/// The same for a run of all strategies.
const INSTANCES_OF_ALL: [usize; 3] = [1, 2, 3];

/// The threats of a run that names none: what the project is about, in little time. A run of all strategies plays all, and a
/// soak draws from all.
const THREATS: [&str; 5] = [
    "one-buyer",
    "crowd",
    "second-instance",
    "crashed-holder",
    "paused-holder",
];

/// How often each round is played, where that is not given.
const REPEATS: u32 = 5;

/// The same for a run of all strategies: half an hour is as long as anybody waits.
const REPEATS_OF_ALL: u32 = 2;

/// Buyers at once, where their number is not given.
const BUYERS: u64 = 32;

/// The rounds that are to be played there, once the shop has named its strategies.
///
/// # Errors
/// When the shop does not name them as it should, or nothing of what was asked for can be played.
pub async fn rounds(options: &RunOptions, drawn_from: Option<Soak>, deployment: &mut Deployment) -> Result<Vec<Round>> {
    let counts = counts(options, deployment);
    let threats = named_threats(options, &counts)?;
    let first = counts.first().copied().unwrap_or(1);
    let catalogue = deployment.running(first, &[])?.client.strategies().await?;
    threats::check_claims(&catalogue)?;
    let wanted = Wanted {
        threats,
        instances: counts,
        load: load(options),
        repeats: match (drawn_from, options.repeat) {
            (Some(_), _) => 1,
            (None, Some(repeats)) => repeats,
            (None, None) if options.all => REPEATS_OF_ALL,
            (None, None) => REPEATS,
        },
    };
    let mut rounds = plan::rounds(&chosen(options, &catalogue)?, &wanted);
    if let Some(soak) = drawn_from {
        rounds.retain(|round| round.why_not(deployment).is_none());
        rounds = soak.draw(&rounds);
        if rounds.is_empty() {
            let wrong = "nothing of this can be in a soak: it takes strategies that claim to survive crowd, second-instance \
                         and paused-holder, and threats that they claim to survive and that can be played here";
            return Err(Usage(wrong.to_owned()).into());
        }
    }
    Ok(rounds)
}

/// What the chosen strategies need, as far as that is known before a shop is asked. Those that are played without
/// being chosen need nothing but the stores.
pub fn needs(options: &RunOptions) -> Vec<&'static str> {
    let all = Entry::all();
    let names: Vec<_> = all.iter().map(|entry| entry.name.as_str()).collect();
    // What nobody knows is said once the shop has named its strategies.
    let selected = select("strategy", &options.strategy, &names).unwrap_or_default();
    let is_meant = |entry: &&Entry| match (options.strategy.as_slice(), options.soak) {
        ([], Some(_)) => soak::is_safe(&entry.claims()),
        ([], None) => options.all,
        ([..], _) => selected.contains(&entry.name.as_str()),
    };
    let mut needs: Vec<_> = all
        .iter()
        .filter(is_meant)
        .flat_map(|entry| entry.needs.iter().copied())
        .collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// Whether every strategy and every threat is meant where none is named.
fn chooses_from_all(options: &RunOptions) -> bool {
    options.all || options.soak.is_some()
}

fn counts(options: &RunOptions, deployment: &Deployment) -> Vec<usize> {
    let mut counts: Vec<usize> = options.instances.iter().copied().map(usize::from).collect();
    if counts.is_empty() {
        counts = match deployment {
            Deployment::Local(_) if options.all => INSTANCES_OF_ALL.to_vec(),
            Deployment::Local(_) => INSTANCES.to_vec(),
            Deployment::Remote(remote) => vec![remote.running.count],
        };
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// In the order of the list, whatever the order of the options. One that is named is played, or refused.
fn named_threats(options: &RunOptions, counts: &[usize]) -> Result<Vec<&'static Threat>> {
    if options.threat.is_empty() {
        let played = threats::all().iter();
        return Ok(played
            .filter(|threat| chooses_from_all(options) || THREATS.contains(&threat.name))
            .collect());
    }
    let names = select("threat", &options.threat, &threats::names())?;
    let is_named = |threat: &&'static Threat| names.contains(&threat.name);
    let named: Vec<_> = threats::all().iter().filter(is_named).collect();
    if let Some(unplayed) = named.iter().find(|threat| threat.instances_of(counts).is_empty()) {
        let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
        let (name, counts) = (unplayed.name, counts.join(" or "));
        let wrong = format!("{name} is not played on {counts} instances; --instances chooses others");
        return Err(Usage(wrong).into());
    }
    Ok(named)
}

fn load(options: &RunOptions) -> Load {
    Load {
        buyers: options.buyers.unwrap_or(BUYERS.min(options.requests)) as usize,
        requests: options.requests as usize,
        stock: options.stock,
        items: options.items as usize,
        quantity: options.quantity,
        work_ms: options.work_ms,
    }
}

fn chosen(options: &RunOptions, catalogue: &[Strategy]) -> Result<Vec<Strategy>> {
    if options.strategy.is_empty() {
        return Ok(if chooses_from_all(options) {
            catalogue.to_vec()
        } else {
            plan::one_per_family(catalogue)
        });
    }
    let known: Vec<_> = catalogue.iter().map(|strategy| strategy.name.as_str()).collect();
    let selected = select("strategy", &options.strategy, &known)?;
    let named = |name: &&str| catalogue.iter().find(|strategy| strategy.name == **name).cloned();
    Ok(selected.iter().filter_map(named).collect())
}
