//! Strategies: who speaks, in which order, and what they see. Nobody sees the round that is going on.

use adjourn_core::roundtable::{Command, Purpose, Role, Seat, Side, Stance, StanceRule, Strategy, Todo};

use super::table::{ROLES, Table, said, synthesis};

/// Holds `rounds` rounds of a strategy with four participants and says of each: its phase, who was asked in which order,
/// and what each saw.
fn told(strategy: &str, rounds: u32, seats: &[Seat]) -> String {
    let mut table = Table::with(|spec| {
        spec.strategy = strategy.to_owned();
        spec.participants = seats.to_vec();
    });
    let mut lines = Vec::new();
    for number in 1..=rounds {
        table.opens_round().asks("users");
        let phase = table.table.current().unwrap().phase.clone();
        lines.push(format!("{number} {phase}"));
        let Todo::Agents { to_start, .. } = table.table.todo() else { panic!("nobody is asked") };
        for purpose in to_start {
            let role = purpose.role();
            let seen = table.table.seen_by(&role);
            let mut saw: Vec<_> =
                seen.answers.iter().map(|(round, answer)| format!("{}/{round}", answer.role)).collect();
            saw.extend(seen.synthesis.map(|_| "synthesis".to_owned()));
            assert!(seen.answers.iter().all(|(round, _)| *round < number), "blind to the round");
            lines.push(format!("  {role}: {}", saw.join(" ")).trim_end().to_owned());
            let run_id = table.starts(purpose);
            let mut said = said("hm", 0.9);
            said.stance = Some(Stance::Support);
            table.does(Command::RecordAnswer { run_id, said });
        }
        table.synthesizes(synthesis(vec![]));
        table.does(Command::RecordRound);
    }
    lines.join("\n")
}

fn seats(count: usize) -> Vec<Seat> {
    ROLES[..count].iter().map(|role| Seat::participant(*role, "engine")).collect()
}

#[test]
fn the_standard_table_hears_everybody_on_the_last_synthesis() {
    insta::assert_snapshot!(told("standard", 2, &seats(3)), @r"
    1 discussion
      architect:
      qa:
      security:
    2 discussion
      architect: synthesis
      qa: synthesis
      security: synthesis
    ");
}

#[test]
fn a_debate_lets_the_sides_answer_each_other_and_the_neutral_ones_judge() {
    insta::assert_snapshot!(told("debate", 4, &seats(4)), @r"
    1 opening
      architect:
      security:
      qa:
      product:
    2 rebuttal
      qa: architect/1 security/1
      product: architect/1 security/1
      architect: qa/1 product/1
      security: qa/1 product/1
    3 closing
      qa: architect/1 security/1 qa/1 product/1 qa/2 product/2 architect/2 security/2
      product: architect/1 security/1 qa/1 product/1 qa/2 product/2 architect/2 security/2
      architect: architect/1 security/1 qa/1 product/1 qa/2 product/2 architect/2 security/2
      security: architect/1 security/1 qa/1 product/1 qa/2 product/2 architect/2 security/2
    4 opening
      architect:
      security:
      qa:
      product:
    ");
    let mut chosen = seats(3);
    chosen[1].side = Some(Side::For);
    chosen[2].side = Some(Side::Against);
    insta::assert_snapshot!(told("debate", 3, &chosen), @r"
    1 opening
      qa:
      security:
    2 rebuttal
      security: qa/1
      qa: security/1
    3 closing
      security: qa/1 security/1 security/2 qa/2
      qa: qa/1 security/1 security/2 qa/2
      architect: qa/1 security/1 security/2 qa/2
    ");
}

#[test]
fn the_disney_table_dreams_plans_and_criticises() {
    insta::assert_snapshot!(told("disney", 4, &seats(2)), @r"
    1 dreamer
      architect:
      qa:
    2 realist
      architect: architect/1 qa/1
      qa: architect/1 qa/1
    3 critic
      architect: architect/1 qa/1 architect/2 qa/2
      qa: architect/1 qa/1 architect/2 qa/2
    4 dreamer
      architect: synthesis
      qa: synthesis
    ");
}

#[test]
fn the_consensus_table_proposes_and_then_takes_stances() {
    insta::assert_snapshot!(told("consensus-driven", 3, &seats(2)), @r"
    1 proposal
      architect:
      qa:
    2 stance
      architect: architect/1 qa/1
      qa: architect/1 qa/1
    3 proposal
      architect: synthesis
      qa: synthesis
    ");
    let strategy = Strategy::named("consensus-driven").unwrap();
    let asks: Vec<_> = (1..=4).map(|round| strategy.phase(round).stance).collect();
    assert_eq!(asks, [StanceRule::Free, StanceRule::Required, StanceRule::Free, StanceRule::Required]);
}

#[test]
fn the_six_hats_are_worn_one_after_the_other_by_everybody() {
    insta::assert_snapshot!(told("six-hats", 7, &seats(2)), @r"
    1 white
      architect:
      qa:
    2 red
      architect:
      qa:
    3 yellow
      architect: architect/2 qa/2
      qa: architect/2 qa/2
    4 black
      architect: architect/3 qa/3
      qa: architect/3 qa/3
    5 green
      architect: architect/4 qa/4
      qa: architect/4 qa/4
    6 blue
      architect: architect/1 qa/1 architect/2 qa/2 architect/3 qa/3 architect/4 qa/4 architect/5 qa/5
      qa: architect/1 qa/1 architect/2 qa/2 architect/3 qa/3 architect/4 qa/4 architect/5 qa/5
    7 white
      architect: synthesis
      qa: synthesis
    ");
}

#[test]
fn the_sides_of_a_debate_alternate_where_nobody_chose_one() {
    let table = Table::with(|spec| {
        spec.strategy = "debate".to_owned();
        spec.participants = seats(3);
    });
    let sides: Vec<_> = table.table.spec().participants.iter().map(|seat| seat.side).collect();
    assert_eq!(sides, [Some(Side::For), Some(Side::Against), Some(Side::For)]);
}

#[test]
fn every_strategy_has_phases_with_names_of_their_own() {
    for strategy in Strategy::ALL {
        let mut names: Vec<_> = strategy.phases.iter().map(|phase| phase.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), strategy.phases.len(), "{}", strategy.name);
        assert_eq!(Strategy::named(strategy.name), Ok(*strategy));
    }
}

#[test]
fn a_purpose_names_the_role_that_fulfils_it() {
    assert_eq!(Purpose::Ask.role(), Role::facilitator());
    assert_eq!(Purpose::Answer(Role::new("qa")).role(), Role::new("qa"));
}
