-- Locations from which monitors are checked, beside this server. Times are unix milliseconds in UTC.

CREATE TABLE locations (
  id TEXT PRIMARY KEY,
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  -- Last request of its agent, exact to 15 seconds, and the version of that agent.
  contact_at INTEGER,
  agent_version TEXT,
  -- Start of the silence about which `location.offline` was sent; NULL while the agent calls.
  offline_since INTEGER,
  -- Process of the agent whose results were taken last, and the number of the last one.
  process TEXT,
  results_taken INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX locations_by_ref ON locations (ref) WHERE deleted_at IS NULL;

-- Tokens of agents, as SHA-256. After a rotation the earlier one counts until `ends_at`.
CREATE TABLE location_tokens (
  hash BLOB PRIMARY KEY,
  location_id TEXT NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  ends_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX location_tokens_by_location ON location_tokens (location_id);

-- A JSON list of ids of locations; `local` is this server.
ALTER TABLE monitors ADD COLUMN locations TEXT NOT NULL DEFAULT '["local"]';
ALTER TABLE monitors ADD COLUMN down_when TEXT NOT NULL DEFAULT 'majority' CHECK (down_when IN ('any', 'majority', 'all'));

-- Evaluation of a monitor at each of its locations; none for monitors that only this server checks. Rows stay when a
-- monitor leaves a location, with the results from there. The columns are those of `monitor_states`.
CREATE TABLE location_states (
  num INTEGER PRIMARY KEY,
  monitor_num INTEGER NOT NULL REFERENCES monitors (num) ON DELETE CASCADE,
  -- Id of the location, or `local`, whose results are those of `monitor_checks`.
  location_id TEXT NOT NULL,
  state TEXT NOT NULL,
  since INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  failing_since INTEGER,
  successes INTEGER NOT NULL,
  succeeding_since INTEGER,
  slow INTEGER NOT NULL,
  slow_since INTEGER,
  rolled_until INTEGER NOT NULL,
  UNIQUE (monitor_num, location_id)
) STRICT;

CREATE INDEX location_states_by_location ON location_states (location_id);
CREATE INDEX location_states_by_rolled_until ON location_states (rolled_until);

-- Results from other locations, as those of this server in `monitor_checks` and `monitor_rollups`.
CREATE TABLE location_checks (
  num INTEGER NOT NULL REFERENCES location_states (num) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  outcome INTEGER NOT NULL CHECK (outcome IN (0, 1, 2)),
  latency_ms INTEGER,
  message TEXT,
  PRIMARY KEY (num, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE location_rollups (
  num INTEGER NOT NULL REFERENCES location_states (num) ON DELETE CASCADE,
  size INTEGER NOT NULL CHECK (size IN (60000, 3600000, 86400000)),
  at INTEGER NOT NULL,
  checks INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  answers INTEGER NOT NULL,
  latency_sum INTEGER,
  latency_min INTEGER,
  latency_max INTEGER,
  sketch BLOB,
  PRIMARY KEY (num, size, at)
) STRICT, WITHOUT ROWID;
