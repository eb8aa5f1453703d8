-- Signals of jobs, their open runs, and the last use of tokens. Times are unix milliseconds in UTC.

ALTER TABLE monitor_tokens ADD COLUMN last_used_at INTEGER;

-- Runs whose start was reported, and whose end was not. A monitor has a limited number of them.
CREATE TABLE heartbeat_runs (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  -- Id that the job gave the run; empty without one.
  rid TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (monitor_num, rid)
) STRICT, WITHOUT ROWID;

-- The last signals of each monitor, a limited number.
CREATE TABLE heartbeat_signals (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  -- Number of the signal, in the order of arrival.
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('start', 'success', 'fail', 'log')),
  rid TEXT NOT NULL,
  exit_code INTEGER,
  -- Start of the run that the signal ended; NULL if it was not reported.
  started_at INTEGER,
  -- Duration of the run in milliseconds, as reported or since its start.
  duration_ms INTEGER,
  message TEXT,
  PRIMARY KEY (monitor_num, position)
) STRICT, WITHOUT ROWID;
