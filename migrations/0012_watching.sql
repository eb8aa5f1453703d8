-- Tokens of their own table, dependencies, reminders, and intervals of up to a year. Tables with a changed CHECK
-- are rebuilt. Lists of states and upper bounds are checked by the schemas of the API alone. Times are unix milliseconds in UTC.

-- Tokens with which jobs call. Several can belong to one monitor.
CREATE TABLE monitor_tokens (
  -- SHA-256 of the token.
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  -- 'native' for one that this server generated, else the product whose addresses it is used with.
  kind TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (kind, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX monitor_tokens_by_monitor ON monitor_tokens (monitor_id);

INSERT INTO monitor_tokens (hash, monitor_id, kind, created_at)
SELECT token_hash, id, 'native', created_at FROM monitors WHERE token_hash IS NOT NULL ORDER BY token_hash;

CREATE TABLE new_monitors (
  id TEXT PRIMARY KEY,
  -- Key of its rows in large tables: small, since there are millions of them.
  num INTEGER NOT NULL UNIQUE,
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  -- JSON by type. The values of headers and the body in it are secrets.
  config TEXT NOT NULL,
  -- NULL for a monitor that waits for calls without a deadline.
  interval_seconds INTEGER CHECK (interval_seconds >= 5),
  timeout_ms INTEGER NOT NULL,
  failure_threshold INTEGER NOT NULL CHECK (failure_threshold >= 1),
  success_threshold INTEGER NOT NULL CHECK (success_threshold >= 1),
  retry_interval_seconds INTEGER NOT NULL CHECK (retry_interval_seconds >= 1),
  degraded_after_ms INTEGER,
  on_down TEXT NOT NULL CHECK (on_down IN ('degraded_performance', 'partial_outage', 'major_outage')),
  open_incident TEXT NOT NULL CHECK (open_incident IN ('never', 'draft', 'automatic')),
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  -- Creator of the row that may prune it: 'apply', or NULL for everything else.
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  tags TEXT NOT NULL DEFAULT '[]',
  -- 1 if a check that succeeds counts as failed, and the other way round.
  inverted INTEGER NOT NULL DEFAULT 0 CHECK (inverted IN (0, 1)),
  -- Time between reminders while it is down; 0 for none.
  reminder_seconds INTEGER NOT NULL DEFAULT 0 CHECK (reminder_seconds >= 0),
  -- Label by which the dashboard lists it, and notes. Visitors never see them.
  group_name TEXT,
  notes TEXT
) STRICT;

INSERT INTO new_monitors (id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold,
  success_threshold, retry_interval_seconds, degraded_after_ms, on_down, open_incident, paused, managed_by, version,
  created_at, updated_at, deleted_at, tags)
SELECT id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold, success_threshold,
  retry_interval_seconds, degraded_after_ms, on_down, open_incident, paused, managed_by, version, created_at,
  updated_at, deleted_at, tags
FROM monitors ORDER BY rowid;

DROP TABLE monitors;
ALTER TABLE new_monitors RENAME TO monitors;

CREATE UNIQUE INDEX monitors_by_ref ON monitors (ref) WHERE deleted_at IS NULL;

-- Parents of a monitor, in the order in which they are named.
CREATE TABLE monitor_dependencies (
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  parent_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  PRIMARY KEY (monitor_id, parent_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX monitor_dependencies_by_parent ON monitor_dependencies (parent_id);

CREATE TABLE new_monitor_states (
  monitor_num INTEGER PRIMARY KEY REFERENCES monitors (num) ON DELETE CASCADE,
  state TEXT NOT NULL,
  since INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  failing_since INTEGER,
  successes INTEGER NOT NULL,
  succeeding_since INTEGER,
  slow INTEGER NOT NULL,
  slow_since INTEGER,
  -- Times of the last call of the watched job, and of the expiry of the certificate seen last.
  heartbeat_at INTEGER,
  certificate_expires_at INTEGER,
  -- Time up to which raw results have been rolled up: the beginning of an hour.
  rolled_until INTEGER NOT NULL,
  -- Id of the parent through which it is unreachable; NULL in other states.
  unreachable_via TEXT,
  -- Number of reminders of the last outage, and the time of the last one; before the first, that of the event
  -- about the outage.
  reminders INTEGER NOT NULL DEFAULT 0,
  reminded_at INTEGER
) STRICT;

INSERT INTO new_monitor_states (monitor_num, state, since, failures, failing_since, successes, succeeding_since,
  slow, slow_since, heartbeat_at, certificate_expires_at, rolled_until)
SELECT monitor_num, state, since, failures, failing_since, successes, succeeding_since, slow, slow_since,
  heartbeat_at, certificate_expires_at, rolled_until
FROM monitor_states ORDER BY monitor_num;

DROP TABLE monitor_states;
ALTER TABLE new_monitor_states RENAME TO monitor_states;

CREATE INDEX monitor_states_by_rolled_until ON monitor_states (rolled_until);
CREATE INDEX monitor_states_down ON monitor_states (monitor_num) WHERE state = 'down';

-- Whole past of a monitor, without gaps: each span begins where the one before ended, the last is open.
CREATE TABLE new_monitor_spans (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  state TEXT NOT NULL,
  message TEXT,
  PRIMARY KEY (monitor_num, started_at)
) STRICT, WITHOUT ROWID;

INSERT INTO new_monitor_spans (monitor_num, started_at, ended_at, state, message)
SELECT monitor_num, started_at, ended_at, state, message FROM monitor_spans ORDER BY monitor_num, started_at;

DROP TABLE monitor_spans;
ALTER TABLE new_monitor_spans RENAME TO monitor_spans;

-- A JSON list of the ids of monitors whose events an endpoint receives; ["*"] for all.
ALTER TABLE webhooks ADD COLUMN monitors TEXT NOT NULL DEFAULT '["*"]';
