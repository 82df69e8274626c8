//! What the agent of a turn is told.

use adjourn_core::{Contract, ContractStatus, Interaction, ResumesBy, Run, Subject, TurnReason};

use super::{Asked, TurnSetup};
use crate::prompt::{self, Answered, First, News, Settled, SkillText};
use crate::skill::Skill;
use crate::workspace::Workspace;

impl TurnSetup {
    pub(super) fn words(
        &self,
        run: &Run,
        workspace: &Workspace,
        skill: Option<&Skill>,
        asked: &Asked,
    ) -> String {
        let of = |is_meant: fn(Subject) -> bool| {
            let answers = run.turn_answers().filter(move |answer| is_meant(answer.subject));
            answers.filter_map(answered).collect::<Vec<_>>()
        };
        let printed = of(|subject| subject == Subject::Turn);
        let permissions = of(|subject| matches!(subject, Subject::Permission(_)));
        let keeps_no_conversation = run.spec().resumes_by == ResumesBy::Journal;
        match run.turn_reason() {
            None | Some(TurnReason::First) => self.first_words(run, workspace, skill, asked),
            // What became of its calls is in its own journal; it only has to hear what was said.
            Some(_) if keeps_no_conversation && printed.is_empty() => String::new(),
            Some(_) if keeps_no_conversation => prompt::news(&News { answered: &printed, ..News::default() }),
            // Without a handle nothing of the turn that was cut off is left, and it begins anew.
            Some(TurnReason::GoOn) if run.handle().is_none() => {
                self.first_words(run, workspace, skill, asked)
            }
            Some(reason) => {
                // An answer reads the same however it was asked for; only a question that got none is told as a call.
                let own = run.turn_answers().filter(|answer| is_answer(run, answer));
                let answered: Vec<_> = own.filter_map(answered).collect();
                let settled = run.settled_calls().filter(|(contract, _)| !is_told_as_answer(run, contract));
                let settled: Vec<_> = settled.map(Settled::from).collect();
                let waiting = run.open_interactions().count();
                let news =
                    News { answered: &answered, settled: &settled, permissions: &permissions, waiting };
                match reason {
                    TurnReason::GoOn if !run.knows_task() => {
                        prompt::go_on_with_task(&news, &self.first_words(run, workspace, skill, asked))
                    }
                    TurnReason::GoOn => prompt::go_on(&news),
                    TurnReason::First | TurnReason::Answer | TurnReason::Settled | TurnReason::Permission => {
                        prompt::news(&news)
                    }
                }
            }
        }
    }

    pub(super) fn first_words(
        &self,
        run: &Run,
        workspace: &Workspace,
        skill: Option<&Skill>,
        asked: &Asked,
    ) -> String {
        let uploads = workspace.uploads_there();
        let files: Vec<_> = uploads.iter().map(|file| workspace.shown(file).to_owned()).collect();
        // Without a folder as with one: a recording knows a turn by the words it was asked with.
        let folder = workspace.skill_copy.as_deref().map(|dir| workspace.shown(dir).to_owned());
        let text = match (skill, folder.as_deref()) {
            (Some(skill), Some(folder)) => Some(SkillText { name: &skill.name, text: &skill.text, folder }),
            (Some(_) | None, _) => None,
        };
        prompt::first(&First {
            skill: text,
            task: asked.prompt.as_deref(),
            input: &asked.input,
            parameter: &asked.parameter,
            files: &files,
            output_schema: skill
                .and_then(|skill| skill.output.as_ref())
                .map(|output| &output.document)
                .or(asked.output.as_ref()),
            mode: run.spec().execution_mode,
        })
    }
}

/// Whether an agent asked the question itself, and got an answer to it.
fn is_answer(run: &Run, interaction: &Interaction) -> bool {
    let has_result = |id| run.contract(id).is_some_and(|asked| asked.status == ContractStatus::Completed);
    match interaction.subject {
        Subject::Turn => true,
        Subject::Form(id) => has_result(id),
        Subject::Approval(_) | Subject::Elicitation(_) | Subject::Recovery(_) | Subject::Permission(_) => {
            false
        }
    }
}

/// Whether the turn is told of the contract by the answer to its question.
fn is_told_as_answer(run: &Run, contract: &Contract) -> bool {
    let subject = Subject::Form(contract.spec.execution_id);
    run.turn_answers().any(|answer| answer.subject == subject && is_answer(run, answer))
}

/// A question and its answer.
fn answered(interaction: &Interaction) -> Option<Answered<'_>> {
    let resolution = interaction.resolution.as_ref()?;
    Some(Answered { question: &interaction.question, response: &resolution.response, by: &resolution.by })
}
