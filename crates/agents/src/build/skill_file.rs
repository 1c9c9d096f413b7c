//! Folders with files `SKILL.md`, which [`skill_from_markdown`] reads.

use std::fs;
use std::path::{Path, PathBuf};

use super::skill::FileSkill;
use crate::Problem;
use a2a::client::skill_from_markdown;
use a2a::model::FieldViolation;

/// The skills of the files in a folder and its subfolders, sorted by path.
///
/// # Errors
///
/// If the folder does not exist, contains no file `SKILL.md`, or contains a file that cannot be read.
pub(super) fn read_folder(folder: &str) -> Result<Vec<FileSkill>, Vec<Problem>> {
    let mut files = Vec::new();
    find(Path::new(folder), 0, &mut files)
        .map_err(|error| vec![Problem::of_file(folder, format!("cannot be read: {error}"))])?;
    files.sort();
    if files.is_empty() {
        let text = "has no file SKILL.md, nor have the folders in it";
        return Err(vec![Problem::of_file(folder, text)]);
    }
    if files.len() > MAX_FILES {
        let text = format!("has {} files SKILL.md; the limit is {MAX_FILES}", files.len());
        return Err(vec![Problem::of_file(folder, text)]);
    }
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in files {
        let file = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
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

fn find(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_hidden = name.to_string_lossy().starts_with('.');
        if path.is_dir() && !is_hidden && depth < MAX_DEPTH {
            find(&path, depth + 1, files)?;
        } else if name == "SKILL.md" && path.is_file() {
            files.push(path);
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

    #[test]
    fn files_are_found_in_a_folder_and_below_it() {
        let folder = std::env::temp_dir().join(format!("a2a-edge-skills-{}", std::process::id()));
        // The folder may remain from a process with the same id before a reboot.
        let _ = fs::remove_dir_all(&folder);
        let path = format!("{}/", folder.display());
        assert!(read_folder(&path).unwrap_err()[0].text.starts_with("cannot be read"));
        for below in ["b", "a/deep", ".hidden"] {
            fs::create_dir_all(folder.join(below)).unwrap();
        }
        assert!(read_folder(&path).unwrap_err()[0].text.starts_with("has no file SKILL.md"));
        for (below, name) in [("b", "b"), ("a/deep", "deep"), (".hidden", "no"), ("", "top")] {
            let text = format!("---\nname: {name}\ndescription: A.\n---\n");
            fs::write(folder.join(below).join("SKILL.md"), text).unwrap();
        }
        let found = read_folder(&path).unwrap();
        fs::write(folder.join("b/SKILL.md"), "no front matter").unwrap();
        let problems = read_folder(&path).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        let ids: Vec<&str> = found.iter().map(|found| found.skill.id.as_str()).collect();
        assert_eq!(ids, ["top", "deep", "b"]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].file.as_ref().unwrap().ends_with("b/SKILL.md"));
    }
}
