-- Imports from other products. Times are unix milliseconds in UTC.

-- What is imported from, known by a name within its kind.
CREATE TABLE import_sources (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Identity of the other installation, as SHA-256 in hexadecimal; NULL if it has none.
  fingerprint TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (kind, name)
) STRICT;

-- Imports that changed something, with their reports.
CREATE TABLE imports (
  id TEXT PRIMARY KEY,
  source_id TEXT NOT NULL REFERENCES import_sources (id),
  finished_at INTEGER NOT NULL,
  report TEXT NOT NULL
) STRICT;

CREATE INDEX imports_by_source ON imports (source_id);

-- Objects of a source, and the objects here that they became. Rows stay when an object is deleted, so that it is
-- not imported again.
CREATE TABLE import_refs (
  source_id TEXT NOT NULL REFERENCES import_sources (id),
  foreign_type TEXT NOT NULL,
  foreign_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  -- Version of the object as an import left it.
  version INTEGER NOT NULL,
  -- SHA-256 of what was found in the source.
  settings_hash BLOB NOT NULL,
  -- The import that created it paused, until it is started.
  paused_by TEXT REFERENCES imports (id),
  PRIMARY KEY (source_id, foreign_type, foreign_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX import_refs_by_object ON import_refs (id);
CREATE INDEX import_refs_by_pause ON import_refs (paused_by) WHERE paused_by IS NOT NULL;
