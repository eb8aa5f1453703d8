-- Times are unix milliseconds in UTC. Statuses, best to worst: operational, under_maintenance,
-- degraded_performance, partial_outage, major_outage.

CREATE TABLE pages (
  id TEXT PRIMARY KEY,
  ref TEXT NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  time_zone TEXT NOT NULL,
  locale TEXT NOT NULL,
  visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
  theme TEXT NOT NULL CHECK (theme IN ('system', 'light', 'dark')),
  accent TEXT,
  history_days INTEGER NOT NULL CHECK (history_days BETWEEN 30 AND 365),
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  is_sample INTEGER NOT NULL CHECK (is_sample IN (0, 1)),
  -- What made the row and may prune it: 'apply', or NULL for everything else.
  managed_by TEXT,
  -- Raised by every change of what the page shows; snapshots are keyed by it.
  content_version INTEGER NOT NULL,
  content_changed_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX pages_by_ref ON pages (ref) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX pages_default ON pages (is_default) WHERE is_default = 1 AND deleted_at IS NULL;

-- Every slug that answers for a page: its present one and those that it had before.
CREATE TABLE page_slugs (
  slug TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX page_slugs_by_page ON page_slugs (page_id);

CREATE TABLE component_groups (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  position INTEGER NOT NULL,
  collapse TEXT NOT NULL CHECK (collapse IN ('expanded', 'collapsed', 'collapsed_unless_incident')),
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX component_groups_by_ref ON component_groups (page_id, ref) WHERE deleted_at IS NULL;

CREATE TABLE components (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  group_id TEXT REFERENCES component_groups (id) ON DELETE SET NULL,
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  position INTEGER NOT NULL,
  -- What is shown: the worst of the baseline and of the open causes.
  status TEXT NOT NULL CHECK (status IN ('operational', 'under_maintenance', 'degraded_performance', 'partial_outage', 'major_outage')),
  -- What was last set by hand or by API.
  baseline_status TEXT NOT NULL CHECK (baseline_status IN ('operational', 'under_maintenance', 'degraded_performance', 'partial_outage', 'major_outage')),
  showcase INTEGER NOT NULL CHECK (showcase IN (0, 1)),
  start_date TEXT,
  only_show_if_degraded INTEGER NOT NULL CHECK (only_show_if_degraded IN (0, 1)),
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX components_by_ref ON components (page_id, ref) WHERE deleted_at IS NULL;
CREATE INDEX components_by_group ON components (group_id);

-- What marks a component, from when to when. A cause without an end is open.
CREATE TABLE component_causes (
  id INTEGER PRIMARY KEY,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  source TEXT NOT NULL CHECK (source IN ('manual', 'api', 'incident', 'maintenance', 'monitor', 'import')),
  source_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('operational', 'under_maintenance', 'degraded_performance', 'partial_outage', 'major_outage')),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK (ended_at IS NULL OR ended_at >= started_at)
) STRICT;

CREATE INDEX component_causes_by_time ON component_causes (component_id, ended_at);

-- Every change of what was shown, as it happened.
CREATE TABLE component_changes (
  id INTEGER PRIMARY KEY,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  source TEXT NOT NULL,
  reason TEXT,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'key', 'cli', 'system')),
  actor_id TEXT,
  actor_label TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX component_changes_by_component ON component_changes (component_id, id);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  rate_limit INTEGER NOT NULL CHECK (rate_limit BETWEEN 1 AND 1000000),
  expires_at INTEGER,
  revoked_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by_kind TEXT NOT NULL CHECK (created_by_kind IN ('user', 'key', 'cli', 'system')),
  created_by_id TEXT,
  created_by_label TEXT NOT NULL
) STRICT;

-- The values that open a key: one, or two while a rotation's overlap lasts. Only the hash is kept.
CREATE TABLE api_key_values (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  start TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ends_at INTEGER,
  last_used_at INTEGER,
  last_used_ip TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_values_by_key ON api_key_values (key_id, created_at);

-- Answers per key and hour; `hour` is the hour's first millisecond.
CREATE TABLE api_key_hours (
  key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  ok INTEGER NOT NULL,
  client_error INTEGER NOT NULL,
  limited INTEGER NOT NULL,
  PRIMARY KEY (key_id, hour)
) STRICT, WITHOUT ROWID;

-- The outbox: each change writes what happened in its own transaction.
CREATE TABLE events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  page_id TEXT,
  subject_id TEXT NOT NULL,
  data TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_by_time ON events (at);

CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'key', 'cli', 'system')),
  actor_id TEXT,
  actor_label TEXT NOT NULL,
  action TEXT NOT NULL,
  target_id TEXT NOT NULL,
  summary TEXT NOT NULL,
  ip TEXT,
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_log_by_time ON audit_log (at);
