//! Folders with files `SKILL.md`, which [`skill_from_markdown`] reads.

use super::skill::FileSkill;
use crate::Problem;
use crate::files::{Files, Unreadable, join};
use a2a::client::skill_from_markdown;
use a2a::model::FieldViolation;
use a2a::sorted::sort_by;

/// The skills of the files in a folder and its subfolders, sorted by path.
///
/// # Errors
///
/// If the folder does not exist, contains no file `SKILL.md`, or contains a file that cannot be read.
pub(super) fn read_folder(files: &dyn Files, folder: &str) -> Result<Vec<FileSkill>, Vec<Problem>> {
    let mut paths = Vec::new();
    find(files, folder, 0, &mut paths)
        .map_err(|reason| vec![Problem::of_file(folder, reason.to_string())])?;
    sort_by(&mut paths, Ord::cmp);
    if paths.is_empty() {
        let text = "has no file SKILL.md, nor have the folders in it";
        return Err(vec![Problem::of_file(folder, text)]);
    }
    if paths.len() > MAX_FILES {
        let text = format!("has {} files SKILL.md; the limit is {MAX_FILES}", paths.len());
        return Err(vec![Problem::of_file(folder, text)]);
    }
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for file in paths {
        let text = files.read(&file).map_err(|reason| reason.to_string());
        let unreadable = |error| FieldViolation::new("", error);
        match text.map_err(unreadable).and_then(|text| skill_from_markdown(&text)) {
            Ok(skill) => found.push(FileSkill { folder: folder.to_owned(), file, skill }),
            Err(FieldViolation { field: key, description: text }) => {
                problems.push(Problem::at(key, text).in_file(&file));
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// Adds the paths of the files `SKILL.md` in a folder and its subfolders to `paths`.
fn find(
    files: &dyn Files,
    folder: &str,
    depth: usize,
    paths: &mut Vec<String>,
) -> Result<(), Unreadable> {
    for entry in files.list(folder)? {
        let path = join(folder, &entry.name);
        if entry.is_folder && !entry.name.starts_with('.') && depth < MAX_DEPTH {
            find(files, &path, depth + 1, paths)?;
        } else if entry.name == "SKILL.md" && !entry.is_folder {
            paths.push(path);
        }
    }
    Ok(())
}

/// The maximum number of skills in a folder.
const MAX_FILES: usize = 200;

/// The maximum depth of subfolders that are read.
const MAX_DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Given;

    #[test]
    fn files_are_found_in_a_folder_and_below_it() {
        let skill = |name: &str| format!("---\nname: {name}\ndescription: A.\n---\n");
        let mut files = Given([("skills/none/a.md", String::new())].into());
        assert!(
            read_folder(&Given(Default::default()), "skills/").unwrap_err()[0].text
                == "does not exist"
        );
        let none = read_folder(&files, "skills/").unwrap_err();
        assert!(none[0].text.starts_with("has no file SKILL.md"), "{none:?}");
        for (path, name) in [
            ("skills/b/SKILL.md", "b"),
            ("skills/a/deep/SKILL.md", "deep"),
            ("skills/.hidden/SKILL.md", "no"),
            ("skills/SKILL.md", "top"),
        ] {
            files.0.insert(path, skill(name));
        }
        let found = read_folder(&files, "skills/").unwrap();
        let ids: Vec<&str> = found.iter().map(|found| found.skill.id.as_str()).collect();
        assert_eq!(ids, ["top", "deep", "b"]);
        files.0.insert("skills/b/SKILL.md", "no front matter".to_owned());
        let problems = read_folder(&files, "skills/").unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].file.as_deref(), Some("skills/b/SKILL.md"));
    }
}
