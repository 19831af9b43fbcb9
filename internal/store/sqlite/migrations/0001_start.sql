-- The store, version 1. docs/format.md says what every table means.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE memories (
  n          INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  seq        INTEGER NOT NULL,
  namespace  TEXT NOT NULL,
  type       TEXT NOT NULL,
  state      TEXT NOT NULL,
  origin     TEXT NOT NULL,
  created_at INTEGER,
  updated_at INTEGER,
  sum        BLOB NOT NULL,
  payload    TEXT NOT NULL
);
CREATE INDEX memories_seq ON memories (seq);
CREATE INDEX memories_updated ON memories (updated_at, seq, id);
CREATE INDEX memories_namespace ON memories (namespace, updated_at, seq, id);

CREATE TABLE memory_files (
  memory TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  path   TEXT NOT NULL,
  PRIMARY KEY (memory, path)
) WITHOUT ROWID;

-- Only spaces separate tokens: internal/terms has done the analysis.
CREATE VIRTUAL TABLE memories_fts USING fts5 (
  name, aliases, content, body, tags,
  content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- The terms of the index with the number of rows that have them; holds nothing.
CREATE VIRTUAL TABLE memories_words USING fts5vocab (memories_fts, row);

CREATE TABLE journal (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  outcome  TEXT NOT NULL,
  verb     TEXT NOT NULL,
  actor    TEXT NOT NULL,
  batch    TEXT,
  undoes   TEXT,
  resolves TEXT,
  at       INTEGER,
  core     TEXT NOT NULL,
  hash     BLOB NOT NULL
);
CREATE INDEX journal_outcome ON journal (outcome, seq);
CREATE INDEX journal_batch ON journal (batch) WHERE batch IS NOT NULL;
CREATE INDEX journal_undoes ON journal (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX journal_resolves ON journal (resolves) WHERE resolves IS NOT NULL;

CREATE TABLE journal_parts (
  seq    INTEGER NOT NULL REFERENCES journal (seq),
  part   INTEGER NOT NULL,
  memory TEXT,
  salt   BLOB,
  body   TEXT,
  hash   BLOB NOT NULL,
  PRIMARY KEY (seq, part)
);
CREATE INDEX journal_parts_memory ON journal_parts (memory, seq) WHERE memory IS NOT NULL;

CREATE TABLE purged (
  memory TEXT PRIMARY KEY,
  seq    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  namespace  TEXT NOT NULL,
  started_at INTEGER,
  payload    TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_started ON sessions (started_at);

CREATE TABLE turns (
  n         INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  session   TEXT NOT NULL,
  speaker   TEXT NOT NULL,
  at        INTEGER,
  directory TEXT NOT NULL,
  text      TEXT NOT NULL
);
CREATE INDEX turns_session ON turns (session, n);

CREATE VIRTUAL TABLE turns_fts USING fts5 (
  said, answered,
  content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE VIRTUAL TABLE turns_words USING fts5vocab (turns_fts, row);

CREATE TABLE queue (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT NOT NULL,
  key        TEXT NOT NULL,
  payload    TEXT NOT NULL,
  at         INTEGER,
  attempts   INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER,
  last_error TEXT NOT NULL DEFAULT '',
  UNIQUE (kind, key)
);

CREATE TABLE receipts (
  n       INTEGER PRIMARY KEY,
  at      INTEGER,
  sum     BLOB NOT NULL UNIQUE,
  payload TEXT NOT NULL
);
CREATE INDEX receipts_at ON receipts (at);

CREATE TABLE usage (
  n       INTEGER PRIMARY KEY,
  at      INTEGER,
  payload TEXT NOT NULL
);
CREATE INDEX usage_at ON usage (at);

CREATE TABLE places (
  namespace TEXT NOT NULL,
  root      TEXT NOT NULL,
  seen_at   INTEGER,
  payload   TEXT NOT NULL,
  PRIMARY KEY (namespace, root)
) WITHOUT ROWID;
