//! What a write to an order or to a product may carry and change, and what `undo` makes of it later.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{Rule, excuse};
use crate::action::Action;
use crate::call::Call;
use crate::customers::{Stored, Writer, addresses, fields};
use crate::disk::Disk;
use crate::goods::{Scope, address_fields, shown_in};
use crate::job::Job;
use crate::world::{Changed, OutOfReach, Owner, Reported, Sent, World};

/// Checks request `number` as it leaves, a write to an order or to a product.
pub fn check(world: &World, number: usize, disk: &Disk, broken: &mut Vec<(Rule, String)>) {
    let sent = &world.requests[number];
    let Some((owner @ (Owner::Order(_) | Owner::Product(_)), scope)) = sent.sets() else { return };
    world.checks(Rule::NoSnapshot);
    if !disk.has_open_write_of(owner, scope) {
        broken.push((Rule::NoSnapshot, format!("no write to {owner:?} is open in the log on disk")));
    }
    let (Some(tag), Some(shown)) = (sent.tag, &sent.shown) else {
        return broken.push((Rule::Exact, "no record asked for what it changes, or it was not read".into()));
    };
    world.checks(Rule::Exact);
    if let Some(planned) = world.planned.get(&tag) {
        world.checks(Rule::Planned);
        let address = if let Call::SaveAddress(_, id) = &sent.call { Some(*id) } else { None };
        let is_comment = matches!(sent.call, Call::Comment(_));
        let what = differing(planned, scope, address, &shown.profile).filter(|_| !is_comment);
        broken.extend(what.map(|what| (Rule::Planned, what)));
    }
    let changes = match &sent.call {
        Call::SaveAddress(..) => match of_address(sent, &shown.profile) {
            Ok(changes) => changes,
            Err(what) => return broken.push((Rule::Exact, what)),
        },
        Call::SetValues(scope, _) => of_product(sent, *scope, &shown.profile),
        _ => return,
    };
    match &world.actions[&tag] {
        action @ (Action::Correct(..) | Action::Value(..)) => {
            let other = changes.iter().find(|change| !asks_for(action, &shown.profile, change));
            broken.extend(other.map(|other| (Rule::Exact, format!("it changes {other:?}"))));
        }
        Action::Back(back) => {
            world.checks(Rule::WrongUndo);
            let other = changes.iter().find(|change| !takes_back(world, &back.tags, change));
            broken.extend(other.map(|other| (Rule::WrongUndo, format!("it sets back {other:?}"))));
        }
        action => broken.push((Rule::Exact, format!("{action:?} is sent as {:?}", sent.call))),
    }
}

/// A field that a write changes: its path, and its value in the read before it and afterwards.
type Change = (String, Option<Value>, Option<Value>);

/// What a call changes of the address that its read has shown.
fn of_address(sent: &Sent, shown: &Stored) -> Result<Vec<Change>, String> {
    let entity = sent.body["entity"].as_object().ok_or("it carries no address")?;
    let is_it = |address: &&Value| entity.get("entity_id") == Some(&address["entity_id"]);
    let Some(Value::Object(stored)) = addresses(shown).find(is_it) else {
        return Err(format!("it saves an address that the read has not shown: {entity:?}"));
    };
    let (before, after) = (address_fields(stored), address_fields(entity));
    let left_out = before.iter().find(|(path, _)| !after.iter().any(|(other, _)| other == path));
    if let Some((path, _)) = left_out {
        return Err(format!("it leaves out {path}"));
    }
    let change = |(path, value): (String, Option<Value>)| {
        let was = before.iter().find(|(other, _)| *other == path).and_then(|(_, was)| was.clone());
        (was != value).then_some((path, was, value))
    };
    Ok(after.into_iter().filter_map(change).collect())
}

/// What a call changes of the values that its read has shown.
fn of_product(sent: &Sent, scope: Scope, shown: &Stored) -> Vec<Change> {
    let now = fields(shown);
    let list = sent.body["product"]["custom_attributes"].as_array().into_iter().flatten();
    let change = |own: &Value| {
        let path = format!("{}.{}", scope.list(), own["attribute_code"].as_str()?);
        let value = Some(own["value"].clone()).filter(|value| !value.is_null());
        let was = now.get(&path).map(|was| (*was).clone());
        // Of a store view no read tells its own value from that for all.
        let is_change = was != value;
        is_change.then_some((path, was, value))
    };
    let mut changes: Vec<Change> = list.filter_map(change).collect();
    let sku = &sent.body["product"]["sku"];
    if shown.get("sku") != Some(sku) {
        changes.push(("sku".to_owned(), shown.get("sku").cloned(), Some(sku.clone())));
    }
    changes
}

/// Whether a record asks for a change.
fn asks_for(action: &Action, shown: &Stored, (path, _, after): &Change) -> bool {
    match action {
        Action::Correct(sides, field, value) => {
            let is_of = |address: &Value| {
                sides.iter().any(|side| address["address_type"] == side.word())
                    && *path == format!("{}.{field}", address["id"])
            };
            addresses(shown).any(is_of) && after.as_ref().is_some_and(|after| after == value)
        }
        Action::Value(scope, code, value) => {
            *path == format!("{}.{code}", scope.list())
                && after.as_ref().and_then(Value::as_str) == value.as_deref()
        }
        _ => false,
    }
}

/// Whether a change sets back what records have written: it still is as one of them wrote it, and becomes what was there before that
/// or an earlier one, or what they had been shown; in a store view also nothing, which is the value for all.
fn takes_back(world: &World, undone: &[u32], (path, now, after): &Change) -> bool {
    let shown = |changed: &Changed| {
        let shown = world.requests[changed.request].shown.as_ref();
        shown.and_then(|shown| fields(&shown.profile).get(path).map(|value| (*value).clone()))
    };
    let is_view = path.starts_with(Scope::View.list());
    let of_path: Vec<&Changed> = changes_of(world, undone).filter(|changed| changed.path == *path).collect();
    // A read of a store view without its own value shows that for all.
    let is_written = |changed: &Changed| changed.after == *now || is_view && changed.after.is_none();
    let was_there = |changed: &Changed| {
        changed.before == *after || shown(changed) == *after || is_view && after.is_none()
    };
    of_path.iter().filter(|last| is_written(last)).any(|last| {
        let mut earlier = of_path.iter().filter(|one| one.request <= last.request);
        earlier.any(|one| was_there(one))
    })
}

/// Checks what a write has changed at the moment it takes effect.
pub fn check_effect(
    world: &mut World,
    request: usize,
    owner: Owner,
    (at, is_copy): (Duration, bool),
    changed: &[Changed],
) {
    if let Owner::Product(_) = owner {
        return check_values(world, request, changed);
    }
    world.checks(Rule::OwnOverwrite);
    for (rule, other, path) in overwritten(world, request, owner, at, changed) {
        let is_accepted = rule == Rule::OwnOverwrite && excuse::is_accepted(world, request, other);
        let excuse =
            if is_copy { Some(OutOfReach::Doubled) } else { excuse::overwrites(world, request, other) };
        match excuse {
            Some(excuse) => world.count(excuse),
            None if is_accepted => {}
            None => {
                let what = format!("it undoes {path} of request {other}, which its read had not shown");
                world.broke(rule, world.requests[request].run, Some(request), what);
            }
        }
    }
}

/// A call on a product changes the values that its record asks for, or that the undone record has written, and nothing else.
fn check_values(world: &mut World, request: usize, changed: &[Changed]) {
    let sent = &world.requests[request];
    let (Some((_, scope)), Some(action)) = (sent.sets(), sent.tag.map(|tag| &world.actions[&tag])) else {
        return;
    };
    world.checks(Rule::Exact);
    let is_asked = |change: &&Changed| match action {
        Action::Value(_, code, _) => change.path == format!("{}.{code}", scope.list()),
        Action::Back(back) => changes_of(world, &back.tags).any(|own| own.path == change.path),
        _ => false,
    };
    if let Some(other) = changed.iter().find(|change| !is_asked(change)) {
        let what = format!("the shop changes {} with it", other.path);
        world.broke(Rule::Exact, sent.run, Some(request), what);
    }
}

/// What a call on an address overwrites that it was not shown: of which rule, whose request, and which field.
fn overwritten(
    world: &mut World,
    request: usize,
    owner: Owner,
    at: Duration,
    changed: &[Changed],
) -> Vec<(Rule, usize, String)> {
    let (mut found, mut foreign) = (Vec::new(), 0);
    let sent = &world.requests[request];
    let shown = sent.shown.as_ref();
    let shown_fields = shown.map(|shown| fields(&shown.profile)).unwrap_or_default();
    for change in changed.iter().filter(|change| change.path != "comments") {
        let was_shown = shown_fields.get(&change.path).copied() == change.before.as_ref();
        match world.kept(owner).writer_at(&change.path, at) {
            Some((Writer::Ours(other), _)) if !was_shown && world.requests[other].tag != sent.tag => {
                found.push((Rule::OwnOverwrite, other, change.path.clone()));
            }
            Some((Writer::Foreign, since)) if was_shown => {
                let is_earlier = |own: &Changed| {
                    own.at < since && own.path == change.path && world.requests[own.request].run == sent.run
                };
                let is_repeated = changes_of(world, sent.tag.as_slice()).any(is_earlier);
                if is_repeated && since <= shown.map_or(sent.at, |shown| shown.at) {
                    found.push((Rule::CorrectionUndone, request, change.path.clone()));
                }
            }
            Some((Writer::Foreign, _)) => foreign += 1,
            _ => {}
        }
    }
    (0..foreign).for_each(|_| world.count(OutOfReach::ForeignLost));
    found
}

/// What records have changed.
fn changes_of<'a>(world: &'a World, tags: &'a [u32]) -> impl Iterator<Item = &'a Changed> {
    let is_of = |tag: Option<u32>| tag.is_some_and(|tag| tags.contains(&tag));
    world.changed.iter().filter(move |changed| is_of(world.requests[changed.request].tag))
}

/// The same without the comments of an order, which nothing takes back, and without what only happened to change: an address is
/// saved whole, so that an edit since the read is lost.
pub fn fields_of<'a>(world: &'a World, tags: &'a [u32]) -> impl Iterator<Item = &'a Changed> {
    let is_asked = |changed: &Changed| tags.iter().any(|tag| is_asked_by(world, *tag, &changed.path));
    changes_of(world, tags).filter(move |changed| changed.path != "comments" && is_asked(changed))
}

/// Whether a record asks for what stands at a path.
pub fn is_asked_by(world: &World, tag: u32, path: &str) -> bool {
    match &world.actions[&tag] {
        Action::Correct(_, field, _) => path.ends_with(&format!(".{field}")),
        Action::Back(back) => back.tags.iter().any(|tag| is_asked_by(world, *tag, path)),
        _ => true,
    }
}

/// Whether nothing that a run had changed for any of these records is as it was written, in a state: that is one write, and others of
/// the record are taken back by themselves.
pub fn is_undone_in(world: &World, undone: &[u32], state: &Stored) -> bool {
    let now = fields(state);
    let run = |changed: &Changed| world.requests[changed.request].run;
    let stands = |changed: &&Changed| now.get(&changed.path).copied() == changed.after.as_ref();
    let mut records = undone.chunks(1).filter(|tag| fields_of(world, tag).next().is_some()).peekable();
    let is_undone = |tag: &[u32]| {
        let standing: BTreeSet<usize> = fields_of(world, tag).filter(stands).map(run).collect();
        fields_of(world, tag).map(run).any(|run| !standing.contains(&run))
    };
    records.peek().is_some() && records.all(is_undone)
}

/// Checks an undo that was reported as done: nothing of the write stands as it was written, unless it was written again since.
pub fn check_undone(world: &mut World, run: usize, tag: u32) {
    let Action::Back(back) = world.actions[&tag].clone() else { return };
    let is_done =
        |said: &&Reported| said.run == run && said.tag == tag && said.is_fine() && said.applied == "yes";
    if !world.is_calm || !world.reported.iter().any(|said| is_done(&said)) {
        return;
    }
    world.checks(Rule::Undo);
    let owner = world.runs[run].records[0].1;
    if !is_undone_in(world, &back.tags, &world.kept_of(tag, owner).now) {
        let what = format!("something still is as the records {:?} wrote it", back.tags);
        world.broke_of(Rule::Undo, run, None, &[tag], what);
    }
}

/// Checks which records of a batch a plan takes back that undoes it: each of which something still is as it was written.
pub fn check_left_out(
    world: &mut World,
    run: usize,
    batch: &Job,
    (planned, tags): (&[(u32, usize)], &[u32]),
) {
    let mut broken = Vec::new();
    for (tag, number) in batch.records.iter().filter(|(tag, _)| tags.contains(tag)) {
        let is_planned = planned.iter().any(|(plan, _)| match &world.actions[plan] {
            Action::Back(back) => back.tags.contains(tag),
            _ => false,
        });
        let now = fields(&world.kept_of(*tag, *number).now);
        let stands = |changed: &Changed| now.get(&changed.path).copied() == changed.after.as_ref();
        world.checks(Rule::Undo);
        if let Some(left) = fields_of(world, &[*tag]).find(|changed| stands(changed)).filter(|_| !is_planned)
        {
            broken.push((*tag, format!("record {tag} is left out, and {} is as it wrote it", left.path)));
        }
    }
    for (tag, what) in broken {
        world.broke_of(Rule::Undo, run, None, &[tag], what);
    }
}

/// The first value that is not as it was planned; of an order perhaps in one of its addresses alone.
pub fn differing(expected: &Value, scope: Scope, only: Option<i64>, shown: &Stored) -> Option<String> {
    expected.as_array().into_iter().flatten().find_map(|change| {
        let (of, field) = change["path"].as_str()?.split_once('.')?;
        let now = match of.strip_suffix("_address") {
            Some(side) => {
                let mut of_side = addresses(shown).filter(|address| address["address_type"] == side);
                of_side.next().filter(|address| only.is_none_or(|id| address["id"] == id))?.get(field)
            }
            None => shown_in(shown, scope, field),
        };
        let before = &change["before"];
        let now = now.unwrap_or(&Value::Null);
        (now != before).then(|| format!("{of}.{field} is {now}, and {before} was planned"))
    })
}

/// Checks the comments of the corrections: each that was applied has one, unless its report says that it has none.
pub fn check_comments(world: &mut World) {
    let mut broken = Vec::new();
    for tag in world.actions.keys().copied() {
        if !matches!(world.actions[&tag], Action::Correct(..)) {
            continue;
        }
        let is_comment = |request: &usize| matches!(world.requests[*request].call, Call::Comment(_));
        let own: Vec<usize> = world.effects_of(tag).map(|effect| effect.request).collect();
        let was_sent =
            world.requests.iter().any(|sent| sent.tag == Some(tag) && matches!(sent.call, Call::Comment(_)));
        let is_done =
            |said: &&Reported| said.tag == tag && said.applied == "yes" && said.reason != "unchanged";
        let done: Vec<&Reported> = world.reported.iter().filter(is_done).collect();
        // A person is told to look at one that was refused, and saved.
        let is_odd =
            world.reported.iter().any(|said| said.tag == tag && said.kind.as_deref() == Some("mismatch"));
        let has_saved = own.iter().any(|request| !is_comment(request));
        if is_odd || !has_saved || done.is_empty() {
            continue;
        }
        world.checks(Rule::Comment);
        // One that is run again finds the address as it is to be.
        let is_alone = |said: &&&Reported| {
            let run = &world.runs[said.run];
            let mut of_command = world.runs.iter().filter(|other| other.command == run.command);
            // Or a person has said that all of it was applied.
            said.reason == "done earlier" && (!run.is_batch || of_command.any(|other| other.marks))
        };
        let is_told = world.without_comment.contains(&tag) || done.iter().any(|said| said.warned);
        if !was_sent && !done.iter().all(|said| is_alone(&said)) && !is_told {
            broken.push((done[0].run, tag));
        }
    }
    for (run, tag) in broken {
        let what = format!("record {tag} was applied without a comment, and no warning said so");
        world.broke_of(Rule::Comment, run, None, &[tag], what);
    }
}
