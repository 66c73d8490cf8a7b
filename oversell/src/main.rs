//! The command line of Oversell. Each command is one call into the crates behind it.

#[cfg(feature = "bench")]
mod bench;
mod check;
mod choose;
mod client;
mod command_line;
mod completions;
mod console;
mod demo;
mod deployment;
mod doctor;
mod documents;
mod exit;
mod explore;
mod faults;
mod health;
mod interrupt;
mod isolation;
mod journal;
mod lab;
mod live;
mod markdown;
#[cfg(not(feature = "bench"))]
mod no_bench;
mod open_files;
mod options;
mod page;
mod plan;
mod progress;
mod purchases;
mod race;
mod reachable;
mod report;
mod result_writer;
mod rounds_file;
mod run;
mod run_folder;
mod running_shop;

mod selection;
mod serve;
mod stdout;
mod strategies;
mod text_file;
mod threats;
mod token;
mod traces_folder;
mod trust;
mod up;
mod values;
mod workers_token;

use std::process::ExitCode;

#[cfg(not(feature = "bench"))]
use no_bench as bench;
use options::{Command, Options};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let options = Options::parse_or_exit();
    // The old limit is enough for a small crowd.
    let _ = open_files::raise_limit();
    let result = match options.command() {
        Command::Run(options) => run::run(*options),
        Command::Demo(options) => demo::demo(options),
        Command::Explore(options) => explore::explore(options),
        Command::Replay(options) => explore::replay(options),
        Command::Isolation(options) => isolation::isolation(options),
        Command::Lab(options) => lab::lab(options),
        Command::Up(options) => up::up(options),
        Command::Page(options) => page::page(options),
        Command::Buy(options) => purchases::buy(&options),
        Command::Crowd(options) => purchases::crowd(&options),
        Command::Check(options) => check::check(&options),
        Command::Race(options) => race::race(options),
        Command::Redis(options) => client::redis(&options),
        Command::Sql(options) => client::sql(&options),
        Command::Serve(options) => serve::serve(options),
        Command::Faults(options) => faults::faults(options),
        Command::Journal(options) => journal::journal(&options),
        Command::Health(options) => health::health(options.address),
        Command::Report(options) => report::report(&options),
        Command::Compare(options) => report::compare(&options),
        Command::Choose(options) => choose::choose(&options),
        Command::Bench(options) => bench::bench(options),
        Command::Strategies(options) => strategies::strategies(&options),
        Command::Threats(options) => threats::threats(&options),
        Command::Doctor(options) => doctor::doctor(&options),
        Command::Completions(options) => completions::completions(&options),
    };
    exit::code(result)
}
