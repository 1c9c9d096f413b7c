use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn a_map_behaves_as_a_b_tree(changes in proptest::collection::vec((any::<bool>(), 0..20_u8, any::<u8>()), 0..60)) {
        let (mut map, mut model) = (SortedMap::new(), BTreeMap::new());
        for (inserts, key, value) in changes {
            if inserts {
                prop_assert_eq!(map.insert(key, value), model.insert(key, value));
                let made = *map.get_or_insert_with(value, || key);
                prop_assert_eq!(made, *model.entry(value).or_insert(key));
            } else {
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.remove(&key), model.remove(&key));
            }
            prop_assert!(map.iter().eq(&model));
        }
    }

    #[test]
    fn collected_entries_are_sorted_and_the_last_of_each_key_counts(entries in proptest::collection::vec((0..30_u8, any::<u8>()), 0..60)) {
        let map: SortedMap<_, _> = entries.iter().copied().collect();
        let model: BTreeMap<_, _> = entries.iter().copied().collect();
        prop_assert!(map.iter().eq(&model));
        let text = serde_json::to_string(&map).unwrap();
        prop_assert_eq!(&text, &serde_json::to_string(&model).unwrap());
        prop_assert_eq!(serde_json::from_str::<SortedMap<u8, u8>>(&text).unwrap(), map);
        let set: SortedSet<_> = entries.iter().map(|(key, _)| *key).collect();
        prop_assert!(set.into_iter().eq(model.keys().copied().collect::<BTreeSet<_>>()));
    }

    #[test]
    fn sorting_keeps_the_order_of_equal_values(values in proptest::collection::vec(0..10_u8, 0..80)) {
        let mut sorted: Vec<_> = values.into_iter().zip(0..).collect::<Vec<(u8, usize)>>();
        let mut model = sorted.clone();
        sort_by(&mut sorted, |(one, _), (other, _)| one.cmp(other));
        model.sort_by_key(|(value, _)| *value);
        prop_assert_eq!(sorted, model);
    }
}
