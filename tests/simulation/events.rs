//! What happens in the world by itself: requests arrive, and editors act.

use std::time::Duration;

use super::customers::Writer;
use super::editors::Moment;
use super::service;
use super::world::{Event, World};

impl World {
    /// Lets everything happen that was due until now.
    pub fn catch_up(&mut self) {
        self.catch_up_until(self.now());
    }

    /// Lets everything happen that is still to come.
    pub fn finish(&mut self) {
        self.catch_up_until(Duration::MAX);
    }

    fn catch_up_until(&mut self, now: Duration) {
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), event) = entry.remove_entry();
            match event {
                Event::Edit(number) => self.edit(number, at),
                Event::Arrival(request, is_copy) => {
                    self.edit_around(request, at, true);
                    let reply = service::serve(self, request, at, is_copy);
                    self.requests[request].processed.get_or_insert(at);
                    self.log_at(at, || format!("  request {request} processed: {}", reply.0));
                    if !is_copy {
                        self.requests[request].reply = Some(reply);
                    }
                    self.edit_around(request, at, false);
                }
            }
        }
    }

    /// Editors who strike just before or after a request is processed.
    fn edit_around(&mut self, request: usize, at: Duration, before: bool) {
        let wanted = if before { Moment::Before(request) } else { Moment::After(request) };
        for number in 0..self.edits.len() {
            if self.edits[number].moment == wanted {
                self.edit(number, at);
            }
        }
    }

    fn edit(&mut self, number: usize, at: Duration) {
        let edit = self.edits[number].clone();
        let id = self.next_address;
        let kept = self.kept_mut(edit.owner);
        let before = kept.now.clone();
        if !edit.apply(&mut kept.now, id) {
            return;
        }
        kept.changed(&before, at, Writer::Foreign);
        self.next_address += 1;
        self.log_at(at, || format!("  foreign edit: {edit:?} (address {id} if new)"));
    }
}
