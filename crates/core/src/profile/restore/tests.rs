use serde_json::{Map, Value, json};

use super::{FieldChange, Inverse, ProfileWrite, Together, Undo, belongs_to, inverse, together};
use crate::id::AddressId;
use crate::interface::dialect::{MAGENTO, MARKETPLACE};
use crate::profile::merge::{Merged, merge};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The undo of an update that sent `sent` for `before`, as `change` sets it.
fn undo(now: &Value, before: &Value, sent: &Value, change: impl Fn(&mut Undo<'_>)) -> (Inverse, Merged) {
    let now = object(now.clone());
    let before = object(before.clone());
    let sent = object(sent.clone());
    let mut undo = Undo {
        before: &before,
        sent: &sent,
        rewritten: &[],
        all: false,
        lost_addresses: false,
        added_since: &[],
        delete_newer: false,
        dialect: &MARKETPLACE,
    };
    change(&mut undo);
    let inverse = inverse(undo, &now).unwrap();
    let merged = merge(&now, &inverse.patch).unwrap();
    (inverse, merged)
}

fn customer((_, merged): &(Inverse, Merged)) -> Value {
    Value::Object(merged.customer.clone())
}

#[test]
fn only_what_the_update_changed_goes_back_where_it_still_stands() {
    let before =
        json!({"email": "a", "gender": 1, "addresses": [{"id": 1, "city": "Paris", "vat": 1}, {"id": 2}]});
    let sent =
        json!({"email": "b", "gender": 2, "addresses": [{"id": 1, "city": "Lyon", "vat": 1}, {"id": 2}]});
    let now = json!({"email": "b", "gender": 3, "addresses": [{"id": 1, "city": "Lyon", "vat": 9}, {"id": 2}, {"id": 9}]});
    let undone = undo(&now, &before, &sent, |_| ());
    assert_eq!(
        customer(&undone),
        json!({"email": "a", "gender": 3, "addresses": [{"id": 1, "city": "Paris", "vat": 9}, {"id": 2}, {"id": 9}]})
    );
    assert_eq!(undone.0.notes, ["gender is not as it was written; left as is"]);
    let whole = undo(&now, &before, &sent, |undo| undo.all = true);
    assert_eq!(
        customer(&whole),
        json!({"email": "a", "gender": 1, "addresses": [{"id": 1, "city": "Paris", "vat": 1}, {"id": 2}, {"id": 9}]})
    );
    let again = undo(&customer(&undone), &before, &sent, |_| ());
    assert!(
        again.1.changes.is_empty()
            && again.0.left.iter().all(|left| left.contains("is not as it was written")),
        "{:?}",
        again.0
    );
}

#[test]
fn a_deleted_address_comes_back_once() {
    let before = json!({"default_billing": "1", "addresses": [{"id": 1, "city": "Paris", "default_billing": true}, {"id": 2}]});
    let sent = json!({"addresses": [{"id": 2}]});
    let undone = undo(&sent, &before, &sent, |_| ());
    assert_eq!(
        customer(&undone)["addresses"],
        json!([{"id": 2}, {"city": "Paris", "default_billing": true}])
    );
    let now = json!({"addresses": [{"id": 2}, {"id": 7, "customer_id": 4, "city": "Paris", "default_billing": true}]});
    for all in [false, true] {
        let again = undo(&now, &before, &sent, |undo| undo.all = all);
        assert!(again.1.changes.is_empty(), "{:?}", again.1.changes);
        assert_eq!(again.0.notes, ["address 1 was already recreated as 7"]);
        assert!(again.0.newer.is_empty(), "it is not newer");
    }
    // Somebody has edited it since.
    let now = json!({"addresses": [{"id": 2}, {"id": 7, "customer_id": 4, "city": "Lyon"}]});
    let [now, before, sent] = [now, before, sent].map(object);
    let added_since = &[(AddressId(7), json!({"city": "Paris"}))][..];
    let edited = Undo {
        before: &before,
        sent: &sent,
        rewritten: &[],
        all: false,
        lost_addresses: false,
        added_since,
        delete_newer: false,
        dialect: &MARKETPLACE,
    };
    let again = inverse(edited, &now).unwrap();
    assert_eq!(again.notes, ["address 1 was already recreated as 7"]);
}

#[test]
fn an_address_that_was_kept_and_lost_comes_back_after_a_mismatch_only() {
    let before = json!({"addresses": [{"id": 1, "city": "Paris"}, {"id": 2, "city": "Rome"}]});
    let sent = json!({"addresses": [{"id": 1, "city": "Paris"}, {"id": 2, "city": "Bonn"}]});
    let now = json!({"addresses": [{"id": 2, "city": "Bonn"}]});
    let lost = undo(&now, &before, &sent, |undo| undo.lost_addresses = true);
    assert_eq!(customer(&lost)["addresses"], json!([{"id": 2, "city": "Rome"}, {"city": "Paris"}]));
    let other = undo(&now, &before, &sent, |_| ());
    assert_eq!(customer(&other)["addresses"], json!([{"id": 2, "city": "Rome"}]));
    assert!(other.0.notes.is_empty(), "what others removed is theirs");
    let renumbered = json!({"addresses": [{"id": 5, "city": "Paris"}, {"id": 2, "city": "Bonn"}]});
    assert!(undo(&renumbered, &before, &sent, |_| ()).0.notes.is_empty(), "it has a new ID");
}

#[test]
fn an_added_field_is_kept_and_said_and_an_added_address_goes_only_when_asked() {
    let before = json!({"addresses": [{"id": 1}]});
    let sent = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"id": 4, "city": "Nice"}]});
    let now = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"id": 4, "city": "Nice"}, {"id": 5, "city": "Bonn"}]});
    let whole = undo(&now, &before, &sent, |undo| undo.all = true);
    assert_eq!((&whole.1.changes[..], &whole.0.newer), (&[][..], &vec![AddressId(4), AddressId(5)]));
    assert_eq!(whole.0.notes[0], "vat was not there before, and an update cannot remove it; it is kept");
    let gone = undo(&now, &before, &sent, |undo| (undo.all, undo.delete_newer) = (true, true));
    assert_eq!(gone.1.summary.removed, [AddressId(4), AddressId(5)]);
    assert_eq!(undo(&now, &before, &sent, |_| ()).1.summary.removed, [AddressId(4)], "it is known by its ID");
    // Somebody typed it in again, or nobody knows which one it is.
    let again = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"id": 5, "city": "Nice"}]});
    assert!(undo(&again, &before, &sent, |_| ()).1.summary.removed.is_empty());
    let unknown = json!({"vat": 1, "addresses": [{"id": 1, "telephone": "5"}, {"city": "Nice"}]});
    let kept = undo(&now, &before, &unknown, |_| ());
    assert!(kept.1.summary.removed.is_empty());
    assert!(
        kept.0.left.contains(&"the address that was added stays: no answer told its ID".to_owned()),
        "{kept:?}"
    );
    // Somebody made it a default since.
    let mut chosen = now.clone();
    chosen["default_billing"] = "4".into();
    assert!(undo(&chosen, &before, &sent, |_| ()).1.summary.removed.is_empty());
    let cleared = undo(&now, &before, &sent, |undo| undo.dialect = &MAGENTO);
    assert_eq!(customer(&cleared)["addresses"][0]["telephone"], Value::Null);
}

#[test]
fn custom_attributes_come_back_and_go_again() {
    let with = |attributes: Value| json!({"addresses": [{"id": 1, "custom_attributes": attributes}]});
    let door = json!({"attribute_code": "door_code", "value": "B1"});
    let other = json!({"attribute_code": "floor", "value": "3"});
    // The shop drops an attribute that is emptied.
    let before = with(json!([door, other]));
    let now = with(json!([other]));
    let sent = with(json!([{"attribute_code": "door_code", "value": ""}, other]));
    assert_eq!(customer(&undo(&now, &before, &sent, |_| ())), with(json!([other, door])));
    let none = json!({"addresses": [{"id": 1}]});
    let dropped = undo(
        &none,
        &with(json!([door])),
        &with(json!([{"attribute_code": "door_code", "value": ""}])),
        |_| (),
    );
    assert_eq!(customer(&dropped), with(json!([door])));
    // One that was added is emptied.
    let before = with(json!([other]));
    let sent = with(json!([other, door]));
    let emptied = json!({"attribute_code": "door_code", "value": ""});
    assert_eq!(customer(&undo(&sent, &before, &sent, |_| ())), with(json!([other, emptied])));
    let nothing = json!({"attribute_code": "door_code", "value": null});
    let cleared = undo(&sent, &before, &sent, |undo| undo.dialect = &MAGENTO);
    assert_eq!(customer(&cleared), with(json!([other, nothing])), "a number takes no text");
}

#[test]
fn what_the_service_rewrote_goes_back_and_so_do_blanks() {
    let [before, sent, now] = ["1990-01-01", "31.01.1991", "1991-01-31"]
        .map(|dob| json!({"dob": dob, "addresses": [{"id": 1, "city": "Reno"}]}));
    let kept = undo(&now, &before, &sent, |_| ());
    assert_eq!(
        (&kept.0.notes[..], kept.1.changes.len()),
        (&["dob is not as it was written; left as is".to_owned()][..], 0)
    );
    let rewritten =
        [FieldChange::parse(&json!({"path": "dob", "before": "1990-01-01", "after": "1991-01-31"})).unwrap()];
    let before = object(before);
    let sent = object(sent);
    let now = object(now);
    let of = |rewritten| Undo {
        before: &before,
        sent: &sent,
        rewritten,
        all: false,
        lost_addresses: false,
        added_since: &[],
        delete_newer: false,
        dialect: &MAGENTO,
    };
    let inverse = inverse(of(&rewritten), &now).unwrap();
    assert_eq!(merge(&now, &inverse.patch).unwrap().customer["dob"], "1990-01-01");
    let city = |city: &str| json!({"addresses": [{"id": 1, "city": city}]});
    let blank = undo(&city("Reno "), &city("Reno"), &city("Reno "), |_| ());
    assert_eq!(customer(&blank), city("Reno"));
}

#[test]
fn a_region_goes_back_as_a_whole() {
    let with = |id: i64, code: &str| json!({"addresses": [{"id": 1, "region": {"region_code": code, "region": code, "region_id": id}, "region_id": id}]});
    let before = with(12, "CA");
    let sent = with(43, "NY");
    assert_eq!(customer(&undo(&sent, &before, &sent, |_| ())), before);
    let changed = undo(&with(57, "TX"), &before, &sent, |_| ());
    assert!(changed.1.changes.is_empty());
    assert_eq!(changed.0.notes, ["address 1 region is not as it was written; left as is"]);
    let none = json!({"addresses": [{"id": 1}]});
    let cleared = undo(&sent, &none, &sent, |_| ());
    assert_eq!(customer(&cleared)["addresses"][0]["region_id"], 0);
}

/// A profile with these addresses, one of them the default: flags that are not set are not there.
fn with_default(ids: &[i64], default: Option<i64>) -> Value {
    let address = |id: &i64| {
        let mut address = json!({"id": id, "city": format!("City {id}")});
        if default == Some(*id) {
            address["default_billing"] = true.into();
        }
        address
    };
    let mut profile = json!({"addresses": ids.iter().map(address).collect::<Vec<_>>()});
    if let Some(default) = default {
        profile["default_billing"] = default.to_string().into();
    }
    profile
}

fn default_of(profile: &Value) -> Vec<Value> {
    let flagged = profile["addresses"].as_array().unwrap().iter();
    flagged.filter(|one| one["default_billing"] == true).map(|one| one["city"].clone()).collect()
}

#[test]
fn a_default_goes_back_only_where_it_still_is_where_the_update_put_it() {
    let before = with_default(&[1, 2, 3], Some(1));
    let sent = with_default(&[1, 2, 3], Some(2));
    let undone = undo(&sent, &before, &sent, |_| ());
    assert_eq!((default_of(&customer(&undone)), undone.0.notes.len()), (vec![json!("City 1")], 0));
    assert_eq!(customer(&undone)["default_billing"], "1");
    let moved = undo(&with_default(&[1, 2, 3], Some(3)), &before, &sent, |_| ());
    assert_eq!(default_of(&customer(&moved)), [json!("City 3")]);
    assert_eq!(moved.0.notes, ["default_billing is not as it was written; left as is"]);
    let whole = undo(&with_default(&[1, 2, 3], Some(3)), &before, &sent, |undo| undo.all = true);
    assert_eq!(default_of(&customer(&whole)), [json!("City 1")]);
    // The default goes with its address, and comes back with it.
    let removed = with_default(&[2, 3], None);
    assert_eq!(default_of(&customer(&undo(&removed, &before, &removed, |_| ()))), [json!("City 1")]);
    let lost = undo(&removed, &before, &before, |undo| undo.lost_addresses = true);
    assert_eq!(default_of(&customer(&lost)), [json!("City 1")], "the service dropped it");
    let chosen = undo(&with_default(&[2, 3], Some(3)), &before, &removed, |_| ());
    assert_eq!(default_of(&customer(&chosen)), [json!("City 3")], "somebody chose another one");
}

#[test]
fn a_default_goes_back_from_an_address_that_the_update_added() {
    let before = with_default(&[1, 2], Some(1));
    let mut sent = with_default(&[1, 2], None);
    sent["addresses"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": 9, "city": "City 9", "default_billing": true}));
    let now = with_default(&[1, 2, 9], Some(9));
    let undone = undo(&now, &before, &sent, |_| ());
    assert_eq!(default_of(&customer(&undone)), [json!("City 1")]);
    assert_eq!(undone.1.summary.removed, [AddressId(9)]);
}

#[test]
fn a_snapshot_belongs_to_the_customer_with_its_id_else_its_email_or_an_address() {
    assert!(belongs_to(&object(json!({"id": "1"})), &object(json!({"id": 1}))));
    assert!(!belongs_to(&object(json!({"id": 1, "email": "a"})), &object(json!({"id": 2, "email": "a"}))));
    let address = || object(json!({"addresses": [{"id": 4}]}));
    assert!(belongs_to(&address(), &address()));
    assert!(!belongs_to(&object(json!({"email": "a"})), &object(json!({"email": "b"}))));
}

/// What several writes did together, without what others did in between.
fn undone_together(before: &Value, steps: &[(Value, Value)], now: &Value) -> (Inverse, Merged) {
    let steps: Vec<_> =
        steps.iter().map(|(before, sent)| (object(before.clone()), object(sent.clone()))).collect();
    let writes: Vec<ProfileWrite<'_>> =
        steps.iter().map(|(before, sent)| ProfileWrite { before, sent, is_mismatch: false }).collect();
    let Together { before: first, after: last } = together(&writes).unwrap().unwrap();
    assert_eq!(first.get("id"), before.get("id"));
    let (first, last) = (Value::Object(first), Value::Object(last));
    undo(now, &first, &last, |_| ())
}

#[test]
fn several_updates_are_undone_as_one_and_what_others_did_in_between_stays() {
    let start = json!({"id": 1, "gender": 1, "addresses": [{"id": 1, "city": "Paris", "company": "A"}, {"id": 2, "city": "Rome"}]});
    // Ours: the city of 1, and an address is added.
    let sent = json!({"id": 1, "gender": 1, "addresses": [{"id": 1, "city": "Lyon", "company": "A"}, {"id": 2, "city": "Rome"}, {"city": "Oslo"}]});
    // Others: the company of 1, the city of 2, an address of their own; the service gave ours the id 7.
    let read = json!({"id": 1, "gender": 1, "addresses": [{"id": 1, "city": "Lyon", "company": "B"}, {"id": 2, "city": "Milan"},
        {"id": 7, "city": "Oslo"}, {"id": 8, "city": "Cork"}]});
    // Ours: the city of 1 again, the gender, and 2 is removed.
    let second = json!({"id": 1, "gender": 2, "addresses": [{"id": 1, "city": "Nice", "company": "B"}, {"id": 7, "city": "Oslo"},
        {"id": 8, "city": "Cork"}]});
    let steps = [(start.clone(), sent), (read, second.clone())];
    let undone = undone_together(&start, &steps, &second);
    assert_eq!(
        customer(&undone),
        json!({"id": 1, "gender": 1, "addresses": [{"id": 1, "city": "Paris", "company": "B"}, {"id": 8, "city": "Cork"},
            {"city": "Milan"}]})
    );
    // A second time nothing is left.
    let mut now = customer(&undone);
    now["addresses"][2]["id"] = 9.into();
    let again = undone_together(&start, &steps, &now);
    assert!(again.1.changes.is_empty() && again.0.left.is_empty(), "{:?}", again.0);
    // An address that was added goes only where it is as it was left.
    let mut edited = second;
    edited["addresses"][1]["company"] = "Ours".into();
    let undone = undone_together(&start, &steps, &edited);
    assert_eq!(undone.0.left, ["address 7, which was added, is not as it was written; left as is"]);
    assert_eq!(undone.1.summary.removed, []);
}

mod laws {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{ProfileWrite, Together, object, together, undo};
    use crate::profile::address::address_list;

    /// One step of a day: by the batch, or by others, whose values are their own: nobody can tell who wrote a value that both write.
    #[derive(Debug, Clone)]
    struct Step {
        is_ours: bool,
        what: What,
    }

    #[derive(Debug, Clone)]
    enum What {
        Set { address: usize, field: usize, value: u8 },
        Add { value: u8 },
        Remove { address: usize },
    }

    const FIELDS: [&str; 3] = ["city", "company", "fax"];

    fn step() -> impl Strategy<Value = Step> {
        let set = (0..4_usize, 0..FIELDS.len(), 0..3_u8).prop_map(|(address, field, value)| What::Set {
            address,
            field,
            value,
        });
        let what = prop_oneof![
            4 => set,
            1 => (3..6_u8).prop_map(|value| What::Add { value }),
            1 => (0..4_usize).prop_map(|address| What::Remove { address }),
        ];
        (any::<bool>(), what).prop_map(|(is_ours, what)| Step { is_ours, what })
    }

    /// The profile after a step, as it is sent: an address that is added has no id.
    fn after(now: &Value, step: &Step, place: usize) -> Value {
        let mut next = now.clone();
        let list = next["addresses"].as_array_mut().unwrap();
        match &step.what {
            What::Set { address, field, value } if *address < list.len() => {
                let value = if step.is_ours { *value } else { *value + 20 };
                list[*address][FIELDS[*field]] = format!("{value}").into();
            }
            What::Remove { address } if *address < list.len() => drop(list.remove(*address)),
            What::Add { value } => list.push(
                json!({"street": format!("{place}"), "city": format!("{value}"), "company": "9", "fax": "9"}),
            ),
            _ => {}
        }
        next
    }

    /// What the service makes of it: new addresses get ids that nobody had.
    fn stored(sent: &Value, next_id: &mut u64) -> Value {
        let mut stored = sent.clone();
        for address in stored["addresses"].as_array_mut().unwrap() {
            if address.get("id").is_none() {
                address["id"] = (*next_id).into();
                *next_id += 1;
            }
        }
        stored
    }

    /// The value of each field of each address, with who set it last: nobody, the batch or others. Addresses by their street, which
    /// none has in common.
    fn fields(profile: &Value) -> Map<String, Value> {
        let mut fields = Map::new();
        for address in address_list(&object(profile.clone())) {
            for name in FIELDS {
                fields.insert(format!("{}.{name}", address["street"]), address[name].clone());
            }
        }
        fields
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        /// Whatever others do before, between and after the writes of a batch: where the batch wrote a field last, the undo sets
        /// back what was there before it; all else is as others left it; and a second undo has nothing left. An address that the batch
        /// added and others have edited since may stay as it is, and then the undo says so.
        #[test]
        fn an_undo_sets_back_what_the_batch_wrote_last_and_nothing_else(steps in prop::collection::vec(step(), 1..8)) {
            let mut next_id = 10;
            let address = |id: u64| json!({"id": id, "street": format!("s{id}"), "city": "0", "company": "1", "fax": "2"});
            let mut now = json!({"id": 1, "addresses": [address(1), address(2), address(3)]});
            let mut writes = Vec::new();
            // Of each field: what it goes back to, where the batch wrote it last; and the addresses that it added.
            let mut back = fields(&now);
            let mut added: Vec<String> = Vec::new();
            for (place, step) in steps.iter().enumerate() {
                let sent = after(&now, step, place);
                let next = stored(&sent, &mut next_id);
                let (old, new) = (fields(&now), fields(&next));
                for (name, value) in &new {
                    let street = name.rsplit_once('.').unwrap().0.to_owned();
                    let is_new = !old.contains_key(name);
                    if is_new && step.is_ours {
                        added.push(street);
                    }
                    let was = old.get(name);
                    if is_new || !step.is_ours && was != Some(value) {
                        back.insert(name.clone(), value.clone());
                    }
                }
                if !step.is_ours {
                    let gone = old.keys().filter(|name| !new.contains_key(*name));
                    gone.for_each(|name| drop(back.remove(name)));
                }
                if step.is_ours && next != now {
                    // The log has the ids of what was added.
                    writes.push((object(now.clone()), object(next.clone())));
                }
                now = next;
            }
            prop_assume!(!writes.is_empty());
            let both: Vec<ProfileWrite<'_>> = writes.iter().map(|(before, sent)| ProfileWrite { before, sent, is_mismatch: false }).collect();
            let Together { before: first, after: last } = together(&both).unwrap().unwrap();
            let (first, last) = (Value::Object(first), Value::Object(last));
            let undone = undo(&now, &first, &last, |_| ());
            let result = stored(&super::customer(&undone), &mut next_id);
            let found = fields(&result);
            let current = fields(&now);
            let is_added = |name: &str| added.iter().any(|street| name.starts_with(street));
            for (name, value) in &found {
                let stays = is_added(name) && !undone.0.left.is_empty() && current.get(name) == Some(value);
                prop_assert!(stays || back.get(name) == Some(value), "{}: {} {:?}", name, value, undone.0);
            }
            // No address of others, and none that stood before, is lost.
            for name in current.keys().filter(|name| !found.contains_key(*name)) {
                prop_assert!(is_added(name), "{}: {:?}", name, undone.0);
            }
            let again = undo(&result, &first, &last, |_| ());
            prop_assert!(again.1.changes.is_empty(), "{:?} {:?}", again.1.changes, again.0);
        }
    }
}

#[test]
fn where_an_address_is_goes_back_as_a_whole_or_not_at_all() {
    let address = |city: &str, postcode: &str, company: &str| json!({"addresses": [{"id": 2, "street": ["a"], "city": city, "postcode": postcode, "company": company}]});
    let before = address("Paris", "75001", "A");
    let sent = address("Lyon", "69001", "B");
    let undone = undo(&address("Dijon", "69001", "B"), &before, &sent, |_| ());
    assert_eq!(customer(&undone), address("Dijon", "69001", "A"));
    assert_eq!(undone.0.left.len(), 2, "{:?}", undone.0.left);
    // Also where the field that changed is none of the update's.
    let mut moved = sent.clone();
    moved["addresses"][0]["street"] = json!(["b"]);
    let undone = undo(&moved, &before, &sent, |_| ());
    assert_eq!((&customer(&undone)["addresses"][0]["city"], undone.0.left.len()), (&json!("Lyon"), 2));
    // What is as it was before is no address that nobody wrote.
    assert_eq!(customer(&undo(&address("Paris", "69001", "B"), &before, &sent, |_| ())), before);
    let whole = undo(&moved, &before, &sent, |undo| undo.all = true);
    assert_eq!(customer(&whole), before);
}

#[test]
fn a_value_whose_place_is_gone_comes_back_with_its_place() {
    let read = |city: &str| json!({"id": 7, "addresses": [{"id": 1, "city": city}]});
    let mut first = read("Bonn");
    first["custom_attributes"] = json!([{"attribute_code": "floor", "value": "3"}]);
    first["extension_attributes"] = json!({"is_subscribed": true});
    first["addresses"][0]["region"] = json!({"region": "Bayern"});
    let mut cleared = first.clone();
    cleared["custom_attributes"][0]["value"] = json!("");
    cleared["extension_attributes"]["is_subscribed"] = json!(false);
    cleared["addresses"][0]["region"]["region"] = json!(null);
    // The next read shows nothing of what is empty.
    let next = read("Bonn");
    let later = read("Lyon");
    let [before, sent, next, later] = [first, cleared, next, later].map(object);
    let writes = [
        ProfileWrite { before: &before, sent: &sent, is_mismatch: false },
        ProfileWrite { before: &next, sent: &later, is_mismatch: false },
    ];
    let Together { before: whole, .. } = together(&writes).unwrap().unwrap();
    assert_eq!(whole["custom_attributes"], before["custom_attributes"]);
    assert_eq!(whole["addresses"], before["addresses"]);
    let undone = undo(&Value::Object(later.clone()), &Value::Object(whole), &Value::Object(later), |_| ());
    assert_eq!(undone.1.customer["custom_attributes"], before["custom_attributes"]);
}

#[test]
fn what_came_back_or_was_renumbered_after_a_loss_does_not_come_back_again() {
    let with =
        |gender: u32, addresses: Value| object(json!({"id": 1, "gender": gender, "addresses": addresses}));
    let list = json!([{"id": 1, "city": "Paris"}, {"id": 2, "city": "Rome"}]);
    let (before, sent) = (with(1, list.clone()), with(2, list));
    // The first was lost and came back, and the second has another id.
    let now = json!([{"id": 7, "city": "Paris"}, {"id": 8, "city": "Rome"}]);
    let (read, later) = (with(2, now.clone()), with(3, now.clone()));
    let writes = [
        ProfileWrite { before: &before, sent: &sent, is_mismatch: true },
        ProfileWrite { before: &read, sent: &later, is_mismatch: false },
    ];
    let Together { before, after } = together(&writes).unwrap().unwrap();
    let (now_there, before, after) =
        (Value::Object(later.clone()), Value::Object(before), Value::Object(after));
    assert_eq!(customer(&undo(&now_there, &before, &after, |_| ()))["addresses"], now);
}

#[test]
fn what_an_earlier_of_several_writes_has_lost_comes_back() {
    let both = |gender: u32| {
        let addresses = json!([{"id": 1, "city": "Paris"}, {"id": 2, "city": "Rome"}]);
        object(json!({"id": 1, "gender": gender, "addresses": addresses}))
    };
    let (before, sent) = (both(1), both(2));
    let with = |city: &str| object(json!({"id": 1, "gender": 2, "addresses": [{"id": 2, "city": city}]}));
    let (read, later) = (with("Rome"), with("Bonn"));
    for (is_mismatch, addresses) in [
        (true, json!([{"id": 2, "city": "Rome"}, {"city": "Paris"}])),
        // What others removed is theirs.
        (false, json!([{"id": 2, "city": "Rome"}])),
    ] {
        let writes = [
            ProfileWrite { before: &before, sent: &sent, is_mismatch },
            ProfileWrite { before: &read, sent: &later, is_mismatch: false },
        ];
        let Together { before, after } = together(&writes).unwrap().unwrap();
        let (now, before, after) =
            (Value::Object(later.clone()), Value::Object(before), Value::Object(after));
        assert_eq!(customer(&undo(&now, &before, &after, |_| ()))["addresses"], addresses);
    }
}
