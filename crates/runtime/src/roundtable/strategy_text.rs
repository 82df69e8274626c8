//! What the phases of the strategies put to the agents: one file for each strategy, one section for each phase.

use adjourn_core::roundtable::{Phase, Strategy};

const FILES: &[(&str, &str)] = &[
    ("standard", include_str!("../../roundtable/strategies/standard.md")),
    ("debate", include_str!("../../roundtable/strategies/debate.md")),
    ("disney", include_str!("../../roundtable/strategies/disney.md")),
    ("consensus-driven", include_str!("../../roundtable/strategies/consensus-driven.md")),
    ("six-hats", include_str!("../../roundtable/strategies/six-hats.md")),
];

/// What a phase of a strategy puts to the agents.
///
/// # Panics
///
/// If the strategy came without its file: a test holds each against the files.
pub(super) fn phase_text(strategy: &Strategy, phase: &Phase) -> &'static str {
    section(strategy.name, phase.name).expect("every phase of every strategy has its section")
}

fn section(strategy: &str, phase: &str) -> Option<&'static str> {
    let (_, file) = FILES.iter().find(|(name, _)| *name == strategy)?;
    file.split("## ").find_map(|section| Some(section.strip_prefix(phase)?.strip_prefix('\n')?.trim()))
}

#[cfg(test)]
mod tests {
    use adjourn_core::roundtable::Strategy;

    use super::{FILES, section};

    #[test]
    fn every_phase_has_its_prompt_and_every_prompt_its_phase() {
        for strategy in Strategy::ALL {
            for phase in strategy.phases {
                let text = section(strategy.name, phase.name);
                assert!(text.is_some_and(|text| text.len() > 40), "{} {}", strategy.name, phase.name);
            }
        }
        for (name, file) in FILES {
            let strategy = Strategy::named(name).unwrap();
            let titles: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            let phases: Vec<_> = strategy.phases.iter().map(|phase| phase.name).collect();
            assert_eq!(titles, phases, "{name}");
        }
    }
}
