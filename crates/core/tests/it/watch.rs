//! What has to hold after every command, whatever came before it.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::fcmp::FrameType;
use adjourn_core::{
    Action, By, ClaimKey, Command, ContractAction, ContractDetail, ContractMachine, ContractReport, Event,
    Evidence, ExecutionId, ExecutionMode, Frame, Holder, Interaction, InteractionId, Known, Machine,
    Observation, OpenInteraction, Profile, Reply, Run, RunId, RunMachine, RunRow, RunStatus, RunTrigger,
    Stream, Strict, Subject, Survey, TurnEnd,
};
use serde_json::{Value, json};

use crate::walk::fresh_id;
use crate::world::{Accepted, Sight, World, stream};

/// What was seen of all runs so far, told by the commands and events alone.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Runs with a process of theirs that nobody has seen end.
    alive: BTreeSet<RunId>,
    /// Runs whose turn was cut off and has not begun again.
    interrupted: BTreeSet<RunId>,
    opened: BTreeSet<(RunId, InteractionId)>,
    resolved: BTreeSet<(RunId, InteractionId)>,
    needs_approval: BTreeSet<ExecutionId>,
    approved: BTreeSet<ExecutionId>,
    dispatched: BTreeSet<ExecutionId>,
    /// Irreversible calls that were made, and that nobody said had no effect.
    effects: BTreeMap<ClaimKey, ExecutionId>,
    /// Keys that are held for as long as a run is remembered.
    kept: BTreeMap<ClaimKey, Holder>,
    frames: BTreeMap<RunId, Vec<Frame>>,
}

impl Watch {
    /// Checks what a command came to and everything there is after it.
    pub(crate) fn check(&mut self, world: &World, command: &Command, accepted: &Accepted) {
        let run = &accepted.after;
        ended_runs_take_nothing(command, accepted);
        ending_runs_only_end(accepted);
        every_change_is_an_edge(accepted);
        self.questions_are_resolved_once(accepted);
        self.calls_are_made_once_and_only_if_allowed(accepted);
        self.nothing_irreversible_happens_twice(command, accepted);
        self.slots_follow_processes(command, accepted);
        self.queued_runs_have_a_reason(accepted);
        self.the_stream_is_whole(run, &accepted.frames);
        self.keys_are_held_by_what_may_have_happened(world, command, accepted);
        nothing_outlives_the_run(run);
        every_way_of_asking_follows_the_same_rules(run);
        rows_say_what_the_run_says(world, run);
        commands_are_taken_when_they_must_be(world, run);
    }

    fn questions_are_resolved_once(&mut self, accepted: &Accepted) {
        let run = accepted.after.id();
        for event in &accepted.events {
            match event {
                Event::InteractionOpened { id, .. } => {
                    assert!(self.opened.insert((run, *id)), "question {id} is asked twice");
                }
                Event::InteractionAnswered { id, .. }
                | Event::InteractionExpired { id, .. }
                | Event::InteractionWithdrawn { id, .. } => {
                    assert!(self.opened.contains(&(run, *id)), "question {id} was never asked");
                    assert!(self.resolved.insert((run, *id)), "question {id} is resolved twice");
                }
                _ => {}
            }
        }
    }

    fn calls_are_made_once_and_only_if_allowed(&mut self, accepted: &Accepted) {
        for event in &accepted.events {
            match event {
                Event::InteractionOpened { subject: Subject::Approval(call), .. } => {
                    self.needs_approval.insert(*call);
                    self.approved.remove(call);
                }
                Event::InteractionAnswered { id, action: Some(Action::Approve), .. } => {
                    let subject = accepted.after.interaction(*id).expect("it was asked").subject;
                    self.approved.extend(subject.execution_id());
                }
                Event::ContractChanged { id, detail: Some(ContractDetail::Dispatched), .. } => {
                    assert!(self.dispatched.insert(*id), "{id} is dispatched twice");
                    let allowed = !self.needs_approval.contains(id) || self.approved.contains(id);
                    assert!(allowed, "{id} is dispatched without a yes");
                    let ending = accepted.before.as_ref().and_then(Run::ending);
                    assert_eq!(ending, None, "{id} is dispatched by a run that has to end");
                }
                Event::ContractChanged { id, detail: Some(ContractDetail::Paused(_)), .. } => {
                    self.dispatched.remove(id);
                }
                _ => {}
            }
        }
    }

    /// Told by what tools and people said alone, whatever the contract makes of it.
    fn nothing_irreversible_happens_twice(&mut self, command: &Command, accepted: &Accepted) {
        let without_effect = match command {
            Command::ReportContract {
                id,
                report:
                    ContractReport::Failed(_) | ContractReport::Rejected(_) | ContractReport::NeedsInput { .. },
            }
            | Command::SettleContract { id, happened: false, .. } => Some(*id),
            Command::Reply(reply) if reply.response == "did_not_happen" => accepted
                .after
                .interaction(reply.interaction_id)
                .and_then(|interaction| interaction.subject.execution_id()),
            _ => None,
        };
        self.effects.retain(|_, call| Some(*call) != without_effect);
        for event in &accepted.events {
            let Event::ContractChanged { id, detail: Some(ContractDetail::Dispatched), .. } = event else {
                continue;
            };
            let spec = &accepted.after.contract(*id).expect("it was requested").spec;
            if spec.irreversible {
                let before = self.effects.insert(spec.claim_key(), *id);
                assert_eq!(before, None, "the same effect may have been had before {id}");
            }
        }
    }

    fn slots_follow_processes(&mut self, command: &Command, accepted: &Accepted) {
        let run = &accepted.after;
        let id = run.id();
        if accepted.events.iter().any(|event| matches!(event, Event::Observed(Observation::Process(_)))) {
            self.alive.insert(id);
        }
        let was_resumable =
            accepted.before.as_ref().is_some_and(|before| before.profile() == Profile::Resumable);
        match command {
            Command::ReportProcessEnded { process, .. } => {
                let was_there = accepted.before.as_ref().and_then(Run::process);
                if was_there == Some(*process) {
                    self.alive.remove(&id);
                }
            }
            Command::Recover(_) => _ = self.alive.remove(&id),
            // The end of a resumable turn is reported when its process is gone.
            Command::EndTurn { .. } if was_resumable => _ = self.alive.remove(&id),
            _ => {}
        }
        let expected = match run.status() {
            RunStatus::Running => true,
            RunStatus::Queued | RunStatus::WaitingUser => self.alive.contains(&id),
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => {
                assert!(!self.alive.contains(&id), "the run ended before its process");
                false
            }
        };
        assert_eq!(run.holds_slot(), expected, "a slot is held exactly by what is alive");
    }

    fn queued_runs_have_a_reason(&mut self, accepted: &Accepted) {
        let run = &accepted.after;
        for event in &accepted.events {
            match event {
                Event::StatusChanged {
                    trigger: RunTrigger::RestartRequeued | RunTrigger::RestartNeedsInput,
                    ..
                } => _ = self.interrupted.insert(run.id()),
                Event::TurnStarted { .. } => _ = self.interrupted.remove(&run.id()),
                _ => {}
            }
        }
        match run.status() {
            RunStatus::Queued if run.turn() > 0 => {
                let has_reason =
                    self.interrupted.contains(&run.id()) || run.unused_answers().next().is_some();
                assert!(has_reason, "nothing asks for another turn");
            }
            RunStatus::WaitingUser => {
                let waits = run.open_interactions().next().is_some() || run.ending().is_some();
                assert!(waits, "there is nothing to wait for");
            }
            RunStatus::Queued
            | RunStatus::Running
            | RunStatus::Succeeded
            | RunStatus::Failed
            | RunStatus::Canceled => {}
        }
    }

    fn the_stream_is_whole(&mut self, run: &Run, new: &[Frame]) {
        let frames = self.frames.entry(run.id()).or_default();
        for frame in new {
            let last = frames.last();
            assert_eq!(frame.seq, last.map_or(1, |last| last.seq + 1));
            let local_seq = match last {
                Some(last) if last.meta.attempt == frame.meta.attempt => last.meta.local_seq + 1,
                Some(_) | None => 1,
            };
            assert_eq!(frame.meta.local_seq, local_seq);
            frames.push(frame.clone());
        }
        assert_eq!(run.last_frame(), frames.len() as u64, "frames are counted as they are rendered");
        asked_before_waiting(new);
    }

    fn keys_are_held_by_what_may_have_happened(
        &mut self,
        world: &World,
        command: &Command,
        accepted: &Accepted,
    ) {
        if let (Command::Create(create), None) = (command, &accepted.before) {
            let holder = |digest| Holder { stream: accepted.after.id().into(), execution_id: None, digest };
            if let Some(key) = &create.key {
                let claim = ClaimKey { scope: "create".to_owned(), key: key.key.clone() };
                self.kept.insert(claim, holder(Some(key.digest.clone())));
            }
            if let Some(continued) = &create.spec.continues {
                let claim = ClaimKey { scope: "continues".to_owned(), key: continued.run_id.to_string() };
                assert_eq!(self.kept.insert(claim, holder(None)), None, "a run has one successor");
            }
        }
        let mut held = self.kept.clone();
        for (run, contract) in all_contracts(world) {
            if contract.holds_its_key() {
                let claim = contract.claim(run);
                let other = held.insert(claim.key, claim.holder);
                assert_eq!(other, None, "the same irreversible call may have happened twice");
            }
        }
        assert_eq!(world.journal.claims, held);
    }

    /// Checks the streams as they are rendered from the whole journal.
    pub(crate) fn check_streams(&self, world: &World) {
        for (id, run) in &world.runs {
            let frames = stream(world, *id);
            assert_eq!(frames, self.frames[id], "a stream is the same in one piece");
            assert_eq!(&Run::fold(*id, &world.journal.entries[id]).unwrap().unwrap(), run);
            the_status_chains(run, &frames);
        }
    }
}

fn all_contracts(world: &World) -> impl Iterator<Item = (RunId, &adjourn_core::Contract)> {
    world.runs.values().flat_map(|run| run.contracts().map(|contract| (run.id(), contract)))
}

fn ended_runs_take_nothing(command: &Command, accepted: &Accepted) {
    let ended = accepted.before.as_ref().is_some_and(|before| before.status().is_terminal());
    if ended && !matches!(command, Command::SettleContract { .. }) {
        assert_eq!(accepted.events, [], "a run that ended changed");
    }
}

fn ending_runs_only_end(accepted: &Accepted) {
    if let Some(before) = accepted.before.as_ref().filter(|before| before.ending().is_some()) {
        let after = accepted.after.status();
        assert!(after == before.status() || after.is_terminal(), "a run that has to end goes on");
    }
}

fn every_change_is_an_edge(accepted: &Accepted) {
    let mut status = accepted.before.as_ref().map_or(RunStatus::Queued, Run::status);
    for event in &accepted.events {
        match event {
            Event::StatusChanged { from, to, trigger, error } => {
                assert_eq!(*from, status);
                assert_eq!(RunMachine::edge(*from, *trigger).unwrap().to, *to);
                assert_eq!(error.is_some(), *to == RunStatus::Failed, "a failed run has a code");
                status = *to;
            }
            Event::ContractChanged { from, to, trigger, actor, .. } => {
                assert_eq!(ContractMachine::step(*from, *trigger, *actor), Ok(*to));
            }
            _ => {}
        }
    }
    assert_eq!(accepted.after.status(), status);
}

fn asked_before_waiting(commit: &[Frame]) {
    let waits = |frame: &Frame| {
        frame.kind == FrameType::StateChanged
            && frame.data["from"] == "running"
            && frame.data["to"] == "waiting_user"
    };
    if let Some(place) = commit.iter().position(waits) {
        let late = commit[place..].iter().any(|frame| frame.kind == FrameType::InputRequired);
        assert!(!late, "the question comes after the wait for its answer");
    }
}

fn the_status_chains(run: &Run, frames: &[Frame]) {
    let mut status = json!(RunStatus::Queued);
    let mut ends = 0;
    for frame in frames.iter().filter(|frame| frame.kind == FrameType::StateChanged) {
        assert_eq!(frame.data["from"], status);
        status = frame.data["to"].clone();
        ends += usize::from(frame.data["terminal"] != Value::Null);
    }
    assert_eq!(status, json!(run.status()));
    assert_eq!(ends, usize::from(run.status().is_terminal()), "a run ends once");
    if let (1, Some(last)) = (ends, frames.last()) {
        assert_eq!(last.data["terminal"]["status"], status, "nothing comes after the end");
    }
}

fn nothing_outlives_the_run(run: &Run) {
    if run.status().is_terminal() {
        assert_eq!(run.open_interactions().count(), 0, "an ended run asks");
        assert!(run.contracts().all(|contract| contract.status.is_terminal()), "an ended run acts");
        assert_eq!(run.process(), None);
        assert_eq!(run.ending(), None, "an ended run has nothing left to end");
    }
}

fn rows_say_what_the_run_says(world: &World, run: &Run) {
    let row = RunRow {
        run_id: run.id(),
        status: run.status(),
        skill: run.spec().skill.clone(),
        engine: run.spec().engine.clone(),
        attempt_number: run.attempt_number(),
        priority: run.spec().priority,
        error_code: run.error().map(|error| error.code.to_string()),
        seq: run.last_frame(),
        created_at: run.created_at(),
        updated_at: run.updated_at(),
        labels: run.spec().labels.clone(),
    };
    assert_eq!(world.journal.rows[&run.id()], row);

    let open: Vec<_> = run
        .open_interactions()
        .map(|interaction| OpenInteraction {
            stream: run.id().into(),
            interaction_id: interaction.interaction_id,
            question: interaction.question.clone(),
            created_at: interaction.created_at,
            deadline_at: interaction.deadline_at,
        })
        .collect();
    let rows: Vec<_> =
        world.journal.open.values().filter(|open| open.stream == run.id().into()).cloned().collect();
    assert_eq!(rows, open);

    for contract in run.contracts() {
        assert_eq!(world.journal.contracts[&contract.spec.execution_id], contract.row(run.id()));
    }
}

/// No answer comes at the wrong time, no deadline is missed, no turn ends in vain, and a cancel always finds its way.
fn commands_are_taken_when_they_must_be(world: &World, run: &Run) {
    let known = Known::at(world.now);
    assert!(run.decide(&Command::Recover(Survey::INTACT), &known).is_ok(), "a run is not recovered");
    if run.status() == RunStatus::Running {
        for text in ["", r#"{"__SKILL_DONE__": true}"#, r#"{"ask_user": {"prompt": "Why?"}}"#] {
            let end = TurnEnd::Completed(Box::new(Evidence::read(text, None)));
            let ended =
                run.decide(&Command::EndTurn { turn: run.turn(), observations: Vec::new(), end }, &known);
            assert!(ended.is_ok(), "the end of the turn is refused");
        }
    }
    for interaction in run.open_interactions() {
        let answer = helpful_reply(run, interaction.interaction_id);
        assert!(run.decide(&answer, &known).is_ok(), "a good answer is refused");
        if let Some(edit) = edit_of_nothing(run, interaction) {
            let known = world.known(Some(run), &edit, Sight::Full);
            assert!(run.decide(&edit, &known).is_ok(), "an edit stands in its own way");
        }
        let is_due = interaction.deadline_at.is_some_and(|deadline| deadline <= world.now);
        let ends_the_wait = interaction.subject.is_agents_own()
            && run.spec().strict == Strict::On
            && !has_own_timeout(run, interaction);
        let in_time = run.status() == RunStatus::WaitingUser || !ends_the_wait;
        let expired = run.decide(&Command::Expire(interaction.interaction_id), &known).is_ok();
        assert_eq!(expired, is_due && in_time && run.ending().is_none(), "a deadline is not kept");
    }
    let canceled = run.decide(&Command::Cancel(By::USER), &known);
    match run.status() {
        RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => assert!(canceled.is_ok()),
        RunStatus::Canceled => assert_eq!(canceled.map(|decided| decided.events), Ok(Vec::new())),
        RunStatus::Succeeded | RunStatus::Failed => assert!(canceled.is_err(), "the end is undone"),
    }
}

/// Whether the agent of a strict run gave its question a time that passes before that of the run, which only a process that
/// waits has.
fn has_own_timeout(run: &Run, interaction: &Interaction) -> bool {
    let Subject::Form(id) = interaction.subject else { return false };
    let own = run.contract(id).and_then(|contract| contract.spec.timeout_seconds);
    let stays = run.profile() == Profile::StickyProcess && run.process().is_some();
    own.is_some_and(|own| !stays || own < run.spec().session_timeout_sec)
}

/// However an agent asks, its attempts are counted alike, and a run that is not strict always knows when it decides alone.
fn every_way_of_asking_follows_the_same_rules(run: &Run) {
    let spec = run.spec();
    let max = spec.max_attempt.filter(|_| spec.execution_mode == ExecutionMode::Interactive);
    assert!(max.is_none_or(|max| run.attempt_number() <= max), "there are more attempts than allowed");
    let own = run.open_interactions().filter(|interaction| interaction.subject.is_agents_own());
    for question in own {
        let latest = question.created_at.plus_seconds(spec.session_timeout_sec);
        let is_decided = question.deadline_at.is_some_and(|deadline| deadline <= latest);
        assert!(spec.strict == Strict::On || is_decided, "a question of the agent stays open for ever");
        assert_ne!(spec.execution_mode, ExecutionMode::Auto, "an auto run waits for its agent's question");
        let in_vain = run.status() == RunStatus::WaitingUser && max == Some(run.attempt_number());
        let is_put_right = run.contracts().any(adjourn_core::Contract::is_in_doubt);
        assert!(
            !in_vain || is_put_right || run.ending().is_some(),
            "a run waits for an answer it cannot use"
        );
    }
}

/// What a friendly person answers.
pub(crate) fn helpful_reply(run: &Run, id: InteractionId) -> Command {
    let interaction = run.interaction(id).expect("it was asked");
    let response = match interaction.subject {
        Subject::Approval(_) => json!("yes"),
        Subject::Recovery(_) => json!("happened"),
        Subject::Turn | Subject::Form(_) | Subject::Elicitation(_) | Subject::Permission(_) => {
            interaction.question.default_answer()
        }
    };
    Command::Reply(Reply {
        interaction_id: id,
        response,
        action: None,
        by: By::USER,
        key: None,
        edited_id: fresh_id(run),
        edited_key: None,
    })
}

/// The edit of a call that leaves its arguments as they are.
fn edit_of_nothing(run: &Run, interaction: &Interaction) -> Option<Command> {
    let Subject::Approval(call) = interaction.subject else { return None };
    let ContractAction::ToolCall(call) = &run.contract(call)?.spec.action else { return None };
    Some(Command::Reply(Reply {
        interaction_id: interaction.interaction_id,
        response: call.arguments.clone(),
        action: Some(Action::Edit),
        by: By::USER,
        key: None,
        edited_id: fresh_id(run),
        edited_key: None,
    }))
}
