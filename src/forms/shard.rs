//! The names of the objects that have the index of tasks, if it is in objects: the shards of each owner, and the directory of all
//! shards. They are objects of the namespace of the tasks. No task has such a name: the name of a task begins with `[` or with the
//! slug of its agent ([`TaskAddress`](super::address::TaskAddress)).

use serde_json::json;

use a2a::model::{TaskId, fnv1a};

/// The name of the directory, as in `js/index-shard.js`.
pub(crate) const DIRECTORY: &str = r#"{"index":[]}"#;

/// The name of a shard of the index of an owner. Shards are numbered from 0.
pub(crate) fn shard_name(owner: &str, shard: u32) -> String {
    json!({"index": [owner, shard]}).to_string()
}

/// The shard for the row of a new task, by the id of its object.
pub(crate) fn shard_of(object: &TaskId, shards: u32) -> u32 {
    let shard = fnv1a(object.as_str().as_bytes()) % u64::from(shards.max(1));
    u32::try_from(shard).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_owners_and_shards_differ() {
        assert_eq!(shard_name("key:\"ann\"", 3), r#"{"index":["key:\"ann\"",3]}"#);
        assert_ne!(shard_name("a", 11), shard_name("a\",1", 1));
    }

    #[test]
    fn tasks_are_spread_over_all_shards() {
        let mut counts = [0; 8];
        for number in 0..800 {
            let id = TaskId::new(format!("{number:064x}")).unwrap();
            counts[shard_of(&id, 8) as usize] += 1;
            assert_eq!(shard_of(&id, 1), 0);
        }
        assert!(counts.iter().all(|count| (70..130).contains(count)), "{counts:?}");
    }
}
