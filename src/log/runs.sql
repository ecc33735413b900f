-- Of a batch: whether it has nothing left to do.
ALTER TABLE run ADD COLUMN is_complete INTEGER NOT NULL DEFAULT 0;

-- Each line of a history asks which run undoes it, and a run that is deleted is looked for among those that undo one.
CREATE INDEX run_of_undone ON run (undoes) WHERE undoes IS NOT NULL;
