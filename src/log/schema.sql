-- One row: what makes this log one of its own.
CREATE TABLE log (
    id BLOB NOT NULL,
    -- Hashes of tokens, emails and records are made with it: nobody can try out what they are of.
    key BLOB NOT NULL,
    -- When it was looked for what is too old.
    looked_at INTEGER NOT NULL
) STRICT;
INSERT INTO log VALUES (randomblob(16), randomblob(32), 0);

-- A command that wrote.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- By which a journal is known to be of it, also where another log has a run with its id.
    uuid TEXT NOT NULL UNIQUE,
    service TEXT NOT NULL,
    store_view TEXT,
    profile TEXT,
    operation TEXT NOT NULL,
    arguments TEXT,
    -- Of a batch: its journal, the header of that, and how long it was when the last request left.
    journal TEXT,
    header TEXT,
    journal_length INTEGER NOT NULL DEFAULT 0,
    began INTEGER NOT NULL,
    ended INTEGER,
    retention_days INTEGER NOT NULL,
    -- Whether all of its writes are still here.
    is_whole INTEGER NOT NULL DEFAULT 1,
    undoes INTEGER REFERENCES run ON DELETE SET NULL
) STRICT;
CREATE INDEX run_of_journal ON run (journal) WHERE journal IS NOT NULL;

-- A call that changes something.
CREATE TABLE write (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    -- The first of several calls that are made from one read; that has the document.
    part_of INTEGER REFERENCES write ON DELETE CASCADE,
    record INTEGER,
    record_hash BLOB,
    call TEXT NOT NULL,
    service TEXT NOT NULL,
    owner_kind TEXT NOT NULL,
    owner TEXT,
    scope TEXT,
    effect TEXT NOT NULL,
    -- Whose data it holds.
    customer TEXT,
    email BLOB,
    email_after BLOB,
    left_at INTEGER NOT NULL,
    -- NULL while nobody knows what became of it.
    outcome TEXT,
    closed_at INTEGER
) STRICT;
CREATE INDEX write_of_owner ON write (service, owner_kind, owner, id);
CREATE INDEX write_of_run ON write (run, record, id);
CREATE INDEX write_of_take ON write (part_of) WHERE part_of IS NOT NULL;
CREATE INDEX open_write ON write (id) WHERE outcome IS NULL;
CREATE INDEX write_by_age ON write (left_at);
CREATE INDEX write_of_customer ON write (service, customer) WHERE customer IS NOT NULL;
CREATE INDEX write_of_email ON write (service, email) WHERE email IS NOT NULL;
CREATE INDEX write_of_email_after ON write (service, email_after) WHERE email_after IS NOT NULL;

-- What is deleted may have been sent.
CREATE TRIGGER write_deleted AFTER DELETE ON write BEGIN
    UPDATE run SET is_whole = 0 WHERE id = OLD.run AND is_whole;
END;

-- Of a replacement: the whole as it was stored, and as it was sent.
CREATE TABLE document (
    write INTEGER PRIMARY KEY REFERENCES write ON DELETE CASCADE,
    stored TEXT NOT NULL,
    sent TEXT NOT NULL
) STRICT;

-- What the last read of a customer showed that was relied on, and the newest write of theirs then.
CREATE TABLE last_read (
    service TEXT NOT NULL,
    customer TEXT NOT NULL,
    at INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (service, customer)
) STRICT, WITHOUT ROWID;

-- The customer whom a token or an email has led to.
CREATE TABLE name (
    service TEXT NOT NULL,
    hash BLOB NOT NULL,
    kind TEXT NOT NULL,
    customer TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (service, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX name_of_customer ON name (service, customer);

-- Ids for completion: those of the last profile that was shown.
CREATE TABLE seen_address (
    service TEXT PRIMARY KEY,
    -- The hashes of the id and the email of a customer whom an administrator named.
    customer BLOB,
    email BLOB,
    at INTEGER NOT NULL,
    addresses TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The default option of an attribute, while options are added to it.
CREATE TABLE default_option (
    service TEXT NOT NULL,
    attribute TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (service, attribute)
) STRICT, WITHOUT ROWID;

-- A plan that was started.
CREATE TABLE applied_plan (
    id TEXT PRIMARY KEY,
    journal TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
