//! Those who want something: creators of runs, and people who answer, cancel and settle.

mod reply;

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::{
    By, Command, Continued, Create, Event, ExecutionId, InteractionId, Reply, ReplyKey, Run, RunId,
};
use adjourn_kernel::{Answer, Denied};

pub(crate) use self::reply::How;
use crate::mirror::News;
use crate::plan::{Person, Plan};
use crate::report::{Step, Violation, ensure};
use crate::simulation::{From, Simulation, Ticket, Todo};

/// Something that a person does.
#[derive(Debug, Clone)]
pub(crate) struct Reaction {
    pub(crate) run_id: RunId,
    pub(crate) deed: Deed,
}

/// What a person does.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    /// Answers a question.
    Reply {
        id: InteractionId,
        how: How,
        /// The number of the idempotency key.
        key: Option<u64>,
    },
    /// Cancels the run.
    Cancel(By),
    /// Says what became of a call.
    Settle(ExecutionId),
}

impl Deed {
    /// The right answer, without a key.
    pub(crate) fn answer(id: InteractionId) -> Self {
        Self::Reply { id, how: How::Right, key: None }
    }
}

/// What those who want something know.
#[derive(Default)]
pub(crate) struct Clients {
    /// The plan that each run was asked for by, also the runs that never came to be.
    plans: BTreeMap<RunId, usize>,
    /// How many requests of each plan have their answer.
    served: BTreeMap<usize, u32>,
    /// The run that each key created.
    created: BTreeMap<(String, usize), RunId>,
    /// Runs that were refused: nothing of them may be there.
    pub(crate) refused: BTreeSet<RunId>,
    ids: u128,
}

impl Clients {
    /// The plan of a run.
    pub(crate) fn plan_of(&self, run_id: RunId) -> Option<usize> {
        self.plans.get(&run_id).copied()
    }

    pub(crate) fn are_served(&self, plan: &Plan) -> bool {
        let is_served = |(index, run): (usize, &crate::plan::RunPlan)| {
            self.served.get(&index).copied().unwrap_or(0) >= run.asks
        };
        plan.runs.iter().enumerate().all(is_served)
    }
}

impl Simulation {
    pub(crate) fn create(&mut self, index: usize) -> Step {
        let run_id = self.run_id();
        self.clients.plans.insert(run_id, index);
        let plan = &self.plan.runs[index];
        let mut spec = plan.spec.clone();
        spec.continues = plan.continues.and_then(|other| self.ended_run_of(other)).map(|run| Continued {
            run_id: run.id(),
            root: run.root(),
            handle: run.handle().map(str::to_owned),
        });
        let key = plan.key.clone().map(|key| ReplyKey { key, digest: index.to_string() });
        self.watch.creating(self.kernel.as_ref(), run_id, &spec);
        let command = Command::Create(Create { spec, key });
        self.ask(Ticket { run_id, command, from: From::Creator(index) });
        Ok(())
    }

    /// A UUIDv7, by the clock that everybody sees: after it was set back, a newer run has a smaller id.
    pub(crate) fn run_id(&mut self) -> RunId {
        self.clients.ids += 1;
        let millis = u128::from(self.now().wall.millis().cast_unsigned());
        RunId::from_bits(millis << 80 | 7 << 76 | 0b10 << 62 | self.clients.ids)
    }

    fn ended_run_of(&self, index: usize) -> Option<&Run> {
        let mut runs = self.mirror.runs.values();
        runs.find(|run| {
            let is_there = !self.mirror.removed.contains(&run.id());
            self.clients.plan_of(run.id()) == Some(index) && run.status().is_terminal() && is_there
        })
    }

    pub(crate) fn created(&mut self, index: usize, ticket: &Ticket, answer: Answer) -> Result<(), Violation> {
        self.watch.create_answered(ticket.run_id, &answer)?;
        let served = match answer {
            Ok(accepted) => {
                self.created_as(index, &accepted.state)?;
                true
            }
            Err(Denied::Refused(_)) => true,
            Err(Denied::QueueFull { .. }) => {
                self.counts.add("creations refused for a full queue");
                self.clients.refused.insert(ticket.run_id);
                let tries_again = !self.is_calm && self.random.once_in(2);
                if tries_again {
                    self.later(20_000, Todo::Create(index));
                }
                !tries_again
            }
            Err(Denied::DiskReserve { .. }) => {
                self.counts.add("creations refused for a full disk");
                self.clients.refused.insert(ticket.run_id);
                self.later(5000, Todo::Create(index));
                false
            }
            Err(_) => {
                self.clients.refused.insert(ticket.run_id);
                let delay = 500 + self.draw_delay(1000);
                self.later(delay, Todo::Create(index));
                false
            }
        };
        *self.clients.served.entry(index).or_default() += u32::from(served);
        Ok(())
    }

    fn created_as(&mut self, index: usize, run: &Run) -> Result<(), Violation> {
        let plan = &self.plan.runs[index];
        if let Some(key) = plan.key.clone() {
            let first = *self.clients.created.entry((key, index)).or_insert(run.id());
            ensure(first == run.id(), "one key creates one run", || format!("{first} and {}", run.id()))?;
        }
        if let Some(after) = self.plan.runs[index].cancel_after_ms {
            let reaction = Reaction { run_id: run.id(), deed: Deed::Cancel(By::USER) };
            self.later(after, Todo::React(reaction));
        }
        Ok(())
    }

    /// Nobody heard what became of a request: everything stopped meanwhile.
    pub(crate) fn unheard(&mut self, ticket: Ticket) {
        let delay = 1000 + self.draw_delay(3000);
        match ticket.from {
            From::Creator(index) => self.later(delay, Todo::Create(index)),
            From::Person(reaction) => self.later(delay, Todo::React(*reaction)),
            From::Turn(_) | From::Process | From::Roundtable | From::Bug => {}
        }
    }

    /// People see a question, and decide what they are going to do.
    pub(crate) fn notice_questions(&mut self, news: &News) {
        let run_id = news.run_id;
        let Some(index) = self.clients.plan_of(run_id) else { return };
        for event in &news.events {
            let Event::InteractionOpened { id, .. } = event else { continue };
            self.counts.add("questions");
            match self.plan.runs[index].person {
                Person::Absent => {}
                Person::Prompt => {
                    let key = Some(self.number());
                    self.later(
                        1000,
                        Todo::React(Reaction { run_id, deed: Deed::Reply { id: *id, how: How::Right, key } }),
                    );
                }
                Person::Anyhow => self.answer_anyhow(run_id, *id),
            }
        }
    }

    fn answer_anyhow(&mut self, run_id: RunId, id: InteractionId) {
        let key = self.random.once_in(2).then(|| self.number());
        let delay = crate::seeded::delay(&mut self.random);
        let mut replies = vec![(delay, id, How::Right, key)];
        match self.random.below(10) {
            0 => replies.insert(0, (delay / 2, id, How::Wrong, None)),
            // Two at the same moment: one of them is accepted.
            1 | 2 => replies.push((delay, id, How::Other, None)),
            3 | 4 if key.is_some() => replies.push((delay + self.draw_delay(20), id, How::Right, key)),
            3 | 4 => replies.push((delay, InteractionId(id.0 + 1), How::Right, None)),
            5 => replies[0].0 = 70_000,
            6 => replies.clear(),
            7 => replies[0].2 = How::Edit,
            8 => replies[0].2 = How::Other,
            _ => {}
        }
        for (delay, id, how, key) in replies {
            self.later(delay, Todo::React(Reaction { run_id, deed: Deed::Reply { id, how, key } }));
        }
    }

    pub(crate) fn react(&mut self, reaction: Reaction) -> Step {
        let run_id = reaction.run_id;
        let command = match &reaction.deed {
            Deed::Cancel(by) => {
                self.mirror.roundtables.canceled_by_person.insert(run_id);
                Command::Cancel(by.clone())
            }
            Deed::Settle(id) => Command::SettleContract {
                id: *id,
                happened: self.engines.ledger.has_happened(*id),
                note: None,
                by: By::USER,
            },
            Deed::Reply { id, how, key } => {
                let Some(reply) = self.reply(run_id, *id, *how, *key) else { return Ok(()) };
                Command::Reply(reply)
            }
        };
        self.ask(Ticket { run_id, command, from: From::Person(Box::new(reaction)) });
        Ok(())
    }

    fn reply(&mut self, run_id: RunId, id: InteractionId, how: How, key: Option<u64>) -> Option<Reply> {
        let name = Some(format!("person {}", self.number()));
        let edited_id = self.execution_id();
        let run = self.mirror.runs.get(&run_id)?;
        let (response, action) = reply::words(run, id, how, &self.engines.ledger);
        Some(Reply {
            interaction_id: id,
            response,
            action,
            by: By { name, ..By::USER },
            key: key.map(|key| ReplyKey { key: format!("reply {key}"), digest: format!("{how:?}") }),
            edited_id,
            edited_key: None,
        })
    }

    pub(crate) fn reacted(
        &mut self,
        reaction: Reaction,
        ticket: &Ticket,
        answer: Answer,
    ) -> Result<(), Violation> {
        match (&ticket.command, answer) {
            (Command::Reply(_), Ok(_)) => {
                self.counts.add("replies accepted");
                self.watch.reply_acknowledged(ticket);
            }
            (Command::Reply(_), Err(Denied::Refused(_))) => self.counts.add("replies refused"),
            (Command::Cancel(_), Ok(accepted)) => self.watch.cancel_acknowledged(&accepted),
            (_, Err(Denied::Failed(_))) => {
                let delay = 500 + self.draw_delay(1000);
                self.later(delay, Todo::React(reaction));
            }
            _ => {}
        }
        Ok(())
    }
}
