-- What is told of what went wrong, and of what is planned. Times are unix milliseconds in UTC.

CREATE TABLE incidents (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
  -- From the worst component status that it ever named, unless it is overridden.
  impact TEXT NOT NULL CHECK (impact IN ('none', 'minor', 'major', 'critical')),
  impact_override TEXT CHECK (impact_override IN ('none', 'minor', 'major', 'critical')),
  source TEXT NOT NULL CHECK (source IN ('api', 'dashboard', 'monitor', 'import')),
  -- A draft marks nothing and is told to nobody outside.
  draft INTEGER NOT NULL CHECK (draft IN (0, 1)),
  external_ref TEXT,
  started_at INTEGER NOT NULL,
  identified_at INTEGER,
  monitoring_at INTEGER,
  resolved_at INTEGER,
  postmortem_body TEXT,
  postmortem_published_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK ((status = 'resolved') = (resolved_at IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX incidents_by_ref ON incidents (page_id, external_ref) WHERE external_ref IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX incidents_by_page ON incidents (page_id, id);
CREATE INDEX incidents_by_start ON incidents (page_id, started_at);
CREATE INDEX incidents_by_end ON incidents (page_id, resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX incidents_open ON incidents (page_id, started_at) WHERE status <> 'resolved' AND deleted_at IS NULL;

CREATE TABLE incident_updates (
  id TEXT PRIMARY KEY,
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
  body TEXT NOT NULL,
  -- When it took effect, which may lie before it was written.
  display_at INTEGER NOT NULL,
  notify INTEGER NOT NULL CHECK (notify IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX incident_updates_by_incident ON incident_updates (incident_id, display_at);

-- What an update said of components, with the names that they had then.
CREATE TABLE incident_update_components (
  update_id TEXT NOT NULL REFERENCES incident_updates (id) ON DELETE CASCADE,
  -- The update's own, so that the incidents that named a component are found in their order.
  incident_id TEXT NOT NULL,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  old_status TEXT NOT NULL CHECK (old_status IN ('operational', 'under_maintenance', 'degraded_performance', 'partial_outage', 'major_outage')),
  new_status TEXT NOT NULL CHECK (new_status IN ('operational', 'under_maintenance', 'degraded_performance', 'partial_outage', 'major_outage')),
  PRIMARY KEY (update_id, component_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX incident_update_components_by_component ON incident_update_components (component_id, incident_id);

CREATE TABLE maintenances (
  id TEXT PRIMARY KEY,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('scheduled', 'in_progress', 'verifying', 'completed', 'cancelled')),
  scheduled_for INTEGER NOT NULL,
  scheduled_until INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  auto_start INTEGER NOT NULL CHECK (auto_start IN (0, 1)),
  auto_complete INTEGER NOT NULL CHECK (auto_complete IN (0, 1)),
  remind_minutes_before INTEGER,
  -- Whether the reminder was told; a move of the beginning makes it due again.
  reminded_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK (scheduled_until > scheduled_for)
) STRICT;

CREATE INDEX maintenances_by_page ON maintenances (page_id, id);
CREATE INDEX maintenances_by_start ON maintenances (page_id, started_at);
CREATE INDEX maintenances_pending ON maintenances (status, scheduled_for) WHERE status IN ('scheduled', 'in_progress', 'verifying') AND deleted_at IS NULL;

CREATE TABLE maintenance_components (
  maintenance_id TEXT NOT NULL REFERENCES maintenances (id) ON DELETE CASCADE,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY (maintenance_id, component_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX maintenance_components_by_component ON maintenance_components (component_id);

CREATE TABLE maintenance_updates (
  id TEXT PRIMARY KEY,
  maintenance_id TEXT NOT NULL REFERENCES maintenances (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('scheduled', 'in_progress', 'verifying', 'completed', 'cancelled')),
  body TEXT NOT NULL,
  display_at INTEGER NOT NULL,
  notify INTEGER NOT NULL CHECK (notify IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX maintenance_updates_by_maintenance ON maintenance_updates (maintenance_id, display_at);

-- Answers to requests that may be sent again, by key, path and Idempotency-Key.
CREATE TABLE idempotent_answers (
  key_id TEXT NOT NULL,
  path TEXT NOT NULL,
  -- SHA-256 of the header: what somebody sends as one may be a secret.
  idempotency_hash BLOB NOT NULL CHECK (length(idempotency_hash) = 32),
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
  status INTEGER NOT NULL,
  location TEXT,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key_id, path, idempotency_hash)
) STRICT;

CREATE INDEX idempotent_answers_by_time ON idempotent_answers (at);

-- By the id alone: with `source` first it would be taken for statements about one component too.
CREATE INDEX component_causes_by_source_id ON component_causes (source_id, component_id);
