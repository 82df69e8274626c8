use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use adjourn_core::{FieldError, RunId};
use serde_json::json;
use tempfile::TempDir;

use super::{Listed, Listing, NewWorkspace, Place, Upload, WorkspaceError, Workspaces, is_upload_name};
use crate::skill::Skill;

struct Fixture {
    folder: TempDir,
    workspaces: Workspaces,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new(&folder.path().join("data"));
    Fixture { folder, workspaces }
}

impl Fixture {
    fn skill(&self) -> Skill {
        let dir = self.folder.path().join("demo");
        fs::create_dir_all(dir.join("scripts")).unwrap();
        fs::write(dir.join("SKILL.md"), "---\nname: demo\ndescription: d\n---\nx").unwrap();
        fs::write(dir.join("scripts/run.sh"), "#!/bin/sh").unwrap();
        fs::set_permissions(dir.join("scripts/run.sh"), fs::Permissions::from_mode(0o700)).unwrap();
        Skill::load(&dir).unwrap()
    }

    fn runs(&self) -> Vec<String> {
        self.names("runs")
    }

    fn versions(&self) -> Vec<String> {
        self.names("skills")
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join("data").join(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn run(number: u128) -> RunId {
    RunId::from_bits(number)
}

fn own(number: u128) -> NewWorkspace<'static> {
    NewWorkspace { run_id: run(number), skill: None, uploads: &[], place: Place::Own, shell: None }
}

fn on(number: u128, place: Place) -> NewWorkspace<'static> {
    NewWorkspace { place, ..own(number) }
}

#[test]
fn a_workspace_has_skill_uploads_and_logs() {
    let fixture = fixture();
    let upload = fixture.folder.path().join("upload");
    fs::write(&upload, "data").unwrap();
    let skill = fixture.skill();
    let uploads = [Upload { name: "a b.txt".to_owned(), from: upload }];
    let new = NewWorkspace { skill: Some(&skill), uploads: &uploads, ..own(1) };
    let workspace = fixture.workspaces.create(&new).unwrap();
    assert_eq!(workspace, fixture.workspaces.open(run(1)).unwrap());
    let copy = workspace.skill.clone().unwrap();
    assert_eq!(workspace.shown(&copy), Path::new(".skill/demo"));
    assert_eq!(fs::read_to_string(copy.join("scripts/run.sh")).unwrap(), "#!/bin/sh");
    assert_ne!(fs::metadata(copy.join("scripts/run.sh")).unwrap().permissions().mode() & 0o100, 0);
    assert_eq!(fs::read_to_string(workspace.uploads.join("a b.txt")).unwrap(), "data");
    assert!(workspace.work.is_dir());
    let files = vec![Listed { path: "uploads/a b.txt".into(), bytes: 4, problem: None }];
    assert_eq!(workspace.files().unwrap(), Listing { files, truncated: false });
    let mut text = String::new();
    workspace.result_file("uploads/a b.txt").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "data");
    let error = workspace.result_file("../logs").unwrap_err().to_string();
    assert!(error.starts_with("`../logs` does not name a file in the folder"), "{error}");
}

#[test]
fn a_workspace_is_made_whole_or_not_at_all() {
    let fixture = fixture();
    let skill = fixture.skill();
    symlink("/etc", skill.dir.join("etc")).unwrap();
    let error = fixture.workspaces.create(&NewWorkspace { skill: Some(&skill), ..own(1) }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the skill cannot be copied: `etc` is a link with an absolute path, it should be relative"
    );
    let gone = [Upload { name: "x".to_owned(), from: "/does/not/exist".into() }];
    assert!(fixture.workspaces.create(&NewWorkspace { uploads: &gone, ..own(2) }).is_err());
    let out = [Upload { name: "../x".to_owned(), from: "/etc/hostname".into() }];
    let error = fixture.workspaces.create(&NewWorkspace { uploads: &out, ..own(3) }).unwrap_err();
    assert_eq!(error.to_string(), "`../x` is not a name for a file that comes with a request");
    assert_eq!(fixture.runs(), [""; 0]);
}

#[test]
fn a_version_of_a_skill_is_called_by_what_is_in_it() {
    let fixture = fixture();
    let skill = fixture.skill();
    let keep = || fixture.workspaces.keep_skill(&skill).unwrap();
    let script = skill.dir.join("scripts/run.sh");
    let first = keep();
    assert_eq!(keep(), first);
    let copy = fixture.folder.path().join("data/skills").join(&first).join("demo");
    assert_eq!(fs::read_to_string(copy.join("scripts/run.sh")).unwrap(), "#!/bin/sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o600)).unwrap();
    let unexecutable = keep();
    fs::write(&script, "#!/bin/zsh").unwrap();
    let rewritten = keep();
    fs::rename(&script, skill.dir.join("scripts/go.sh")).unwrap();
    let renamed = keep();
    assert_eq!(fixture.versions(), sorted([&first, &unexecutable, &rewritten, &renamed]));

    let read = |skill: &str| {
        assert_eq!(skill, "demo");
        Ok::<_, WorkspaceError>(HashSet::from([first.clone(), renamed.clone()]))
    };
    fixture.workspaces.prune_versions(read).unwrap();
    assert_eq!(fixture.versions(), sorted([&first, &renamed]));
    symlink("/etc", skill.dir.join("etc")).unwrap();
    assert!(matches!(fixture.workspaces.keep_skill(&skill), Err(WorkspaceError::SkillUnfit(_))));
    fs::create_dir_all(fixture.folder.path().join("data/skills/.new-1/demo")).unwrap();
    fixture.workspaces.sweep(|_| true).unwrap();
    assert_eq!(fixture.versions(), sorted([&first, &renamed]));
}

fn sorted<const N: usize>(versions: [&String; N]) -> Vec<String> {
    let mut versions = versions.map(String::clone).to_vec();
    versions.sort();
    versions
}

#[test]
fn what_a_crash_left_is_swept() {
    let fixture = fixture();
    assert_eq!(fixture.workspaces.sweep(|_| true).unwrap(), 0);
    for number in 1..=3 {
        fixture.workspaces.create(&own(number)).unwrap();
    }
    let runs = fixture.folder.path().join("data/runs");
    fs::create_dir_all(runs.join(format!(".new-{}/work", run(4)))).unwrap();
    fs::create_dir_all(runs.join(format!(".gone-{}/work", run(5)))).unwrap();
    fs::write(runs.join("of somebody else"), "").unwrap();
    assert_eq!(fixture.workspaces.sweep(|known| known == run(2)).unwrap(), 4);
    assert_eq!(fixture.runs(), ["of somebody else".to_owned(), run(2).to_string()]);
}

#[test]
fn a_folder_of_the_user_is_worked_in_and_never_removed() {
    let fixture = fixture();
    let folder = fixture.folder.path().join("project");
    let place = Place::User(folder.clone());
    let error = fixture.workspaces.create(&on(1, place.clone())).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is not a folder that can be worked in", folder.display()));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine"), "").unwrap();
    let workspace = fixture.workspaces.create(&on(1, place)).unwrap();
    assert_eq!(workspace.work, fs::canonicalize(&folder).unwrap());
    assert_eq!(workspace.files().unwrap().files, [Listed { path: "mine".into(), bytes: 0, problem: None }]);
    let next = fixture.workspaces.create(&on(2, Place::Of(run(1)))).unwrap();
    assert_eq!(next.work, workspace.work);
    assert_eq!(fixture.workspaces.open(run(2)).unwrap(), next);
    fixture.workspaces.remove(run(1)).unwrap();
    fixture.workspaces.remove(run(2)).unwrap();
    assert!(folder.join("mine").exists());
    assert_eq!(fixture.runs(), [""; 0]);
}

#[test]
fn a_run_that_continues_another_works_in_its_folder_until_both_are_gone() {
    let fixture = fixture();
    let first = fixture.workspaces.create(&own(1)).unwrap();
    fs::write(first.work.join("draft"), "1").unwrap();
    fs::create_dir(&first.logs).unwrap();
    let second = fixture.workspaces.create(&on(2, Place::Of(run(1)))).unwrap();
    let third = fixture.workspaces.create(&on(3, Place::Of(run(2)))).unwrap();
    assert!(second.work == first.work && third.work == first.work && third.logs != first.logs);

    fixture.workspaces.remove(run(1)).unwrap();
    fixture.workspaces.remove(run(2)).unwrap();
    assert!(first.work.join("draft").exists() && !first.logs.exists());
    assert_eq!(fixture.workspaces.sweep(|known| known == run(3)).unwrap(), 0, "it is still used");
    assert_eq!(fixture.workspaces.open(run(3)).unwrap().work, first.work);

    fixture.workspaces.remove(run(3)).unwrap();
    assert_eq!(fixture.runs(), [""; 0]);
    fixture.workspaces.remove(run(3)).unwrap();
    assert!(matches!(fixture.workspaces.open(run(3)), Err(WorkspaceError::Missing(_))));
}

#[test]
fn removal_follows_no_links() {
    let fixture = fixture();
    let outside = fixture.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "").unwrap();
    let workspace = fixture.workspaces.create(&own(1)).unwrap();
    symlink(&outside, workspace.work.join("link")).unwrap();
    fs::create_dir(&workspace.logs).unwrap();
    symlink(outside.join("precious"), workspace.logs.join("link")).unwrap();
    assert_eq!(workspace.files().unwrap(), Listing::default(), "links are not listed either");
    fixture.workspaces.remove(run(1)).unwrap();
    assert!(outside.join("precious").exists());
}

#[test]
fn names_of_uploads_are_plain() {
    for name in ["a", "a b.txt", "ä.pdf", "a..b"] {
        assert!(is_upload_name(name), "{name}");
    }
    for name in ["", ".", "..", ".hidden", "a/b", "/a", "a/", "../a", "a\\b", "a\nb", "a\0", &"x".repeat(300)]
    {
        assert!(!is_upload_name(name), "{name}");
    }
    assert_eq!(PathBuf::from("a/").components().count(), 1, "which is why the letters are looked at as well");
}

#[test]
fn a_result_names_only_files_that_are_there() {
    let fixture = fixture();
    let workspace = fixture.workspaces.create(&own(1)).unwrap();
    fs::write(workspace.work.join("a.md"), "").unwrap();
    let output =
        json!({"good": "a.md", "list": ["a.md", "b.md"], "abs": "/etc/passwd", "odd": 1, "none": null});
    let errors = workspace.check_files(&output, &["good", "list", "abs", "odd", "none", "absent"]);
    let expected = [
        ("/list/1", "`b.md` is not there"),
        ("/abs", "`/etc/passwd` is an absolute path, it should be relative to the folder"),
        ("/odd", "should be the path of a file in the workspace"),
    ];
    assert_eq!(errors, expected.map(|(path, message)| FieldError::new(path, message)));
}
