-- What is watched, what was found, and what that says. Times are unix milliseconds in UTC.

CREATE TABLE monitors (
  id TEXT PRIMARY KEY,
  -- The key of its rows in the large tables below: small, since there are millions of them.
  num INTEGER NOT NULL UNIQUE,
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  -- JSON by type. The values of headers and the body in it are secrets.
  config TEXT NOT NULL,
  -- SHA-256 of the token with which the job that a push monitor watches calls.
  token_hash BLOB UNIQUE CHECK (token_hash IS NULL OR length(token_hash) = 32),
  interval_seconds INTEGER NOT NULL CHECK (interval_seconds BETWEEN 5 AND 86400),
  timeout_ms INTEGER NOT NULL,
  failure_threshold INTEGER NOT NULL CHECK (failure_threshold >= 1),
  success_threshold INTEGER NOT NULL CHECK (success_threshold >= 1),
  retry_interval_seconds INTEGER NOT NULL CHECK (retry_interval_seconds >= 1),
  degraded_after_ms INTEGER,
  on_down TEXT NOT NULL CHECK (on_down IN ('degraded_performance', 'partial_outage', 'major_outage')),
  open_incident TEXT NOT NULL CHECK (open_incident IN ('never', 'draft', 'automatic')),
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  -- What made the row and may prune it: 'apply', or NULL for everything else.
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX monitors_by_ref ON monitors (ref) WHERE deleted_at IS NULL;

CREATE TABLE monitor_components (
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  PRIMARY KEY (monitor_id, component_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX monitor_components_by_component ON monitor_components (component_id);

-- Where the rules stand with a monitor. Written when that changes, not at each check.
CREATE TABLE monitor_states (
  monitor_num INTEGER PRIMARY KEY REFERENCES monitors (num) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('pending', 'up', 'degraded', 'down', 'maintenance', 'paused', 'no_data')),
  since INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  failing_since INTEGER,
  successes INTEGER NOT NULL,
  succeeding_since INTEGER,
  slow INTEGER NOT NULL,
  slow_since INTEGER,
  -- When the watched job last called, and when the certificate that was last seen ends.
  heartbeat_at INTEGER,
  certificate_expires_at INTEGER,
  -- Up to when raw results have been rolled up: the beginning of an hour.
  rolled_until INTEGER NOT NULL
) STRICT;

CREATE INDEX monitor_states_by_rolled_until ON monitor_states (rolled_until);

-- A monitor's whole past, without gaps: each span begins where the one before ended, the last is open.
CREATE TABLE monitor_spans (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  state TEXT NOT NULL CHECK (state IN ('pending', 'up', 'degraded', 'down', 'maintenance', 'paused', 'no_data')),
  message TEXT,
  PRIMARY KEY (monitor_num, started_at)
) STRICT, WITHOUT ROWID;

-- Results as they came. `outcome`: 0 ok, 1 failed, 2 unknown.
CREATE TABLE monitor_checks (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  outcome INTEGER NOT NULL CHECK (outcome IN (0, 1, 2)),
  latency_ms INTEGER,
  message TEXT,
  PRIMARY KEY (monitor_num, at)
) STRICT, WITHOUT ROWID;

-- Results by minute, hour and day (`size`, in milliseconds): how many, how many of them failed, how many
-- were answered, and how long those took, as a sum and as a sketch that can be merged. NULL where
-- nothing answered.
CREATE TABLE monitor_rollups (
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  size INTEGER NOT NULL CHECK (size IN (60000, 3600000, 86400000)),
  at INTEGER NOT NULL,
  checks INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  answers INTEGER NOT NULL,
  latency_sum INTEGER,
  latency_min INTEGER,
  latency_max INTEGER,
  sketch BLOB,
  PRIMARY KEY (monitor_num, size, at)
) STRICT, WITHOUT ROWID;

-- Incidents that a monitor opened. `version` is the incident's as we left it: a higher one says that
-- somebody has written to it since.
CREATE TABLE monitor_incidents (
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  PRIMARY KEY (monitor_id, incident_id)
) STRICT, WITHOUT ROWID;

-- When nothing was known of a component that has monitors: the server was down, asleep or offline.
CREATE TABLE component_no_data (
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (component_id, started_at)
) STRICT, WITHOUT ROWID;

-- When this server was last seen awake: one row.
CREATE TABLE liveness (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
) STRICT;

-- Whether the page shows how quickly what a component's monitor watches has answered.
ALTER TABLE components ADD COLUMN show_latency INTEGER NOT NULL DEFAULT 0 CHECK (show_latency IN (0, 1));

-- The entries of the audit log that have an address still, so that those that are old are found.
CREATE INDEX audit_log_with_address ON audit_log (at) WHERE ip IS NOT NULL;
