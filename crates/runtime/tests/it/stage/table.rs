//! A roundtable on the stage: agents that say what is in the play for their part, and what is seen of the table.
//!
//! A part is `open-1` or `close-1` for the facilitator in round 1, `qa-2` for a participant in round 2. What an agent does
//! is the first of these files in `play/` that is there: `PART.K` for the Kth time that it is asked, `PART`, then `open`,
//! `close` or `answer`. Without one it waits for it.

use std::fs;

use std::sync::Arc;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{
    Artifact, Command, Frame, Interaction, NextAction, PersonChange, Refusal, Round, Roundtable, Rule,
};
use adjourn_core::{By, InteractionId, RoundtableId, Run, RunId};
use adjourn_kernel::load;
use adjourn_runtime::ServiceError;
use adjourn_runtime::roundtable::{ArtifactRequest, RoundtableReply, RoundtableRequest};
use adjourn_store::{RunFilter, SqliteStore, Store};
use serde_json::{Value, json};

use super::{PATIENCE, Stage, agent, until};

/// Finds out which part it plays, writes down what it was told, and does what is in the play.
pub(super) const PLAYER: &str = r#"#!/bin/sh
here=$ADJOURN_TEST_MARK
cat >prompt.part
new=$(sed -n 's/^# Your task: \(open\|close\) round \([0-9]*\)$/\1-\2/p' prompt.part | head -n 1)
role=$(sed -n 's/^You take part in .* as `\([a-z_]*\)`\.$/\1/p' prompt.part | head -n 1)
round=$(sed -n 's/^# Round \([0-9]*\): how it is held$/\1/p' prompt.part | head -n 1)
[ -n "$role" ] && new=$role-$round
[ -n "$new" ] && echo "$new" >part
part=$(cat part)
case $part in open-*) kind=open ;; close-*) kind=close ;; *) kind=answer ;; esac
mkdir -p "$here/told" "$here/play"
time=1
while [ -e "$here/told/$part.$time" ]; do time=$((time + 1)); done
# The workspace is a mount of its own, so the first of these copies, and only the second shows all of it at once.
mv prompt.part "$here/told/new.$part.$time"
mv "$here/told/new.$part.$time" "$here/told/$part.$time"
echo "$ADJOURN_RUN_ID $part" >>"$here/asked"
found=
until [ -n "$found" ]; do
    for name in "$part.$time" "$part" "$kind"; do
        [ -e "$here/play/$name" ] && found=$here/play/$name && break
    done
    [ -n "$found" ] || sleep 0.01
done
. "$found"
"#;

/// A workflow with two topics, one of them critical, and two participants.
pub(crate) const SMALL: &str = "
name: small
participants: [architect, qa]
limits: {min_rounds: 1, max_rounds: 6}
agenda:
  - topic_id: scope
    title: What is in scope
    critical: true
    done_when:
      criteria:
        - {id: users, text: It is said who uses it}
        - {id: limits, text: It is said what is left out}
      min_requirements: 2
  - topic_id: names
    title: What things are called
    done_when: {min_requirements: 1}
";

/// A roundtable.
pub(crate) struct Table<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) id: RoundtableId,
}

impl Stage {
    /// What everybody says who has nothing in particular to say.
    pub(super) fn dry_run(&self) {
        fs::create_dir_all(self.path().join("play")).unwrap();
        self.plays("open", &json!({ "question": "What do you hold?" }));
        self.plays("answer", &json!({ "position": "I hold what I hold.", "confidence": 0.9 }));
        self.plays("close", &json!({ "summary": "They hold what they hold." }));
    }

    /// Puts what somebody says into the play.
    pub(crate) fn plays(&self, part: &str, said: &Value) {
        let mut said = said.clone();
        said["__SKILL_DONE__"] = json!(true);
        self.plays_out(part, &format!("cat <<'END'\n{said}\nEND\n"));
    }

    /// Puts what somebody does into the play, in the words of a shell.
    pub(crate) fn plays_out(&self, part: &str, script: &str) {
        let play = self.path().join("play");
        fs::write(play.join(".new"), script).unwrap();
        fs::rename(play.join(".new"), play.join(part)).unwrap();
    }

    /// Takes something out of the play: whoever comes to it waits.
    pub(crate) fn holds_back(&self, part: &str) {
        fs::remove_file(self.path().join("play").join(part)).unwrap();
    }

    /// What somebody was told, as soon as they were, for the `time`th time.
    pub(crate) fn told(&self, part: &str, time: u32) -> String {
        let file = self.path().join("told").join(format!("{part}.{time}"));
        until(&format!("{part} is asked"), || fs::read_to_string(&file).ok())
    }

    /// Whether somebody was asked.
    pub(crate) fn was_told(&self, part: &str, time: u32) -> bool {
        self.path().join("told").join(format!("{part}.{time}")).exists()
    }

    /// Who was asked, in order: the run, and its part.
    pub(crate) fn asked(&self) -> Vec<(RunId, String)> {
        let asked = fs::read_to_string(self.path().join("asked")).unwrap_or_default();
        let line = |line: &str| {
            let (run, part) = line.split_once(' ').unwrap();
            (run.parse().unwrap(), part.to_owned())
        };
        asked.lines().map(line).collect()
    }

    /// Opens a roundtable with the small workflow, and with more in the request or something else.
    pub(crate) fn table(&self, more: Value) -> Table<'_> {
        self.try_table(more, None).unwrap()
    }

    /// Tries to, with an idempotency key.
    pub(crate) fn try_table(&self, more: Value, key: Option<&str>) -> Result<Table<'_>, ServiceError> {
        let mut document = json!({
            "subject": "a shop for bicycles", "engine": agent::ENGINE, "workflow": { "yaml": SMALL },
        });
        for (key, value) in more.as_object().unwrap() {
            document[key] = value.clone();
        }
        let request = RoundtableRequest::read(&document).map_err(ServiceError::Invalid)?;
        let service = self.service();
        let opened = self.wait(service.open_roundtable(request, key.map(str::to_owned)))?;
        Ok(self.at_table(opened.table.id()))
    }

    /// The state of a roundtable that nobody works on.
    pub(crate) fn read_table(&self, id: RoundtableId) -> Roundtable {
        let store = SqliteStore::open_reader(&self.data()).unwrap();
        load::<Roundtable>(&store, id).unwrap().unwrap()
    }

    /// Closes a roundtable that nobody works on, and does nothing else about it.
    pub(crate) fn close_in_the_journal(&self, id: RoundtableId) {
        let store = SqliteStore::open(&self.data()).unwrap();
        let table = load::<Roundtable>(&store, id).unwrap().unwrap();
        let decided = table.decide(&Command::Close(By::USER), table.updated_at()).unwrap();
        store
            .commit(&[adjourn_core::item(Some(&table), Vec::new(), &decided.events, &decided.state)])
            .unwrap();
    }

    /// The roundtable with this id.
    pub(crate) fn at_table(&self, id: RoundtableId) -> Table<'_> {
        Table { stage: self, id }
    }
}

impl Table<'_> {
    /// The state of the roundtable, as the journal has it.
    pub(crate) fn state(&self) -> Roundtable {
        self.stage.service().roundtable(self.id).unwrap()
    }

    /// Waits until the roundtable is as wanted.
    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut(&Roundtable) -> Option<T>) -> T {
        let mut changes = self.stage.store().watch_stream(self.id.into());
        let found = async {
            loop {
                if let Some(found) = look(&self.state()) {
                    return found;
                }
                if tokio::time::timeout(PATIENCE / 2, changes.changed()).await.is_err() {
                    panic!("{what} never came, only {:#?}", self.stream());
                }
            }
        };
        self.stage.wait(found)
    }

    /// Waits until so many rounds are recorded, and gives the last of them.
    pub(crate) fn records(&self, rounds: u32) -> Round {
        self.until(&format!("round {rounds}"), |table| {
            table.rounds().iter().find(|round| round.number == rounds && round.decided.is_some()).cloned()
        })
    }

    /// Waits until it is closed.
    pub(crate) fn closes(&self) -> Roundtable {
        self.until("the end", |table| (table.status() == RoundtableStatus::Closed).then(|| table.clone()))
    }

    /// Waits until it is closed, and says why.
    pub(crate) fn close_reason(&self) -> String {
        self.closes().closing().unwrap().reason.to_string()
    }

    /// Waits until it asks a person.
    pub(crate) fn waits(&self) -> Interaction {
        self.until("a question", |table| table.pending().cloned())
    }

    /// What was decided after a round.
    pub(crate) fn next_after(&self, round: u32) -> (NextAction, Rule) {
        let decided = self.records(round).decided.unwrap();
        (decided.next, decided.rule)
    }

    pub(crate) fn artifact(&self, id: &str) -> Artifact {
        self.state().artifact(id.parse().unwrap()).unwrap().clone()
    }

    pub(crate) fn reply(&self, response: Value) -> Result<Arc<Roundtable>, ServiceError> {
        self.reply_keyed(None, response, None)
    }

    pub(crate) fn reply_keyed(
        &self,
        interaction: Option<u32>,
        response: Value,
        key: Option<&str>,
    ) -> Result<Arc<Roundtable>, ServiceError> {
        let reply = RoundtableReply {
            interaction_id: interaction.map(InteractionId),
            response,
            by: By::USER,
            key: key.map(str::to_owned),
        };
        let service = self.stage.service();
        self.stage.wait(service.reply_to_roundtable(self.id, reply))
    }

    /// A person changes an artifact.
    pub(crate) fn change(&self, artifact: &str, change: PersonChange) -> Result<Artifact, ServiceError> {
        let by = By { name: Some("ann".to_owned()), ..By::USER };
        let (artifact_id, reason) = (artifact.parse().unwrap(), "the law says so".to_owned());
        let request = ArtifactRequest { artifact_id, change, reason, by, key: None };
        let service = self.stage.service();
        let table = self.stage.wait(service.change_artifact(self.id, request))?;
        Ok(table.artifact(artifact_id).unwrap().clone())
    }

    pub(crate) fn escalate(&self, note: &str) {
        let service = self.stage.service();
        self.stage.wait(service.escalate_roundtable(self.id, By::USER, Some(note.to_owned()))).unwrap();
    }

    pub(crate) fn close(&self) -> Result<Arc<Roundtable>, ServiceError> {
        let service = self.stage.service();
        self.stage.wait(service.close_roundtable(self.id, By::USER))
    }

    /// The stream of the roundtable, as clients see it.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let frames = self.stage.service().roundtable_frames(self.id, 0, usize::MAX).unwrap();
        assert!(frames.iter().map(|frame| frame.seq).eq(1..=frames.len() as u64), "frames have no gaps");
        frames
    }

    /// The types of its frames.
    pub(crate) fn stream(&self) -> Vec<String> {
        self.frames().iter().map(|frame| frame.kind.to_string()).collect()
    }

    /// The runs that play roles at it, the oldest first.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let label = Some(("roundtable".to_owned(), self.id.to_string()));
        let filter = RunFilter { label, ..RunFilter::default() };
        let rows = self.stage.store().runs(&filter, usize::MAX).unwrap();
        rows.iter().rev().map(|row| self.stage.service().run(row.run_id).unwrap()).collect()
    }

    /// The run that plays a part, as soon as it was announced.
    pub(crate) fn run_of(&self, round: u32, role: &str) -> RunId {
        self.until(&format!("{role} in round {round}"), |table| {
            let rounds = table.rounds().iter().chain(table.current()).find(|it| it.number == round)?;
            let mut played = rounds.activations.iter().filter(|it| it.purpose.role().as_str() == role);
            played.next().map(|activation| activation.run_id)
        })
    }
}

/// Why the rules refused something.
pub(crate) fn refusal<T>(result: Result<T, ServiceError>) -> Refusal {
    match result {
        Err(ServiceError::Roundtable(refusal)) => refusal,
        Err(other) => panic!("this is no refusal: {other}"),
        Ok(_) => panic!("this was not refused"),
    }
}

/// A proposal for an artifact that covers these criteria.
pub(crate) fn artifact(topic: &str, title: &str, covers: &[&str]) -> Value {
    json!({
        "action": "create_artifact", "kind": "requirement", "title": title, "body": format!("{title}, in full."),
        "topic_id": topic, "covers": covers, "agreement": "consensus", "proposed_by": "architect",
        "supported_by": ["qa"], "label": title,
    })
}

/// A synthesis with these proposals.
pub(crate) fn synthesis(proposals: &[Value]) -> Value {
    json!({ "summary": "They agree on some of it.", "proposals": proposals })
}

/// Everything that closes both topics of [`SMALL`].
pub(crate) fn all_of_it() -> Value {
    synthesis(&[
        artifact("scope", "users", &["users"]),
        artifact("scope", "limits", &["limits"]),
        artifact("names", "names", &[]),
    ])
}
