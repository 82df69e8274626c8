//! Adding one event up.

use std::sync::Arc;

use super::answer::Answer;
use super::artifact::Artifact;
use super::event::{Closing, Event};
use super::interaction::{Interaction, Resolution};
use super::point::{Conflict, OpenQuestion, Settlement, Settler};
use super::round::{Activation, ActivationOutcome, Round};
use super::spec::RoundtableSpec;
use super::strategy::Strategy;
use super::{Roundtable, Topic};
use crate::machine::Machine;
use crate::machines::{
    ConflictMachine, ConflictStatus, ConflictTrigger, QuestionMachine, QuestionStatus, QuestionTrigger,
    RoundMachine, RoundTrigger, RoundtableMachine, RoundtableStatus, TopicMachine, TopicStatus,
};
use crate::stream::BadEvent;
use crate::{
    Actor, InteractionId, InteractionMachine, InteractionStatus, InteractionTrigger, RoundtableId, RunId,
    Timestamp,
};

impl Roundtable {
    /// The state after the first event.
    pub fn opened(id: RoundtableId, at: Timestamp, event: &Event) -> Result<Self, BadEvent> {
        let problem = match event {
            Event::Opened(spec) => match Strategy::named(&spec.strategy) {
                Ok(strategy) => return Ok(Self::with_spec(id, at, spec, strategy)),
                Err(unknown) => unknown.to_string(),
            },
            other => format!("it has to be `opened`, not {other:?}"),
        };
        Err(BadEvent { stream: id.into(), seq: 1, problem })
    }

    pub(super) fn with_spec(
        id: RoundtableId,
        at: Timestamp,
        spec: &RoundtableSpec,
        strategy: &'static Strategy,
    ) -> Self {
        let topic = |topic: &super::TopicSpec| Topic {
            id: topic.topic_id.clone(),
            status: TopicStatus::Open,
            moves: Vec::new(),
        };
        Self {
            id,
            strategy,
            status: RoundtableStatus::Active,
            created_at: at,
            updated_at: at,
            seq: 1,
            frame: 1,
            local_frame: 1,
            topics: spec.agenda.iter().map(topic).collect(),
            rounds: Vec::new(),
            current: None,
            artifacts: Vec::new(),
            conflicts: Vec::new(),
            questions: Vec::new(),
            escalation_wish: None,
            escalations: Vec::new(),
            interactions: Vec::new(),
            person_keys: Vec::new(),
            abandoned: Vec::new(),
            closing: None,
            spec: Arc::new(spec.clone()),
        }
    }

    /// Adds one event up. What does not follow is refused and the state is of no further use.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), BadEvent> {
        self.seq += 1;
        self.updated_at = at;
        self.add(at, event).map_err(|problem| BadEvent { stream: self.id.into(), seq: self.seq, problem })?;
        if matches!(event, Event::RoundOpened { .. }) {
            self.local_frame = 0;
        }
        let frames = super::frame::frames(event);
        self.frame += frames;
        self.local_frame += frames;
        Ok(())
    }

    fn add(&mut self, at: Timestamp, event: &Event) -> Result<(), String> {
        match event {
            Event::Opened(_) => return Err("a roundtable is opened once".to_owned()),
            Event::RoundOpened { number, phase, speakers } => {
                if self.current.is_some() || *number != self.recorded_rounds() + 1 {
                    return Err(format!("round {number} is not the next one"));
                }
                self.current = Some(Round::opened(*number, phase, speakers));
            }
            Event::ActivationStarted { purpose, run_id, continues } => {
                self.round_mut()?.activations.push(Activation {
                    purpose: purpose.clone(),
                    run_id: *run_id,
                    continues: *continues,
                    outcome: None,
                });
            }
            Event::ResumeFellBack { .. } => {}
            Event::FacilitatorLost { run_id, reason } => {
                self.finish(*run_id, ActivationOutcome::Lost(reason.clone()))?;
            }
            Event::FocusRecorded { run_id, asked } => {
                self.finish(*run_id, ActivationOutcome::Recorded)?;
                self.move_round(RoundTrigger::Ask, Actor::Facilitator)?.asked = Some(asked.clone());
            }
            Event::AnswerRecorded { role, run_id, said } => {
                self.finish(*run_id, ActivationOutcome::Recorded)?;
                let answer = Answer { role: role.clone(), run_id: *run_id, said: said.clone() };
                self.round_mut()?.answers.push(answer);
            }
            Event::ParticipantMissing { run_id, missing } => {
                self.finish(*run_id, ActivationOutcome::Lost(missing.reason.clone()))?;
                self.round_mut()?.missing.push(missing.clone());
            }
            Event::ResponsesCollected => _ = self.move_round(RoundTrigger::Collect, Actor::System)?,
            Event::SynthesisRecorded { run_id, synthesis } => {
                self.finish(*run_id, ActivationOutcome::Recorded)?;
                self.move_round(RoundTrigger::Synthesize, Actor::Facilitator)?.synthesis =
                    Some(synthesis.clone());
            }
            Event::ArtifactCreated(new) => {
                if self.artifact(new.artifact_id).is_some() {
                    return Err(format!("there is a {} already", new.artifact_id));
                }
                self.artifacts.push(Artifact::new(new, self.round_now()));
            }
            Event::ArtifactChanged { id, change, person } => {
                let round = self.round_now();
                self.person_keys.extend(person.iter().filter_map(|person| person.key.clone()));
                let artifact = self.artifacts.iter_mut().find(|artifact| artifact.id == *id);
                let artifact = artifact.ok_or_else(|| format!("there is no {id}"))?;
                let by = person.as_ref().map(|person| &person.by);
                artifact.change(change, round, by).map_err(|refused| refused.to_string())?;
            }
            Event::ConflictOpened(about) => {
                if self.conflict(about.conflict_id).is_some() {
                    return Err(format!("there is a {} already", about.conflict_id));
                }
                let (about, round) = (about.clone(), self.round_now());
                let status = ConflictStatus::Open;
                self.conflicts.push(Conflict { about, status, round, resolution: None });
            }
            Event::ConflictResolved { id, resolution, by } => {
                let settlement = self.settlement(resolution, *by);
                let conflict = self.conflicts.iter_mut().find(|conflict| conflict.about.conflict_id == *id);
                let conflict = conflict.ok_or_else(|| format!("there is no {id}"))?;
                conflict.status =
                    ConflictMachine::step(conflict.status, ConflictTrigger::Resolve, by.actor())
                        .map_err(|refused| refused.to_string())?;
                conflict.resolution = Some(settlement);
            }
            Event::QuestionOpened(about) => {
                if self.question(about.question_id).is_some() {
                    return Err(format!("there is a {} already", about.question_id));
                }
                let (about, round) = (about.clone(), self.round_now());
                let status = QuestionStatus::Open;
                self.questions.push(OpenQuestion { about, status, round, resolution: None });
            }
            Event::QuestionResolved { id, resolution, by } => {
                let settlement = self.settlement(resolution, *by);
                let question = self.questions.iter_mut().find(|question| question.about.question_id == *id);
                let question = question.ok_or_else(|| format!("there is no {id}"))?;
                question.status =
                    QuestionMachine::step(question.status, QuestionTrigger::Resolve, by.actor())
                        .map_err(|refused| refused.to_string())?;
                question.resolution = Some(settlement);
            }
            Event::TopicChanged { topic_id, from, to, trigger } => {
                let round = self.round_now();
                let topic = self.topics.iter_mut().find(|topic| topic.id == *topic_id);
                let topic = topic.ok_or_else(|| format!("there is no topic `{topic_id}`"))?;
                let next = TopicMachine::step(topic.status, *trigger, Actor::System);
                if topic.status != *from || next.as_ref() != Ok(to) {
                    return Err(format!("`{topic_id}` is {}, and does not get to {to}", topic.status));
                }
                topic.status = *to;
                topic.moves.push((round, *to));
            }
            Event::RoundRecorded { refused } => {
                self.move_round(RoundTrigger::Record, Actor::System)?.refused.clone_from(refused);
                self.rounds.extend(self.current.take());
            }
            Event::NextDecided(decision) => match self.rounds.last_mut() {
                Some(round) if round.decided.is_none() => round.decided = Some(decision.clone()),
                _ => return Err("no round was recorded just now".to_owned()),
            },
            Event::EscalationRequested(wish) => self.escalation_wish = Some(wish.clone()),
            Event::EscalationRaised(escalation) => {
                self.escalation_wish = None;
                self.escalations.push((**escalation).clone());
            }
            Event::InteractionOpened { id, matter, question } => {
                if id.0 as usize != self.interactions.len() + 1 {
                    return Err(format!("question {id} is not the next one"));
                }
                self.interactions.push(Interaction {
                    interaction_id: *id,
                    status: InteractionStatus::Open,
                    round: self.recorded_rounds(),
                    matter: *matter,
                    question: question.clone(),
                    created_at: at,
                    resolution: None,
                });
            }
            Event::InteractionAnswered { id, word, text, by, key } => {
                let resolution =
                    Resolution { word: *word, text: text.clone(), at, by: by.clone(), key: key.clone() };
                self.resolve(*id, InteractionTrigger::Answer, Actor::User)?.resolution = Some(resolution);
            }
            Event::InteractionWithdrawn { id } => {
                self.resolve(*id, InteractionTrigger::Withdraw, Actor::System)?;
            }
            Event::Closed(closing) => self.close(closing)?,
            Event::SetAside(set_aside) => {
                self.rebase(at, set_aside);
                self.seq += 1;
            }
        }
        Ok(())
    }

    fn close(&mut self, closing: &Closing) -> Result<(), String> {
        self.status = RoundtableMachine::step(self.status, closing.reason, closing.by.actor())
            .map_err(|refused| refused.to_string())?;
        self.drop_round();
        self.escalation_wish = None;
        self.closing = Some(closing.clone());
        Ok(())
    }

    /// Drops the round that is going on. Its runs have to be canceled.
    pub(super) fn drop_round(&mut self) {
        self.abandoned.extend(self.current.take().iter().flat_map(Round::runs_at_work));
    }

    fn round_mut(&mut self) -> Result<&mut Round, String> {
        self.current.as_mut().ok_or_else(|| "no round is going on".to_owned())
    }

    fn move_round(&mut self, trigger: RoundTrigger, actor: Actor) -> Result<&mut Round, String> {
        let round = self.round_mut()?;
        round.step = RoundMachine::step(round.step, trigger, actor).map_err(|refused| refused.to_string())?;
        Ok(round)
    }

    /// Whatever a run said counts once.
    fn finish(&mut self, run_id: RunId, outcome: ActivationOutcome) -> Result<(), String> {
        let mut activations = self.round_mut()?.activations.iter_mut();
        let activation = activations
            .find(|activation| activation.run_id == run_id && activation.outcome.is_none())
            .ok_or_else(|| format!("{run_id} is not at work"))?;
        activation.outcome = Some(outcome);
        Ok(())
    }

    fn settlement(&self, text: &str, by: Settler) -> Settlement {
        Settlement { round: self.round_now(), text: text.to_owned(), by }
    }

    fn resolve(
        &mut self,
        id: InteractionId,
        trigger: InteractionTrigger,
        actor: Actor,
    ) -> Result<&mut Interaction, String> {
        let interaction = self.interactions.iter_mut().find(|one| one.interaction_id == id);
        let interaction = interaction.ok_or_else(|| format!("there is no question {id}"))?;
        interaction.status = InteractionMachine::step(interaction.status, trigger, actor)
            .map_err(|refused| refused.to_string())?;
        Ok(interaction)
    }
}
