-- Progress of imported histories: what is written of each monitor. Times are unix milliseconds in UTC.
CREATE TABLE import_histories (
  monitor_num INTEGER PRIMARY KEY REFERENCES monitors (num) ON DELETE CASCADE,
  source_id TEXT NOT NULL REFERENCES import_sources (id),
  -- All from this time to the monitor's creation is written; 0 if nothing is left.
  written_from INTEGER NOT NULL,
  -- JSON of the part before that which is being written, with the state after its last written day; NULL for none.
  part TEXT,
  -- Number of changes, so that two imports at once notice each other.
  step INTEGER NOT NULL,
  -- Rows of the source that were read, the results in them, and the first and last time.
  rows INTEGER NOT NULL,
  results INTEGER NOT NULL,
  first_at INTEGER,
  last_at INTEGER,
  -- JSON: numbers of rows that were not taken over, by reason.
  skipped TEXT NOT NULL
) STRICT;

CREATE INDEX import_histories_by_source ON import_histories (source_id);
