//! The rounds that a run plays, by its options.

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
use crate::selection::{is_pattern, select};

/// Instance counts of a run that names none. A third instance shows nothing new, only more of it.
const INSTANCES: [usize; 2] = [1, 2];

/// The same for a run of all strategies.
const INSTANCES_OF_ALL: [usize; 3] = [1, 2, 3];

/// The threats of a run that names none: the main lessons, in little time. A run of all strategies plays all threats, and a
/// soak draws from all.
const THREATS: [&str; 5] = [
    "one-buyer",
    "crowd",
    "second-instance",
    "crashed-holder",
    "paused-holder",
];

/// The number of times that each round is played by default.
const REPEATS: u32 = 5;

/// The same for a run of all strategies, which takes long.
const REPEATS_OF_ALL: u32 = 2;

/// Buyers at once by default.
const BUYERS: u64 = 32;

/// Asks the shop for its strategies and returns the rounds to play there.
///
/// # Errors
/// When its catalogue is wrong, or nothing that was asked for can be played.
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
    let mut rounds = plan::rounds(&chosen(options, &catalogue, deployment)?, &wanted);
    if let Some(soak) = drawn_from {
        let missing = soak::missing(&rounds);
        rounds.retain(|round| round.why_not(deployment).is_none());
        rounds = soak.draw(&rounds);
        if rounds.is_empty() {
            let wrong = "nothing of this can be in a soak: a soak takes strategies that claim to survive crowd, \
                         second-instance and paused-holder, and threats that they claim to survive and that can be played here";
            return Err(Usage(wrong.to_owned()).into());
        }
        rounds.extend(missing);
    }
    Ok(rounds)
}

/// Returns the services that the chosen strategies need. Strategies that a run plays by default need nothing but the stores.
pub fn needs(options: &RunOptions) -> Vec<&'static str> {
    let all = Entry::all();
    let names: Vec<_> = all.iter().map(|entry| entry.name.as_str()).collect();
    // A name that is unknown here may be known to the shop, which has not been asked yet.
    let selected = select("strategy", &options.strategy, &names).unwrap_or_default();
    let is_chosen = |entry: &&Entry| match (options.strategy.as_slice(), options.soak) {
        ([], Some(_)) => soak::is_safe(&entry.claims()),
        ([], None) => options.all,
        ([..], _) => selected.contains(&entry.name.as_str()),
    };
    let mut needs: Vec<_> = all
        .iter()
        .filter(is_chosen)
        .flat_map(|entry| entry.needs.iter().copied())
        .collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// Whether a run that names no strategy or no threat plays all of them.
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

/// Returns the threats to play, in the order of the list. A pattern means those that can be played on these instance counts;
/// a threat that is named in full and cannot be played there is refused.
fn named_threats(options: &RunOptions, counts: &[usize]) -> Result<Vec<&'static Threat>> {
    if options.threat.is_empty() {
        let played = threats::all().iter();
        return Ok(played
            .filter(|threat| chooses_from_all(options) || THREATS.contains(&threat.name))
            .collect());
    }
    let names = select("threat", &options.threat, &threats::names())?;
    let named = threats::all().iter().filter(|threat| names.contains(&threat.name));
    let (played, unplayed): (Vec<_>, Vec<_>) = named.partition(|threat| !threat.instances_of(counts).is_empty());
    let mut refused = options.threat.iter().filter(|name| match is_pattern(name) {
        true => played.is_empty(),
        false => unplayed.iter().any(|threat| threat.name == **name),
    });
    if let Some(name) = refused.next() {
        let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
        let wrong = format!(
            "{name} is not played on {} instances; --instances chooses others",
            counts.join(" or ")
        );
        return Err(Usage(wrong).into());
    }
    Ok(played)
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

fn chosen(options: &RunOptions, catalogue: &[Strategy], deployment: &Deployment) -> Result<Vec<Strategy>> {
    if options.strategy.is_empty() {
        return Ok(match deployment {
            _ if chooses_from_all(options) => catalogue.to_vec(),
            // It is missing because this run did not start its services: see `needs`.
            Deployment::Local(_) => {
                let usable = catalogue.iter().filter(|strategy| strategy.missing.is_none());
                plan::one_per_family(&usable.cloned().collect::<Vec<_>>())
            }
            Deployment::Remote(_) => plan::one_per_family(catalogue),
        });
    }
    let known: Vec<_> = catalogue.iter().map(|strategy| strategy.name.as_str()).collect();
    let selected = select("strategy", &options.strategy, &known)?;
    let named = |name: &&str| catalogue.iter().find(|strategy| strategy.name == **name).cloned();
    Ok(selected.iter().filter_map(named).collect())
}
